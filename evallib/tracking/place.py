"""Where an export goes: which tracking URIs work, and MLflow opened quietly and with short patience."""

from __future__ import annotations

import logging
import os
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from evallib.errors import EvallibError, InfrastructureError, InputError

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.tracing.client import TracingClient

__all__ = ["check_uri", "default_uri", "opened", "shown", "sqlite_path"]

_PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}
_SETTINGS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",  # by default a dead server blocks for four minutes
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "3",
}


def default_uri(data: Path) -> str:
    """The tracking URI of the SQLite database that stands in the data folder."""
    return f"sqlite:///{(data / 'mlflow.db').absolute()}"


def check_uri(uri: str) -> None:
    """Refuse a URI of a kind that cannot hold traces, or of a place that is not there, before anything is made."""
    scheme = uri.partition(":")[0].partition("+")[0] if "://" in uri else ""
    if scheme not in {"sqlite", "http", "https", *_PORTS}:
        raise InputError(
            f"MLflow URI {shown(uri)!r}: no traces can be kept there; give sqlite:///FILE, http://HOST:PORT, "
            "or the URI of a PostgreSQL, MySQL or SQL Server database"
        )
    if scheme == "sqlite":
        _check_sqlite(uri)
    elif not urlsplit(uri).hostname and scheme not in _PORTS:
        raise InputError(f"MLflow URI {uri!r}: names no host; give http://HOST:PORT")
    elif scheme in _PORTS:
        _check_answers(uri, _PORTS[scheme])


def _check_sqlite(uri: str) -> None:
    path = sqlite_path(uri)
    if path is None:
        raise InputError(f"MLflow URI {uri!r}: a database in memory keeps nothing; give sqlite:///FILE")
    if not path.parent.is_dir():
        raise InputError(f"MLflow URI {uri!r}: there is no folder {path.parent}; create it first")
    if path.exists() and not _looks_like_sqlite(path):
        raise InputError(f"MLflow URI {uri!r}: {path} is no SQLite database; choose another file")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"MLflow URI {uri!r}: may not write to {path}; choose another file with --uri")


def _looks_like_sqlite(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(15) in {b"", b"SQLite format 3"}


def sqlite_path(uri: str) -> Path | None:
    """The file of a SQLite URI; None for a database in memory."""
    name = uri.partition(":///")[2].partition("?")[0]
    return None if name in {"", ":memory:"} else Path(name)


def _check_answers(uri: str, port: int) -> None:
    """MLflow tries a dead database again for two minutes; a connection of our own says it in three seconds."""
    parts = urlsplit(uri)
    if not parts.hostname:
        return
    try:
        socket.create_connection((parts.hostname, parts.port or port), timeout=3).close()
    except OSError as error:
        raise InfrastructureError(f"MLflow at {shown(uri)}: does not answer ({error}); try again later") from error


def shown(uri: str) -> str:
    """The URI without its password."""
    head, at, tail = uri.rpartition("@")
    scheme, _, user = head.partition("://")
    return f"{scheme}://{user.partition(':')[0]}@{tail}" if at and "://" in head else uri


@contextmanager
def opened(uri: str) -> Iterator[tuple[MlflowClient, TracingClient]]:
    """MLflow's two clients for `uri`, without its chatter; what they raise becomes one sentence."""
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    with warnings.catch_warnings():
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", category)  # MLflow's own debts to pandas and SQLAlchemy
        from mlflow import MlflowClient
        from mlflow.tracing.client import TracingClient

        quiet = {"mlflow": logging.WARNING, "alembic": logging.WARNING, "urllib3": logging.ERROR}
        loggers = [logging.getLogger(name) for name in quiet]
        levels = [logger.level for logger in loggers]
        try:
            for logger in loggers:
                logger.setLevel(quiet[logger.name])
            yield MlflowClient(tracking_uri=uri), TracingClient(uri)
        except EvallibError:
            raise
        except ModuleNotFoundError as error:
            raise InputError(
                f"MLflow URI {shown(uri)!r}: needs the package {error.name!r}, which is missing"
            ) from error
        except Exception as error:
            raise _trouble(uri, error) from error
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)


def _trouble(uri: str, error: Exception) -> Exception:
    """What MLflow, SQLAlchemy or requests raised, as an InfrastructureError; a mistake of ours stays as it is."""
    if type(error).__module__.partition(".")[0] not in {"mlflow", "sqlalchemy", "requests", "alembic", "sqlite3"}:
        return error if not isinstance(error, OSError) else InfrastructureError(f"MLflow at {shown(uri)}: {error}")
    said = " ".join(str(error).split()).replace(uri.rstrip("/"), shown(uri).rstrip("/"))
    cause = said if len(said) <= 240 else f"{said[:240]}..."
    return InfrastructureError(f"MLflow at {shown(uri)}: the export stopped and can be repeated: {cause}")
