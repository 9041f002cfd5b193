"""Functions that several checks share, which time steps, run commands, and isolate programs from this checkout."""

import contextlib
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Variables with which a program in an empty environment would find this environment.
OURS = (
    "PYTHONPATH",
    "PYTHONHOME",
    "VIRTUAL_ENV",
    "JUPYTER_CONFIG_PATH",
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_PATH",
    "MAKEFLAGS",
)


@contextlib.contextmanager
def step(name: str) -> Iterator[None]:
    """Print the name of a step with its duration at the end of the with block."""
    begun = time.monotonic()
    try:
        yield
    except BaseException:
        print(f"{name:<70} FAILED {time.monotonic() - begun:6.1f} s", flush=True)
        raise
    print(f"{name:<70} {time.monotonic() - begun:6.1f} s", flush=True)


def elsewhere(home: Path, environment: Path, **more: str) -> dict[str, str]:
    """Return environment variables with an empty home and this environment, without references to the checkout."""
    home.mkdir(parents=True, exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if name not in OURS and not name.startswith("XDG_")}
    path = os.pathsep.join([str(environment / "bin"), os.environ["PATH"]])
    return {**kept, "HOME": str(home), "PATH": path, "VIRTUAL_ENV": str(environment), **more}


def run(command: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """Return the standard output of a command. If the command fails, exit with all of its output."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def need(holds: object, message: str) -> None:
    """Exit with the message unless the condition is true."""
    if not holds:
        sys.exit(message)


@contextlib.contextmanager
def jupyter(command: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str], log: Path) -> Iterator[str]:
    """Run a Jupyter server on a free port during the with block, and yield its address with the token.

    The with block begins when the server answers at this address.
    """
    words = [*(str(word) for word in command), "--port=0"]
    with log.open("w") as output:
        process = subprocess.Popen(words, cwd=cwd, env=env, stdout=output, stderr=output)
        try:
            yield _address(process, log)
        finally:
            process.terminate()
            process.wait(30)


def _address(process: "subprocess.Popen[bytes]", log: Path) -> str:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        # The server writes its address to the log before it listens there.
        if match := re.search(r"http://127\.0\.0\.1:\S+\?token=\w+$", log.read_text(), re.MULTILINE):
            with contextlib.suppress(urllib.error.URLError):
                get(match[0])
                return match[0]
        time.sleep(0.1)
    sys.exit(f"JupyterLab did not start:\n{log.read_text()}")


def get(url: str) -> bytes:
    """Return the content at an address of this machine."""
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=30) as answer:
        return bytes(answer.read())


def size(path: Path) -> str:
    """Return the size of a file or of all files below a folder in MB, as text."""
    files = [path] if path.is_file() else (file for file in path.rglob("*") if file.is_file() and not file.is_symlink())
    return f"{sum(file.stat().st_size for file in files) / 1e6:.1f} MB"
