"""The docs site: every page is there, every link leads somewhere, and nothing is fetched from elsewhere."""

from pathlib import Path

import pytest

import svc_notebooks as svc
from tools.site import build, links, mermaid
from tools.site.build import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as it would be built here, without the program that draws diagrams, which comes from npm."""
    target = tmp_path_factory.mktemp("site") / "docs"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mermaid, "provide", lambda cache, target: False)
        build.write(target)
    return target


@pytest.fixture
def page(tmp_path: Path) -> Path:
    (tmp_path / "other.html").write_text('<h1 id="there">x</h1>')
    return tmp_path / "page.html"


def test_every_link_leads_somewhere_and_nothing_comes_from_elsewhere(site: Path) -> None:
    assert list(links.problems(site)) == []


def test_every_document_and_notebook_has_its_page(site: Path) -> None:
    sources = [*(ROOT / "docs").glob("*.md"), *(ROOT / "notebooks").rglob("[!.]*.ipynb")]
    expected = {source.relative_to(ROOT).with_suffix(".html") for source in sources if ".ipynb_" not in str(source)}

    assert expected <= {path.relative_to(site) for path in site.rglob("*.html")}


def test_every_public_name_is_explained(site: Path) -> None:
    text = (site / "api.html").read_text(encoding="utf-8")

    assert [name for name in svc.__all__ if f'<h2 id="{name}">' not in text] == []
    assert "&gt;&gt;&gt;" in text


def test_outputs_of_notebooks_are_shown(site: Path) -> None:
    text = (site / "notebooks" / "09-the-wire.html").read_text(encoding="utf-8")

    assert 'class="mermaid">' in text
    assert 'class="dataframe"' in text


@pytest.mark.parametrize(
    "link",
    ['<a href="gone.html">', '<a href="other.html#gone">', '<a href="#gone">', '<img src="gone.png">', '<a href="..">'],
)
def test_a_link_that_leads_nowhere_is_found(page: Path, link: str) -> None:
    page.write_text(link)

    assert len(list(links.problems(page.parent))) == 1


@pytest.mark.parametrize(
    "link",
    ['<script src="https://cdn.example/a.js"></script>', '<link rel="stylesheet" href="//cdn.example/a.css">'],
)
def test_what_would_be_fetched_from_elsewhere_is_found(page: Path, link: str) -> None:
    page.write_text(link)

    assert list(links.problems(page.parent)) == [f"page.html: {link.split(chr(34))[-2]} comes from elsewhere"]


@pytest.mark.parametrize("link", ["other.html#there", "other.html", "https://example.org/", "data:,x"])
def test_a_link_that_leads_somewhere_is_none_of_them(page: Path, link: str) -> None:
    page.write_text(f'<a href="{link}">')

    assert list(links.problems(page.parent)) == []


def test_a_link_of_the_source_to_no_file_is_found(tmp_path: Path) -> None:
    resolve = build._links("docs/control.md", "docs/control.html", {"docs/decisions.md": "docs/decisions.html"})

    assert resolve("decisions.md#names") == "decisions.html#names"
    assert resolve("../CONTRIBUTING.md") is None
    assert resolve("gone.md") == "gone.md"
