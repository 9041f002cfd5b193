"""Pyodide and its compiled packages, from npm and from Pyodide's distribution, each checked against its digest."""

from __future__ import annotations

import hashlib
import json
import tarfile
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .fetch import npm_package
from .wheels import Entry

FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
LIMIT = 60
"""Seconds without a byte until a download is given up."""


class BundleError(RuntimeError):
    """Raised for a file that cannot be downloaded, or that is not the pinned file."""


def read_pins(path: Path) -> dict[str, Any]:
    """Return the pinned version of Pyodide, its digest at npm, and the entries of its compiled packages."""
    pins: dict[str, Any] = json.loads(path.read_text())
    return pins


def extract_pyodide(pins: Mapping[str, Any], cache: Path, target: Path) -> None:
    """Extract Pyodide without packages from its npm archive. Raises BundleError if the digest is wrong."""
    archive = cache / f"pyodide-{pins['version']}.tgz"
    if not archive.exists():
        npm_package(f"pyodide@{pins['version']}", cache)
    if hashlib.sha512(archive.read_bytes()).hexdigest() != pins["sha512"]:
        raise BundleError(f"{archive}: the digest is not the pinned one. Delete the file, or run make lite-lock.")
    target.mkdir(parents=True)
    with tarfile.open(archive) as package:
        for name in FILES:
            member = package.extractfile(f"package/{name}")
            assert member
            (target / name).write_bytes(member.read())


def download_packages(packages: Mapping[str, Entry], distribution: str, cache: Path) -> list[Path]:
    """Download the pinned packages from a distribution of Pyodide, and return the paths of their wheels.

    A wheel in `cache` is not downloaded again. Raises BundleError for a wheel that is missing or has another digest.
    """
    cache.mkdir(parents=True, exist_ok=True)
    return [_download(entry, distribution, cache) for entry in packages.values()]


def _download(entry: Entry, distribution: str, cache: Path) -> Path:
    wheel = cache / entry["file_name"]
    if not wheel.exists() or _digest(wheel.read_bytes()) != entry["sha256"]:
        address = f"{distribution.rstrip('/')}/{entry['file_name']}"
        content = _get(address)
        if _digest(content) != entry["sha256"]:
            raise BundleError(f"{address}: the digest is {_digest(content)}, and {entry['sha256']} is pinned.")
        wheel.write_bytes(content)
    return wheel


def _get(address: str) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=LIMIT) as response:
            return bytes(response.read())
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        advice = "Connect, name a mirror with --distribution, or build without --bundle: pages then load the packages."
        raise BundleError(f"{address} cannot be downloaded: {getattr(error, 'reason', error)}. {advice}") from error


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
