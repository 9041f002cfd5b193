"""The documentation site in build/docs, served from this machine, in chromium without a network."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

import svc_notebooks as svc
from tests.browser.server import ROOT

SITE = ROOT / "build" / "docs"
PAGES = ["docs/index.html", "notebooks/05-events.html", "docs/api/upload.html"]
SEARCHES = {
    "resumable": "/notebooks/02-resumable-by-hand.html",
    "watch": "/docs/api/watch_file.html",
    "If-Match": "/notebooks/00b-http.html",
    "export pdf": "/notebooks/03-convert.html",
    "token expired": "/notebooks/07-identity-and-scopes.html",
    "recurrence": "/docs/api/recurrence_calendar.html",
    "binder": "/docs/install.html",
    "412": "/notebooks/exercises/e7-events.html",
    "quota": "/docs/api/about.html",
    "pandas": "/docs/api/read_frame.html",
}
AMONG_THE_FIRST_THREE = """path => [...document.querySelectorAll(".pagefind-ui__result-inner > p:first-child a")]
    .slice(0, 3).some(link => new URL(link.href).pathname === path)"""
NOT_OURS = (
    "definition-list",  # Sphinx writes the arguments of a long signature as a list without terms
    "empty-table-header",  # pandas leaves the corner of a frame empty
)

pytestmark = [pytest.mark.docs, pytest.mark.filterwarnings("default")]


class Files(SimpleHTTPRequestHandler):
    def log_message(self, *_args):
        pass


@pytest.fixture(scope="module")
def address():
    if not (SITE / "index.html").exists():
        pytest.skip("there is no build/docs: run make docs")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(SITE)))
    server.handle_error = lambda *_: None  # a page that is closed stops reading
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module", params=["light", "dark"])
def browser_context(request, chromium, address):
    """A window as wide as a phone's. A request to any other host fails, and so does the test."""
    context = chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme=request.param)
    context.outside = []

    def refuse(route):
        context.outside.append(route.request.url)
        route.abort()

    context.route(lambda url: not url.startswith(address), refuse)
    yield context
    context.close()


@pytest.fixture
def page(browser_context):
    page = browser_context.new_page()
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    yield page
    page.close()


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_whole_and_accessible_on_a_phone(page, browser_context, address, axe, path):
    page.goto(address + path)

    assert [problem for problem in axe(page, "body") if not problem.rule.startswith(NOT_OURS)] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.problems + browser_context.outside == []


@pytest.mark.parametrize("path", ["docs/deployments.html", "notebooks/10-other-deployments.html"])
def test_tables_of_long_names_fit_a_phone(page, address, path):
    page.goto(address + path)
    widths = page.locator("article table:is(.table, .dataframe)").evaluate_all(
        "tables => tables.map(table => [table.scrollWidth, table.parentElement.clientWidth])"
    )

    assert widths
    assert [width for width, of_page in widths if width > of_page + 1] == []


def test_the_search_lists_the_expected_page_among_the_first_three(page, browser_context, address):
    page.goto(f"{address}search.html")

    for words, path in SEARCHES.items():
        page.get_by_role("textbox", name="Search").fill(words)
        page.locator(".pagefind-ui__message", has_text=f"for {words}").wait_for()
        page.wait_for_function(AMONG_THE_FIRST_THREE, arg=path)
    assert page.problems + browser_context.outside == []


def test_the_results_of_a_search_are_accessible_and_lead_to_headings(page, address, axe):
    page.goto(f"{address}search.html?q=parquet")
    page.locator(".pagefind-ui__result-title a").first.wait_for()

    assert page.locator('a[href*="recipes.html#save-a-dataframe-as-parquet"]').count() == 1
    assert axe(page, "#search") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_first_address_leads_to_the_start_page(page, address):
    page.goto(address)
    page.wait_for_url("**/docs/index.html")

    assert page.get_by_role("heading", name="svc-notebooks", level=1).is_visible()


def test_a_diagram_is_drawn(page, address):
    if not (SITE / "_static" / "mermaid.min.js").exists():
        pytest.skip("the site was built without npm, so its diagrams are text")
    page.goto(f"{address}docs/architecture.html")

    page.locator(".diagram svg").first.wait_for()
    assert page.problems == []


def test_each_public_name_and_notebook_has_a_page(address):
    texts = "".join(path.read_text("utf-8") for path in (SITE / "docs" / "api").glob("*.html"))
    notebooks = [
        path.relative_to(ROOT).with_suffix(".html")
        for path in (ROOT / "notebooks").rglob("*.ipynb")
        if ".ipynb_checkpoints" not in path.parts
    ]

    assert [name for name in svc.__all__ if f'id="svc_notebooks.{name}"' not in texts] == []
    assert [path for path in notebooks if not (SITE / path).exists()] == []
