"""Sphinx configuration of the documentation site, which `make docs` builds to build/docs.

Sources are docs/*.md, the notebooks and the docstrings. The navigation is in docs/_toc.yml.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

import svc_notebooks
from tools.docstrings import list_columns

ROOT = Path(__file__).parents[1]
SOURCES = ("docs", "notebooks", "CHANGELOG.md", "CONTRIBUTING.md")

project = "svc-notebooks"
version = release = svc_notebooks.__version__
copyright = "the authors of svc-notebooks, licensed under Apache-2.0"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_external_toc",
]
external_toc_path = str(ROOT / "docs" / "_toc.yml")
exclude_patterns = [path.name for path in ROOT.iterdir() if path.name not in SOURCES] + [
    "docs/_*",
    "**.ipynb_checkpoints",
]
templates_path = [str(ROOT / "docs" / "_templates")]
suppress_warnings = ["etoc.toctree"]  # docs/api.md has toctrees of its own, from autosummary

# Markdown: the dialect of the code host, with its anchors. Notebooks keep their saved outputs.
myst_heading_anchors = 4
nb_execution_mode = "off"
nb_ipywidgets_js = {}  # it would come from a CDN; forms are saved as text or a picture

# Docstrings: Google's sections. A name in backticks links to its page, if it has one.
default_role = "py:obj"
autosummary_generate = True
autosummary_filename_map = {  # `Upload` and `upload` are one file where upper and lower case are the same
    f"svc_notebooks.{name}": f"{name}-class" if name[0].isupper() else name for name in svc_notebooks.__all__
}
for stub in (ROOT / "docs" / "api").glob("*.rst"):  # of an earlier build, for a name that is gone
    if stub.stem not in autosummary_filename_map.values():
        stub.unlink()
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_default_options = {"exclude-members": "follow, closes", "member-order": "bysource"}
python_maximum_signature_line_length = 80
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries_show_parents = "hide"

copybutton_selector = "div:not(.highlight-mermaid) > div.highlight pre"

# The theme. docs/_templates/search.html has the search. Nothing is fetched from elsewhere.
html_theme = "pydata_sphinx_theme"
html_title = f"svc-notebooks {version}"
html_static_path = ["_static", "../build/docs-static"]
html_css_files = ["site.css"]
html_js_files = ["diagrams.js", "tables.js"]
html_show_sourcelink = False
html_copy_source = False
html_additional_pages = {"index": "redirect.html"}
html_theme_options: dict[str, Any] = {
    "logo": {"text": "svc-notebooks"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navbar_end": ["version", "theme-switcher"],
    "search_bar_text": "Search functions, rules and pages",
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "show_toc_level": 2,
}
html_context: dict[str, Any] = {}

_LINK_TO_DOCS = re.compile(r"docs/(\w+)\.md(?:#([\w-]+))?|tests/(rules)\.csv")
_SECTION = re.compile(r'<section id="([^"]+)">(\s*(?:<span[^>]*></span>\s*)*)<h([1-6])>')
_ANCHOR = re.compile(r'<a id="([\w-]+)">')
_RULE = re.compile(r"\b([A-Z]\d{0,2}-\d\d[a-z]?)\b")
_NO_LINKS = (nodes.literal, nodes.FixedTextElement, nodes.reference, nodes.title)


def setup(app: Sphinx) -> None:
    app.add_lexer("mermaid", TextLexer)  # diagrams.js draws them
    app.connect("autodoc-process-docstring", prepare_docstring, priority=400)  # before napoleon
    app.connect("doctree-read", declare_anchors)
    app.connect("doctree-resolved", link_rules)
    app.connect("html-page-context", name_headings)


def prepare_docstring(app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """Turn plain text into reStructuredText: asterisks, links to pages, and Returns with a list of columns."""
    example = next((n for n, line in enumerate(lines) if line.startswith(">>>")), len(lines))
    for n, line in enumerate(lines[:example]):
        text = ":returns:" if line == "Returns:" else line.replace("*", r"\*")
        lines[n] = _LINK_TO_DOCS.sub(link_to_docs, text)
    if ":returns:" in lines:
        start = lines.index(":returns:") + 1
        end = next((n for n, line in enumerate(lines[start:], start) if not line.startswith("    ")), len(lines))
        lines[start:end] = list_columns(lines[start:end])


def link_to_docs(match: re.Match[str]) -> str:
    """Return a link by its heading or its page. The page of tests/rules.csv is docs/rules.md."""
    page, anchor = match[1] or match[3], match[2]
    if anchor is None:
        return f"`{page} <../{page}.html>`__"
    return f"`{anchor.replace('-', ' ')} <../{page}.html#{anchor}>`__"


def declare_anchors(app: Sphinx, document: nodes.document) -> None:
    """Let links point at anchors that a page sets as HTML, as docs/rules.md does for each rule."""
    slugs = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    for node in document.findall(nodes.raw):
        slugs |= {anchor: (None, anchor, anchor) for anchor in _ANCHOR.findall(node.astext())}


def link_rules(app: Sphinx, document: nodes.document, page: str) -> None:
    """Link each rule that a text names, such as A6-04 or A6-04a, to its row in docs/rules.md."""
    if page == "docs/rules":
        return
    anchors = app.env.metadata["docs/rules"]["myst_slugs"]
    rules = app.builder.get_relative_uri(page, "docs/rules")
    for text in list(document.findall(nodes.Text)):
        parts = _RULE.split(text)  # the ids have the odd places
        if len(parts) == 1 or any(isinstance(parent, _NO_LINKS) for parent in ancestors(text)):
            continue
        linked: list[nodes.Node] = []
        for n, part in enumerate(parts):
            anchor = next((name for name in (part.lower(), f"{part.lower()}a") if n % 2 and name in anchors), None)
            linked.append(nodes.reference("", part, refuri=f"{rules}#{anchor}") if anchor else nodes.Text(part))
        text.parent.replace(text, linked)


def name_headings(app: Sphinx, page: str, template: str, context: dict[str, Any], document: nodes.document) -> None:
    """Move the id of a section to its heading, where Pagefind expects it: a result then leads to the heading."""
    if "body" in context:
        context["body"] = _SECTION.sub(r'<section>\2<h\3 id="\1">', context["body"])


def ancestors(node: nodes.Node) -> Iterator[nodes.Node]:
    while node.parent is not None:
        node = node.parent
        yield node


def repository() -> dict[str, Any]:
    """Return the theme's options for the repository that pyproject.toml names, or nothing."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"].get("urls", {})
    match = re.match(r"https://github\.com/([\w.-]+)/([\w.-]+?)(?:\.git)?/?$", urls.get("Repository", ""))
    if match is None:
        return {}
    html_context.update(github_user=match[1], github_repo=match[2], github_version="main", doc_path="")
    sidebar = ["page-toc", "edit-this-page"]  # a page of docs/api has no file of its own
    pages = {"*": sidebar, "docs/*": sidebar, "notebooks/**": sidebar, "docs/api/*": ["page-toc"]}
    return {"use_edit_page_button": True, "github_url": match[0], "secondary_sidebar_items": pages}


html_theme_options |= repository()
