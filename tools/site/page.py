"""The frame of every page, with the list of pages, and the style for light and dark, narrow and wide."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template

from pygments.formatters import HtmlFormatter


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the site. `path` is relative to its root, `group` is its heading in the list of pages."""

    path: str
    title: str
    group: str
    body: str


_PAGE = Template(
    """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title - svc-notebooks</title>
<link rel="stylesheet" href="${root}style.css">
</head>
<body>
<a class="skip" href="#content">To the content</a>
<div class="site">
<nav aria-label="Pages"><details open><summary>Pages</summary>
$pages</details></nav>
<main id="content" tabindex="-1">
$body</main>
</div>
<script>if (matchMedia("(max-width: 60rem)").matches) document.querySelector("nav details").open = false</script>
$scripts</body>
</html>
"""
)

_DIAGRAMS = Template(
    """<script src="${root}mermaid.min.js"></script>
<script>
const dark = matchMedia("(prefers-color-scheme: dark)")
const texts = [...document.querySelectorAll("pre.mermaid")].map((one) => [one, one.textContent])
const draw = () => {
  for (const [one, text] of texts) { one.removeAttribute("data-processed"); one.textContent = text }
  mermaid.initialize({ startOnLoad: false, theme: dark.matches ? "dark" : "default", securityLevel: "strict" })
  return mermaid.run({ querySelector: "pre.mermaid" })
}
draw()
dark.addEventListener("change", draw)
</script>
"""
)


def render(page: Page, pages: Iterable[Page], *, diagrams: bool) -> str:
    """Return the HTML of the page. `diagrams` is True if the site has the diagram script."""
    root = "../" * page.path.count("/")
    scripts = _DIAGRAMS.substitute(root=root) if diagrams and 'class="mermaid"' in page.body else ""
    groups: dict[str, list[Page]] = {}
    for member in pages:
        groups.setdefault(member.group, []).append(member)
    links = "".join(_group(name, members, page, root) for name, members in groups.items())
    return _PAGE.substitute(title=escape(page.title), root=root, pages=links, body=page.body, scripts=scripts)


def _group(name: str, pages: list[Page], current: Page, root: str) -> str:
    here = {page.path: " aria-current=page" if page is current else "" for page in pages}
    items = "".join(
        f'<li><a href="{root}{page.path}"{here[page.path]}>{escape(page.title)}</a></li>\n' for page in pages
    )
    return f"<h2>{escape(name)}</h2>\n<ul>\n{items}</ul>\n"


def style() -> str:
    """Return the style sheet, with the colour variables of JupyterLab that notebook outputs use."""
    light, dark = (HtmlFormatter(style=name).get_style_defs(".code") for name in ("friendly", "github-dark"))
    ours = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n{ours}"
