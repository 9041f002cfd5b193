import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Frame, Page

import svc_notebooks as svc

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]


@pytest.fixture
def sandbox():
    with svc.sandbox() as sandbox:
        sandbox.sign_in("bob@svc.example")
        yield sandbox


@pytest.fixture
def base_url(sandbox: svc.Sandbox) -> str:
    return sandbox.serve().base_url


@pytest.fixture
def page(chromium):
    context = chromium.new_context()
    yield context.new_page()
    context.close()


def path_of(file, field: str = "webViewLink") -> str:
    """A link of the in-process sandbox, to be opened on its socket."""
    link = svc.file(file, fields=field).iloc[0, 0]
    parts = urlsplit(link)
    return f"{parts.path}?{parts.query}"


def sign_in(page: Page, user: str) -> None:
    page.get_by_role("button", name=user).click()
    page.wait_for_load_state()


def open_content(page: Page, base_url: str, content: bytes, name: str) -> None:
    """Open the content link of a new file as ada."""
    page.goto(base_url + path_of(svc.upload(content, name=name), "webContentLink"))
    sign_in(page, "ada@svc.example")


@pytest.mark.spec("A6-08", "A6-08c", "A6-08d")
def test_the_content_link_shows_a_page_whose_scripts_do_not_run(page, sandbox, base_url):
    open_content(page, base_url, b"<h1>Hello</h1><script>document.body.append('ran')</script>", "page.html")

    assert page.locator("body").inner_text() == "Hello"


@pytest.mark.spec("A6-08", "A6-08c")
def test_the_content_link_shows_a_pdf(page: Page, sandbox: svc.Sandbox, base_url: str, tmp_path: Path) -> None:
    document = svc.upload(b"Feed the ducks.", name="plan.txt", convert_to="document")
    path = svc.export(document, "pdf", tmp_path / "plan.pdf")["path"].item()

    open_content(page, base_url, Path(path).read_bytes(), "plan.pdf")

    # No `evaluate`: while chromium replaces the page by its viewer, it may never answer.
    if not any(is_viewer(frame) for frame in page.frames):
        page.wait_for_event("framenavigated", is_viewer)


def is_viewer(frame: Frame) -> bool:
    """Whether this is chromium's viewer of PDF files, which is an extension."""
    return frame.url.startswith("chrome-extension://")


@pytest.mark.spec("A6-08", "A6-08a", "A6-08b")
def test_a_link_asks_who_one_is_and_opens(page: Page, sandbox: svc.Sandbox, base_url: str) -> None:
    file = svc.upload(b"Feed <b>the</b> ducks.", name="plan.txt")
    svc.share(file, "bob@svc.example")

    page.goto(base_url + path_of(file))
    sign_in(page, "bob@svc.example")

    assert page.get_by_role("heading", name="plan.txt").is_visible()
    assert page.locator("pre").inner_text() == "Feed <b>the</b> ducks."
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download").click()
    assert saved.value.suggested_filename == "plan.txt"
    assert Path(saved.value.path()).read_bytes() == b"Feed <b>the</b> ducks."


@pytest.mark.spec("A6-08", "A6-08a", "A6-08b")
def test_a_link_of_somebody_else_leads_to_nothing(page: Page, sandbox: svc.Sandbox, base_url: str) -> None:
    file = svc.upload(b"mine", name="secret.txt")

    page.goto(base_url + path_of(file))
    sign_in(page, "bob@svc.example")

    assert "secret.txt" not in page.content()
    page.get_by_role("link", name="Sign in as another user").click()
    sign_in(page, "ada@svc.example")
    assert page.get_by_role("heading", name="secret.txt").is_visible()


@pytest.mark.spec("A6-03")
def test_the_owner_of_a_flagged_file_is_asked_first(page: Page, sandbox: svc.Sandbox, base_url: str) -> None:
    file = svc.upload(b"not what it seems", name="gift.bin")
    sandbox.flag(file)

    page.goto(base_url + path_of(file))
    sign_in(page, "ada@svc.example")
    page.get_by_role("link", name="Download").click()

    assert page.get_by_text("malware").is_visible()
    with page.expect_download() as saved:
        page.get_by_role("link", name=re.compile("Accept the risk")).click()
    assert Path(saved.value.path()).read_bytes() == b"not what it seems"


def test_a_document_is_shown_and_nothing_in_it_runs(page: Page, sandbox: svc.Sandbox, base_url: str) -> None:
    html = b"<h1>Birds</h1><p>Seen in <b>winter</b></p>"
    svc.share(svc.upload(html, name="Birds", mime_type="text/html", convert_to="document"), "anyone")

    page.goto(base_url + path_of(svc.files("name = 'Birds'")))

    assert page.frame_locator("iframe").get_by_role("heading", name="Birds").is_visible()
    assert page.locator("iframe").get_attribute("sandbox") == ""


def test_who_consents_may_untick_a_scope(page: Page, sandbox: svc.Sandbox, base_url: str) -> None:
    album = sandbox.oauth_client("Photo album", redirect_uris=["http://127.0.0.1/cb"])
    scopes = "https://svc.example/auth/storage.readonly%20https://svc.example/auth/calendar"
    page.route("http://127.0.0.1:9/**", lambda route: route.fulfill(body="back"))

    page.goto(
        f"{base_url}/authorize?response_type=code&client_id={album.client_id}&redirect_uri=http://127.0.0.1:9/cb"
        f"&scope={scopes}&state=s"
    )
    sign_in(page, "bob@svc.example")
    page.get_by_label("calendar").uncheck()
    page.get_by_role("button", name="Allow").click()
    page.wait_for_url("http://127.0.0.1:9/**")

    answer = parse_qs(urlsplit(page.url).query)
    form = {
        "grant_type": "authorization_code",
        "code": answer["code"][0],
        "redirect_uri": "http://127.0.0.1:9/cb",
        "client_id": album.client_id,
        "client_secret": album.client_secret,
    }
    token = page.request.post(f"{base_url}/token", form=form).json()
    assert token["scope"] == "https://svc.example/auth/storage.readonly"
    assert answer["state"] == ["s"]
