"""Provides the script that draws Mermaid diagrams, from npm. Without npm, pages show the text of a diagram."""

from __future__ import annotations

import hashlib
import sys
import tarfile
from pathlib import Path

from tools.lite.fetch import npm_package

VERSION = "11.17.2"
SHA512 = (
    "57a2b70bc101744b0f1595d228c25eea9a50384371b87011afd1af1d7e21878e"
    "e501b84c443f6a7f8a042bb2e869143150b31af34feab798073bbdda0a578106"
)
_FILE = "package/dist/mermaid.min.js"


def provide(cache: Path, target: Path) -> bool:
    """Write the script to the site. Return False if it is not available."""
    archive = cache / f"mermaid-{VERSION}.tgz"
    try:
        if not archive.exists():
            npm_package(f"mermaid@{VERSION}", cache)
    except (RuntimeError, OSError) as error:
        sys.stderr.write(f"diagrams stay text: {error}\n")
        return False
    if hashlib.sha512(archive.read_bytes()).hexdigest() != SHA512:
        raise RuntimeError(f"{archive.name} is not what was pinned")
    with tarfile.open(archive) as package:
        member = package.extractfile(_FILE)
        assert member
        target.write_bytes(member.read())
    return True
