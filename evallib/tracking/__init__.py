"""A finished run exported to MLflow: one MLflow run, one trace per sample, one assessment per verdict and reading.

MLflow is a mirror and never the record: it may be thrown away and made again. Every id is a function of ours, what is
there already is left alone, and only what is missing is written, so that an export may be repeated or killed anywhere.
`place` opens MLflow, `page` fills the run's page, `traces` and `assessments` draw what `export` writes.
"""

from evallib.tracking.export import Tracked, track
from evallib.tracking.place import default_uri

__all__ = ["Tracked", "default_uri", "track"]
