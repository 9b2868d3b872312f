"""A jury that asks a real server on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from evallib.endpoint import Endpoint
from evallib.judging import Jury
from evallib.panel import EndpointPanel
from tests.tiny_server import Answer, tiny_server


@contextmanager
def jury_of(
    *answers: Answer, jobs: int = 1, deadline_s: float = 20, **more: Any
) -> Iterator[tuple[Jury, list[dict[str, Any]]]]:
    with tiny_server(*answers) as (url, seen), Endpoint(url, "judge-model", backoff_s=0) as endpoint:
        panel = EndpointPanel(endpoint, {"kind": "chat", "url": "http://judge/v1", "model": "judge-model"})
        with Jury(panel, jobs=jobs, deadline_s=deadline_s, **more) as jury:
            yield jury, seen
