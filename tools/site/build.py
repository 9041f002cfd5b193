"""Build the docs site with `python -m tools.site.build [FOLDER]` or `make docs`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from posixpath import normpath, relpath
from urllib.parse import urlsplit

import nbformat

from . import api, links, markdown, mermaid, notebook
from .page import Page, render, style

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "docs"


def main(argv: list[str]) -> int:
    """Write the site, and return 1 if one of its links has no target, else 0."""
    target = Path(argv[0]).resolve() if argv else SITE
    shutil.rmtree(target, ignore_errors=True)
    count = write(target)
    wrong = list(links.problems(target))
    sys.stderr.writelines(f"{problem}\n" for problem in wrong)
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    sys.stdout.write(f"docs: {count} pages, {size / 1e6:.1f} MB\n")
    return 1 if wrong else 0


def write(target: Path) -> int:
    """Write the pages and their files to a new folder, and return the number of pages."""
    target.mkdir(parents=True)
    pages = list(all_pages())
    (target / "style.css").write_text(style(), encoding="utf-8")
    diagrams = mermaid.provide(ROOT / "build" / "site-cache", target / "mermaid.min.js")
    for name in _static_files():
        _put(target / name).write_bytes((ROOT / name).read_bytes())
    for page in pages:
        _put(target / page.path).write_text(render(page, pages, diagrams=diagrams), encoding="utf-8")
    return len(pages)


def _put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def all_pages() -> Iterator[Page]:
    """Yield all pages in the order of the navigation."""
    sources = list(_sources())
    where = {source: path for source, path, _ in sources} | {name: name for name in _static_files()}
    for source, path, group in sources:
        if path == "docs/benchmarks.html":
            yield Page("api.html", "Public names", "Reference", api.body())
        yield _page(source, path, group, _links(source, path, where))


def _sources() -> Iterator[tuple[str, str, str]]:
    """Yield each page's source in the project, its path in the site, and its group."""
    yield "README.md", "index.html", "Start"
    yield from ((source, f"{source[:-6]}.html", "Notebooks") for source in _names("notebooks", "*.ipynb"))
    yield from ((source, f"{source[:-6]}.html", "Exercises") for source in _names("notebooks/exercises", "*.ipynb"))
    yield from ((source, f"{source[:-3]}.html", "Reference") for source in _names("docs", "*.md"))


def _static_files() -> list[str]:
    return [*_names("docs", "*.json"), *_names("docs/images", "*.*")]


def _names(folder: str, pattern: str) -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / folder).glob(pattern))]


def _page(source: str, path: str, group: str, links: markdown.Links) -> Page:
    text = (ROOT / source).read_text(encoding="utf-8")
    if source.endswith(".md"):
        return Page(path, markdown.title(text), group, markdown.html(text, links))
    read = nbformat.reads(text, 4)
    first = next(cell.source for cell in read.cells if cell.cell_type == "markdown")
    return Page(path, markdown.title(first), group, notebook.body(read, links))


def _links(source: str, path: str, where: dict[str, str]) -> Callable[[str], str | None]:
    """Return a function that converts a project link to a site link, or None for a file without a page."""

    def resolve(url: str) -> str | None:
        parts = urlsplit(url)
        if parts.scheme or not parts.path:
            return url
        file = normpath(f"{source.rpartition('/')[0] or '.'}/{parts.path}")
        if file not in where:
            if not (ROOT / file).exists():
                return url  # the link check reports it
            return None
        target = relpath(where[file], path.rpartition("/")[0] or ".")
        return f"{target}#{parts.fragment}" if parts.fragment else target

    return resolve


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
