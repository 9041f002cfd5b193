"""Writes the Binder badge in README.md from `Repository` in [project.urls] of pyproject.toml (make badge).

    python -m tools.binder_badge [TAG]

Without `Repository`, the README says how to make the badge.
"""

import re
import sys
import tomllib
from pathlib import Path
from urllib.parse import quote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
START = "lab/tree/notebooks/00-start.ipynb"
LINE = re.compile(r"^- \*\*Binder\*\*:.*\n(?:  .*\n)*", re.MULTILINE)
MISSING = """\
- **Binder**: a maintainer enters the address of the repository in `pyproject.toml`. `make badge` then writes a badge
  here that opens the notebooks in a browser ([docs/install.md](docs/install.md#on-binder)).
"""


def main() -> int:
    tag, address = sys.argv[1] if len(sys.argv) > 1 else "HEAD", repository()
    README.write_text(LINE.sub(lambda _: readme_line(address, tag), README.read_text(), count=1))
    if address is None:
        print('no badge: pyproject.toml has no address; add [project.urls] with Repository = "https://HOST/OWNER/NAME"')
        return 1
    print(f"README.md has the badge of {binder_url(address, tag)}")
    return 0


def repository() -> str | None:
    """Return the address of the repository in pyproject.toml, or None if there is none."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"].get("urls", {})
    return urls.get("Repository")


def readme_line(address: str | None, tag: str = "HEAD") -> str:
    """Return the item of the README about Binder, for a repository at this address or for none."""
    if address is None:
        return MISSING
    return f"- **Binder**: [![Binder](https://mybinder.org/badge_logo.svg)]({binder_url(address, tag)})\n"


def binder_url(address: str, tag: str) -> str:
    """Return the address that opens the first notebook at Binder. Raises ValueError for an address without a path."""
    parts = urlsplit(address)
    path = parts.path.strip("/").removesuffix(".git")
    if parts.scheme != "https" or not path:
        raise ValueError(f"Repository in [project.urls] is {address}: expected https://HOST/OWNER/NAME")
    short = {"github.com": f"gh/{path}", "gitlab.com": f"gl/{quote(path, safe='')}"}
    source = short.get(parts.netloc, f"git/{quote(address, safe='')}")
    return f"https://mybinder.org/v2/{source}/{quote(tag, safe='')}?urlpath={START}"


if __name__ == "__main__":
    sys.exit(main())
