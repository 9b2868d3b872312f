"""A rescoring on its way to its place beside a run: written in batches, published whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from evallib.records import Verdict, verdicts_schema
from evallib.store.files import disk_errors, publish_folder, sha256_of, staging_folder, write_new
from evallib.store.runs import Run
from evallib.store.tables import parquet_writer, verdicts_table

__all__ = ["StagedRescoring"]


class StagedRescoring:
    """The verdicts of a rescoring on their way: written batch by batch into a hidden folder beside the run."""

    def __init__(self, run: Run, name: str, label: str) -> None:
        self.run, self._final = run, run.folder / "rescored" / name
        self._held = ExitStack()
        self._staged = self._held.enter_context(staging_folder(self._final))
        metadata = {"run_id": run.id, "view": f"rescored:{name}", "post_hoc": "true", "label": label}
        self._writer = parquet_writer(str(self._staged / "verdicts.parquet"), verdicts_schema(), metadata)

    def write(self, verdicts: Sequence[Verdict]) -> None:
        """Append the verdicts of some samples."""
        table = verdicts_table(self.run.id, verdicts)
        with disk_errors(self._staged):
            self._writer.write_table(table.replace_schema_metadata(self._writer.schema.metadata))

    def sha256(self) -> str:
        """The digest of the whole file; nothing more can be written."""
        with disk_errors(self._staged):
            self._writer.close()
        return sha256_of(self._staged / "verdicts.parquet")

    def publish(self, files: Mapping[str, bytes]) -> Path:
        """Add the other files and give the folder its name."""
        for file, content in files.items():
            write_new(self._staged / file, content)
        publish_folder(self._staged, self._final)
        return self._final

    def discard(self) -> None:
        """Take back what was not published."""
        self._writer.close()
        self._held.close()
        with suppress(OSError):  # another rescoring is there
            self._final.parent.rmdir()
