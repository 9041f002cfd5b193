"""Builds the JupyterLite site (python -m tools.lite.build [--offline] [--to FOLDER] [--also WHEEL...]).

A page loads Python and its compiled packages from Pyodide's public distribution, and all other files from the site.
With --offline, which is for tests and needs npm, the site contains Python, and compiled packages such as pandas are
missing.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from hashlib import sha512
from pathlib import Path
from typing import Any

from .fetch import npm_package, pip_download
from .pages import lay_out
from .wheels import Entry, locked

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"
CACHE = BUILD / "lite-cache"
PINS = ROOT / "requirements" / "lite-wheels.txt"
PYODIDE = json.loads((ROOT / "requirements" / "lite-pyodide.json").read_text())
KERNEL = "@jupyterlite/pyodide-kernel-extension:kernel"
START = "00-start.ipynb"


def main(argv: list[str] | None = None) -> int:
    options = _parse(argv)
    target = options.to or BUILD / ("lite-offline" if options.offline else "lite")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = lay_out(ROOT / "notebooks", folder / "files")
        _site(folder, target)
        wheels = _wheels(folder, target / "static" / "wheels", options.also)
        _lock(target, wheels, options.offline)
    _write_start_page(target)
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    sys.stdout.write(f"{target.relative_to(ROOT)}: {size / 1e6:.1f} MB, {len(wheels)} wheels\n")
    for row in rows:
        sys.stdout.write(f"not in a browser: {row['notebook']}, cell {row['cell']}: {row['evalue']}\n")
    return 0


def _parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools.lite.build", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--offline", action="store_true", help="with Python itself in the site, for tests")
    parser.add_argument("--to", type=Path, help="where the site is written")
    parser.add_argument("--also", type=Path, nargs="*", default=[], help="wheels that this site alone has, for tests")
    return parser.parse_args(argv)


def _site(folder: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    program = BUILD / "lite-env" / "bin" / "jupyter"
    where = [f"--lite-dir={folder}", f"--output-dir={target}", f"--contents={folder / 'files'}"]
    options = ["--apps=lab", "--no-sourcemaps", "--no-unused-shared-packages"]
    subprocess.run([program, "lite", "build", *where, *options], check=True, cwd=folder, stdout=subprocess.DEVNULL)


def _wheels(folder: Path, target: Path, also: list[Path]) -> list[Path]:
    """Build the wheel of this package, copy this wheel, the pinned wheels and `also`, and return their paths."""
    target.mkdir(parents=True)
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder / "dist")]
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
    wheels = [*(folder / "dist").glob("*.whl"), *_pinned(), *also]
    return [Path(shutil.copy(wheel, target)) for wheel in wheels]


def _pinned() -> list[Path]:
    kept = CACHE / sha512(PINS.read_bytes()).hexdigest()[:16]
    if not (kept / "all").exists():
        pip_download(["--require-hashes", "-r", str(PINS)], kept)
        (kept / "all").touch()
    return sorted(kept.glob("*.whl"))


def _lock(target: Path, wheels: list[Path], offline: bool) -> None:
    """Write the Pyodide lock file, and configure the kernel to use the lock."""
    settings = json.loads((target / "jupyter-lite.json").read_text())
    options: dict[str, Any] = {"lockFileURL": "./static/wheels/pyodide-lock.json"}
    kernel: dict[str, Any] = {"loadPyodideOptions": options, "disablePyPIFallback": offline}
    elsewhere: dict[str, Entry] = {}
    if offline:
        _python(target / "static" / "pyodide")
        kernel["pyodideUrl"] = "./static/pyodide/pyodide.mjs"
        settings["jupyter-config-data"]["exposeAppInBrowser"] = True  # for tests that control the page
    else:
        elsewhere = {name: _at(kernel_host(), entry) for name, entry in PYODIDE["packages"].items()}
    plugins = settings["jupyter-config-data"].setdefault("litePluginSettings", {})
    plugins[KERNEL] = plugins.get(KERNEL, {}) | kernel
    (target / "jupyter-lite.json").write_text(json.dumps(settings, indent=1))
    lock = locked({"info": PYODIDE["info"]}, wheels, elsewhere)
    (target / "static" / "wheels" / "pyodide-lock.json").write_text(json.dumps(lock))


def kernel_host() -> str:
    """Return the address from which the kernel loads Pyodide. Raises RuntimeError for another version than the pin."""
    question = "from jupyterlite_pyodide_kernel import constants as c; print(c.PYODIDE_VERSION, c.PYODIDE_CDN_URL)"
    program = BUILD / "lite-env" / "bin" / "python"
    done = subprocess.run([program, "-c", question], check=True, capture_output=True, text=True)
    version, address = done.stdout.split()
    if version != PYODIDE["version"]:
        raise RuntimeError(f"the kernel is for Pyodide {version}, the pins are of {PYODIDE['version']}: make lite-lock")
    return address


def _at(address: str, entry: Entry) -> Entry:
    return entry | {"file_name": f"{address}/{entry['file_name']}"}


def _python(target: Path) -> None:
    """Extract Pyodide without packages from its npm archive. Raises RuntimeError if the digest is wrong."""
    archive = CACHE / f"pyodide-{PYODIDE['version']}.tgz"
    if not archive.exists():
        npm_package(f"pyodide@{PYODIDE['version']}", CACHE)
    if sha512(archive.read_bytes()).hexdigest() != PYODIDE["sha512"]:
        raise RuntimeError(f"{archive.name} is not what was pinned")
    target.mkdir(parents=True)
    with tarfile.open(archive) as package:
        for name in ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"):
            member = package.extractfile(f"package/{name}")
            assert member
            (target / name).write_bytes(member.read())


def _write_start_page(target: Path) -> None:
    """Write the index page, which opens the first notebook and contains JupyterLite's settings."""
    address = f"lab/index.html?path={START}"
    (target / "index.html").write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>svc-notebooks</title>'
        f'<meta http-equiv="refresh" content="0; url={address}">'
        '<script id="jupyter-config-data" type="application/json" data-jupyter-lite-root=".">{}</script></head>'
        f'<body><p><a href="{address}">Open the notebooks</a></p></body></html>\n'
    )


if __name__ == "__main__":
    sys.exit(main())
