"""Links between files of the repository have a target, as the code host sees them and with its anchors.

The site has a check of its own: `make docs` fails for a link without a target.
"""

import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
GENERATED = ROOT / "docs" / "rules.md"  # by `make docs`, for the site
DOCS = sorted({*(ROOT / "docs").glob("*.md")} - {GENERATED})
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS]
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of a page: its headings as the code host writes them, and those that it sets as HTML."""
    text = page.read_text("utf-8")
    names = set(re.findall(r'<a id="([^"]+)">', text))
    for heading in re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.M):
        slug = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        names.add(next(name for n in range(99) if (name := f"{slug}-{n}" if n else slug) not in names))
    return names


def has_target(source: Path, link: str) -> bool:
    parts = urlsplit(link)
    if parts.scheme:
        return True
    target = (source.parent / unquote(parts.path)).resolve() if parts.path else source
    return target.exists() and (not parts.fragment or target.suffix != ".md" or parts.fragment in anchors(target))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_link_has_a_target(page):
    links = LINK.findall(CODE.sub("", page.read_text("utf-8")))

    assert [link for link in links if not has_target(page, link)] == []


def test_each_page_of_docs_is_in_the_navigation():
    listed = re.findall(r"(?:file|root): docs/(\w+)$", (ROOT / "docs" / "_toc.yml").read_text("utf-8"), re.MULTILINE)

    assert sorted(listed) == sorted(page.stem for page in [*DOCS, GENERATED])


def test_each_link_of_a_docstring_has_a_target():
    modules = (ROOT / "svc_notebooks").rglob("*.py")
    links = {link for path in modules for link in re.findall(r"docs/\w+\.md#[\w-]+", path.read_text("utf-8"))}

    assert links
    assert [link for link in sorted(links) if not has_target(ROOT / "README.md", link)] == []
