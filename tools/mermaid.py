"""Provides the script that draws the diagrams of the documentation site, from npm.

python -m tools.mermaid FOLDER    writes mermaid.min.js to the folder; without npm the diagrams of the site stay text
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
from pathlib import Path

from tools.lite.fetch import npm_package

VERSION = "11.17.2"
SHA512 = (
    "57a2b70bc101744b0f1595d228c25eea9a50384371b87011afd1af1d7e21878e"
    "e501b84c443f6a7f8a042bb2e869143150b31af34feab798073bbdda0a578106"
)
CACHE = Path(__file__).parents[1] / "build" / "site-cache"


def main(argv: list[str]) -> int:
    folder = Path(argv[0])
    folder.mkdir(parents=True, exist_ok=True)
    try:
        (folder / "mermaid.min.js").write_bytes(script())
    except RuntimeError as error:
        sys.stderr.write(f"The diagrams of the site stay text: {error}.\n")
    except subprocess.CalledProcessError:
        sys.stderr.write(f"The diagrams of the site stay text: npm cannot download mermaid {VERSION}.\n")
    return 0


def script() -> bytes:
    """Return the script of the pinned version.

    Raises RuntimeError without npm, CalledProcessError if npm cannot download the package, and ValueError if the
    package is not the pinned one.
    """
    archive = CACHE / f"mermaid-{VERSION}.tgz"
    if not archive.exists():
        npm_package(f"mermaid@{VERSION}", CACHE)
    if hashlib.sha512(archive.read_bytes()).hexdigest() != SHA512:
        raise ValueError(f"{archive} does not have the pinned hash; delete the file and run the command again")
    with tarfile.open(archive) as package:
        member = package.extractfile("package/dist/mermaid.min.js")
        assert member
        return member.read()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
