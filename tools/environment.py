"""The environment of this checkout, in `.venv`: what `make lab` and `make env` call.

    python3 tools/environment.py binder/requirements.txt                          JupyterLab and the notebooks
    python3 tools/environment.py binder/requirements.txt requirements/dev.txt     and what tests need

uv installs in a tenth of pip's time, and pip brings it; where uv cannot, pip does it all. This needs
the standard library only, and says in one sentence what is in the way.
"""

import ast
import os
import re
import subprocess
import sys
import time
import venv
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
LOG = VENV / "install.log"
UV_LOCK = ROOT / "requirements" / "uv.txt"
OLDEST = (3, 11)

PIP = [str(BIN / "python"), "-m", "pip", "--disable-pip-version-check"]
UV = [str(BIN / "uv"), "pip"]

# uv does not read pip's configuration; what says where packages come from is handed on.
OF_PIP = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}
UNREACHABLE = re.compile(
    r"NewConnectionError|NameResolutionError|Timeout|ProxyError|Connection refused|error sending request|dns error"
)
LISTED = re.compile(r"^[^=]+\.([a-z-]+)=('[^'\n]*')$", re.MULTILINE)
COMPLAINT = re.compile(r"^(?:ERROR|error): *(.+)$", re.MULTILINE)


class Stopped(Exception):
    """What is in the way and what to do about it, in one sentence."""


def main(locks: Sequence[str]) -> int:
    """Bring the environment up to these locks; 1 and a sentence if that cannot be."""
    begun = time.monotonic()
    try:
        look()
        make()
        install([ROOT / name for name in locks])
    except Stopped as stopped:
        sys.stderr.write(f"make env: {stopped}\n")
        return 1
    say(f"ready after {time.monotonic() - begun:.0f} s")
    return 0


def look() -> None:
    """Whether this Python and this folder will do."""
    if sys.version_info < OLDEST:
        raise Stopped(f"{sys.executable} is Python {sys.version.split()[0]}, and 3.11 or later is needed")
    if find_spec("ensurepip") is None:
        raise Stopped(f"{sys.executable} comes without ensurepip; on Debian and Ubuntu: apt-get install python3-venv")
    if not os.access(ROOT, os.W_OK):
        raise Stopped(f"{ROOT} cannot be written to; copy or clone it to a folder of yours")


def make() -> None:
    """A `.venv` with pip, unless there is one; one that is too old or half made is made anew."""
    if usable():
        return
    say(f"Python {sys.version.split()[0]} in {VENV.name}")
    try:
        venv.create(VENV, clear=VENV.exists(), with_pip=True, symlinks=os.name != "nt")
    except (OSError, subprocess.CalledProcessError) as error:
        raise Stopped(f"{VENV} could not be made: {error}") from None


def usable() -> bool:
    """Whether a new enough Python with pip lives there."""
    question = f"import pip, sys; sys.exit(sys.version_info < {OLDEST})"
    python = BIN / "python"
    return (
        python.exists() and subprocess.run([python, "-c", question], capture_output=True, check=False).returncode == 0
    )


def install(locks: Sequence[Path]) -> None:
    """The packages of the locks, then this one, editable and quiet."""
    LOG.write_text("")
    installers = [PIP]
    if runs([*PIP, "install", "--require-hashes", "-r", str(UV_LOCK)]):
        installers.insert(0, UV)
    elif UNREACHABLE.search(LOG.read_text(errors="replace")):
        raise Stopped(sentence(LOG.read_text(errors="replace")))
    for lock in locks:
        say(f"the packages of {lock.relative_to(ROOT)}")
        by_any(installers, "--require-hashes", "-r", str(lock))
    by_any(installers, "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    runs([str(BIN / "python"), str(ROOT / "tools" / "quiet_lab.py")])


def by_any(installers: Sequence[Sequence[str]], *arguments: str) -> None:
    """Ask one installer after the other until one can."""
    if not any(runs([*installer, "install", *arguments]) for installer in installers):
        raise Stopped(sentence(LOG.read_text(errors="replace")))


def runs(command: Sequence[str]) -> bool:
    """Whether a command succeeds; what it says goes to the log."""
    with LOG.open("a") as log:
        return subprocess.run(command, env=surroundings(), stdout=log, stderr=log, check=False).returncode == 0


@cache
def surroundings() -> dict[str, str]:
    """The environment of both installers: uv is told what pip knows."""
    listed = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=False).stdout
    return {"VIRTUAL_ENV": str(VENV), "UV_INDEX_STRATEGY": "unsafe-best-match", **settings(listed), **os.environ}


def settings(listed: str) -> Mapping[str, str]:
    """What `pip config list` says, as variables of uv; a later line, as from the environment, wins."""
    variables = {name: " ".join(ast.literal_eval(value).split()) for name, value in LISTED.findall(listed)}
    return {ours: variables[theirs] for theirs, ours in OF_PIP.items() if theirs in variables}


def sentence(log: str) -> str:
    """What the installers complained about last, or what is behind it."""
    lines = COMPLAINT.findall(log)
    if UNREACHABLE.search(log):
        return "the package registry cannot be reached; connect to the network, or name a mirror in PIP_INDEX_URL"
    return f"packages could not be installed: {lines[-1] if lines else 'the installer ended'}; all of it is in {LOG}"


def say(words: str) -> None:
    """A line of how far it is."""
    sys.stdout.write(f"environment: {words}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
