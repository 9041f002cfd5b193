"""Updates the pinned versions of the JupyterLite site (python -m tools.lite.lock, or make lite-lock).

requirements/lite.txt: the packages that build the site in their own environment, with hashes.
requirements/lite-wheels.txt: the wheels that the page loads, with hashes. The versions are those of dev.txt, if any.
requirements/lite-pyodide.json: the Pyodide version, its digest at npm, and its compiled packages with digests.

This module needs npm and uv.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from .fetch import npm_package, pip_download
from .wheels import COMPILED, KERNEL, OURS, normal

REQUIREMENTS = Path(__file__).parents[2] / "requirements"
PYODIDE = "314.0.6"
"""The Pyodide version that jupyterlite-pyodide-kernel requires (its PYODIDE_VERSION)."""

BUILDER = ("jupyterlite-core==0.8.6", "jupyterlite-pyodide-kernel==0.8.6", "jupyter-server")
WIDGETS = ("ipywidgets", "jupyterlab-widgets", "anywidget")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _builder(folder)
        _wheels(folder / "wheels")
        _pyodide(folder)


def _builder(folder: Path) -> None:
    """Write requirements/lite.txt with the widget versions of dev.txt, which page and kernel must share."""
    requirements, target, pins = folder / "lite.in", REQUIREMENTS / "lite.txt", _pins()
    requirements.write_text("\n".join([*BUILDER, *(f"{name}=={pins[name]}" for name in WIDGETS)]))
    command = [
        sys.executable,
        "-m",
        "uv",
        "pip",
        "compile",
        str(requirements),
        "--universal",
        "--python-version",
        "3.11",
    ]
    quiet = ["--quiet", "--generate-hashes", "--no-emit-index-url", "--no-header", "--no-annotate"]
    subprocess.run([*command, *quiet, "--output-file", str(target)], check=True)


def _wheels(folder: Path) -> None:
    pins = _pins()
    pip_download([f"{name}=={pins[name]}" if name in pins else name for name in (*KERNEL, *OURS)], folder)
    lines = []
    for wheel in sorted(folder.glob("*.whl"), key=lambda path: path.name.lower()):
        name, version = wheel.name.split("-")[:2]
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        lines.append(f"{normal(name)}=={version} \\\n    --hash=sha256:{digest}\n")
    (REQUIREMENTS / "lite-wheels.txt").write_text("".join(lines))


def _pyodide(folder: Path) -> None:
    archive = npm_package(f"pyodide@{PYODIDE}", folder)
    with tarfile.open(archive) as package:
        content = package.extractfile("package/pyodide-lock.json")
        assert content
        lock = json.load(content)
    kept = {name: lock["packages"][name] for name in COMPILED}
    digest = hashlib.sha512(archive.read_bytes()).hexdigest()
    made = {"version": PYODIDE, "sha512": digest, "info": lock["info"], "packages": kept}
    (REQUIREMENTS / "lite-pyodide.json").write_text(json.dumps(made, indent=1) + "\n")


def _pins() -> dict[str, str]:
    """Return the version of each package in dev.txt. If a package has several versions, return the last version."""
    text = (REQUIREMENTS / "dev.txt").read_text()
    return {normal(name): version for name, version in re.findall(r"^([\w.-]+)==([^ ;\\]+)", text, re.MULTILINE)}


if __name__ == "__main__":
    main()
