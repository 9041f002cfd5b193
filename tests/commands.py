"""Commands of the package in processes of their own."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "svc_notebooks.cli", *words]


@contextmanager
def serving(*arguments: str, cwd: Path | None = None, end: signal.Signals = signal.SIGTERM) -> Iterator[dict[str, Any]]:
    """What `svc-notebooks serve` prints when it is ready. After the block it ends by a signal, without a word."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command("serve", *arguments), cwd=cwd, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield json.loads(process.stdout.readline())
            process.send_signal(end)
            output, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()  # after a failure, `with` would wait for a service that does not end
    assert (process.returncode, output, errors) == (0, "", "")
