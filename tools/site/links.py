"""Checks that every link of the site has a target, and that a page fetches nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_FETCHED = {
    ("img", "src"),
    ("script", "src"),
    ("link", "href"),
    ("iframe", "src"),
    ("source", "src"),
    ("object", "data"),
}
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


@dataclass
class _Found(HTMLParser):
    """The anchors and links of a page, and the addresses that it fetches."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = {name: value or "" for name, value in attrs}
        if "id" in facts:
            self.anchors.add(facts["id"])
        if tag == "a" and "href" in facts:
            self.links.append(facts["href"])
        self.fetched += [facts[name] for kind, name in _FETCHED if kind == tag and facts.get(name)]


def problems(site: Path) -> Iterator[str]:
    """Yield a sentence for each link without a target, and for each address that is fetched from elsewhere."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site)
        yield from (f"{name}: {address} comes from elsewhere" for address in page.fetched if _outside(address))
        for link in [*page.links, *page.fetched]:
            if not _outside(link) and not _leads(path, link, site, pages):
                yield f"{name}: {link} leads nowhere"


def _read(path: Path) -> _Found:
    parser = _Found()
    parser.feed(path.read_text(encoding="utf-8"))
    return parser


def _outside(link: str) -> bool:
    return urlsplit(link).scheme in ("http", "https", "mailto") or link.startswith("//")


def _leads(path: Path, link: str, site: Path, pages: dict[Path, _Found]) -> bool:
    parts = urlsplit(link)
    if parts.scheme:
        return parts.scheme == "data"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file() or site.resolve() not in target.parents:
        return False
    return not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].anchors
