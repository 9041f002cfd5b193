"""Builds the JupyterLite site (python -m tools.lite.build [--bundle] [--to FOLDER]).

The site contains Python (Pyodide, from npm) and all wheels of PyPI. A page loads Pyodide's compiled packages, such as
pandas, from Pyodide's public distribution, or from the site if it was built with --bundle.
"""

from __future__ import annotations

import argparse
import base64
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from hashlib import sha512
from pathlib import Path
from typing import Any

from .bundle import BundleError, download_packages, extract_pyodide, read_pins
from .fetch import pip_download
from .pages import lay_out
from .wheels import KERNEL_EXTENSION, STARTED_WITH, Entry, locked

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"
CACHE = BUILD / "lite-cache"
WHEEL_PINS = ROOT / "requirements" / "lite-wheels.txt"
PYODIDE_PINS = ROOT / "requirements" / "lite-pyodide.json"
LOADER = Path(__file__).with_name("load_pyodide.mjs")
PAGE_SCRIPT = Path(__file__).with_name("show_missing.js")
KERNEL = "@jupyterlite/pyodide-kernel-extension:kernel"
START = "00-start.ipynb"


def main(argv: list[str] | None = None) -> int:
    options = _parse(argv)
    try:
        pyodide = read_pins(options.pins)
        distribution = options.distribution or default_distribution(pyodide["version"])
        bundled = download_packages(pyodide["packages"], distribution, CACHE / "packages") if options.bundle else []
    except BundleError as error:
        sys.stderr.write(f"make lite: {error}\n")
        return 1
    build(options.to.resolve(), pyodide, distribution, bundled)
    return 0


def _parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools.lite.build", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--bundle", action="store_true", help="copy Pyodide's compiled packages to the site")
    parser.add_argument("--distribution", metavar="ADDRESS", help="a mirror of Pyodide's distribution")
    parser.add_argument("--pins", type=Path, default=PYODIDE_PINS, help="another lock of Pyodide and its packages")
    parser.add_argument("--to", type=Path, default=BUILD / "lite", help="the folder of the site, which is replaced")
    return parser.parse_args(argv)


def build(target: Path, pyodide: Mapping[str, Any], distribution: str, bundled: list[Path]) -> None:
    """Build the site in `target`, and print its size and the cells that cannot run in a browser."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = lay_out(ROOT / "notebooks", folder / "files")
        _site(folder, target)
        extract_pyodide(pyodide, CACHE, target / "static" / "pyodide")
        wheels = _wheels(folder, target, bundled)
    elsewhere = {} if bundled else {key: _at(distribution, entry) for key, entry in pyodide["packages"].items()}
    lock = locked({"info": pyodide["info"]}, wheels, elsewhere)
    (target / "static" / "wheels" / "pyodide-lock.json").write_text(json.dumps(lock))
    _configure_kernel(target / "jupyter-lite.json")
    _write_page_script(target / "lab" / "index.html")
    _write_start_page(target)
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    sys.stdout.write(f"{target}: {size / 1e6:.1f} MB, {len(wheels)} wheels\n")
    if elsewhere:
        sys.stdout.write(f"pages load {', '.join(elsewhere)} from {distribution}\n")
    for row in rows:
        sys.stdout.write(f"not in a browser: {row['notebook']}, cell {row['cell']}: {row['evalue']}\n")


def _site(folder: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    program = BUILD / "lite-env" / "bin" / "jupyter"
    where = [f"--lite-dir={folder}", f"--output-dir={target}", f"--contents={folder / 'files'}"]
    options = ["--apps=lab", "--no-sourcemaps", "--no-unused-shared-packages"]
    subprocess.run([program, "lite", "build", *where, *options], check=True, cwd=folder, stdout=subprocess.DEVNULL)


def _wheels(folder: Path, target: Path, bundled: list[Path]) -> list[Path]:
    """Build the wheel of this package, copy it with the other wheels to the site, and return the paths."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder / "dist")]
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
    of_kernel = (target / "extensions" / "@jupyterlite" / "pyodide-kernel-extension").rglob("*.whl")
    kernel = [wheel for wheel in of_kernel if wheel.name.split("-")[0] in KERNEL_EXTENSION]
    wheels = [*(folder / "dist").glob("*.whl"), *_pinned(), *kernel, *bundled]
    (target / "static" / "wheels").mkdir(parents=True)
    return [Path(shutil.copy(wheel, target / "static" / "wheels")) for wheel in wheels]


def _pinned() -> list[Path]:
    kept = CACHE / sha512(WHEEL_PINS.read_bytes()).hexdigest()[:16]
    if not (kept / "all").exists():
        pip_download(["--require-hashes", "-r", str(WHEEL_PINS)], kept)
        (kept / "all").touch()
    return sorted(kept.glob("*.whl"))


def _configure_kernel(path: Path) -> None:
    """Configure the kernel to load Pyodide and its packages from the site with load_pyodide.mjs."""
    settings = json.loads(path.read_text())
    config = settings["jupyter-config-data"]
    kernel: dict[str, Any] = {
        "pyodideUrl": f"data:text/javascript;base64,{base64.b64encode(LOADER.read_bytes()).decode()}",
        "loadPyodideOptions": {
            "indexURL": "./static/pyodide/",
            "lockFileURL": "./static/wheels/pyodide-lock.json",
            "packages": list(STARTED_WITH),
        },
    }
    config["exposeAppInBrowser"] = True  # for tests, which control the page
    plugins = config.setdefault("litePluginSettings", {})
    plugins[KERNEL] = plugins.get(KERNEL, {}) | kernel
    path.write_text(json.dumps(settings, indent=1))


def _write_page_script(page: Path) -> None:
    """Write the script that shows what cannot be loaded into the page, before all other scripts."""
    before, head, after = page.read_text().partition("<head>")
    page.write_text(f"{before}{head}<script>\n{PAGE_SCRIPT.read_text()}</script>{after}")


def default_distribution(version: str) -> str:
    """Return the address of Pyodide's distribution. Raises BundleError if the kernel needs another version."""
    question = "from jupyterlite_pyodide_kernel import constants as c; print(c.PYODIDE_VERSION, c.PYODIDE_CDN_URL)"
    program = BUILD / "lite-env" / "bin" / "python"
    done = subprocess.run([program, "-c", question], check=True, capture_output=True, text=True)
    needed, address = done.stdout.split()
    if needed != version:
        raise BundleError(f"the kernel is for Pyodide {needed}, the pins are of {version}: make lite-lock")
    return address


def _at(address: str, entry: Entry) -> Entry:
    return entry | {"file_name": f"{address.rstrip('/')}/{entry['file_name']}"}


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
