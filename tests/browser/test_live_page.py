from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

import svc_notebooks as svc
from svc_notebooks.server.service import open_service
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.browser.keyboard import press_keys
from tests.browser.page_calls import row, screenshot

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

HOSTILE = "<script>document.title = 'run'</script><img src=x onerror=\"document.title='run'\">.txt"


@pytest.fixture
def sandbox() -> Iterator[svc.Sandbox]:
    with svc.sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def live(page: Page, sandbox: svc.Sandbox) -> Page:
    page.goto(sandbox.serve().base_url)
    expect(page.get_by_role("status")).to_have_text("Live")
    return page


def act(sandbox: svc.Sandbox) -> None:
    """Requests, messages and files of all kinds."""
    receiver = svc.receiver(direct=True)
    svc.watch_changes(receiver)
    svc.upload(b"pond,birds\nMill pond,12\n", name="counts.csv")
    up = svc.start_upload(bytes(300_000), name="the long winter at the mill pond, 2026.zip", chunk_size=262_144)
    up.send_chunk()
    up.send_chunk()
    with sandbox.faults(operation="files.list", status=503):
        svc.files()
    with pytest.raises(svc.NotFound):
        svc.file("0" * 20)
    svc.create_event("Tea", start="2026-11-02", end="2026-11-03", attendees="bob@svc.example", send_updates="all")
    svc.trash(svc.upload(b"x", name="old.txt"))
    sandbox.deliver()


def test_new_requests_messages_and_files_are_shown(live: Page, sandbox: svc.Sandbox, problems: list[str]) -> None:
    expect(live.get_by_text("No request yet.")).to_be_visible()

    act(sandbox)

    expect(row(live, "308")).to_have_count(1)
    expect(row(live, "503")).to_have_count(1)
    live.get_by_role("tab", name="Messages").click()
    expect(row(live, "Invitation: Tea")).to_have_count(1)
    expect(row(live, "delivered").first).to_be_visible()
    live.get_by_role("tab", name="Files").click()
    expect(row(live, "counts.csv")).to_have_count(1)
    expect(row(live, "old.txt (in trash)")).to_have_count(1)
    assert problems == []


def test_a_row_has_details_that_follow_the_keys(live: Page, sandbox: svc.Sandbox) -> None:
    act(sandbox)
    expect(row(live, "308")).to_have_count(1)

    live.keyboard.press("/")
    live.keyboard.type("put 3xx")
    expect(live.locator("#rows tr")).to_have_count(1)
    expect(live.locator("#shown")).to_contain_text("1 of")
    press_keys(live, "Tab", "Enter")
    details = live.get_by_role("region", name="PUT /upload/")
    expect(details).to_contain_text("262,144 bytes")
    expect(details).to_contain_text("A3-")

    live.get_by_label("Filter").fill("")
    live.locator("#rows tr[aria-current] button").focus()
    live.keyboard.press("ArrowUp")
    expect(live.locator("#details")).to_contain_text("Status200")
    live.keyboard.press("Escape")
    expect(live.locator("#details")).to_be_hidden()
    assert live.evaluate("document.activeElement.closest('tr') !== null")


def test_names_of_files_are_text(live: Page, sandbox: svc.Sandbox, problems: list[str]) -> None:
    svc.upload(b"x", name=HOSTILE)
    svc.create_event(HOSTILE, start="2026-11-02", end="2026-11-03", attendees="bob@svc.example", send_updates="all")

    for name in ("Requests", "Messages", "Files"):
        live.get_by_role("tab", name=name).click()
        live.locator("#rows button").first.click()
        expect(live.locator("#details")).to_be_visible()
    expect(live.get_by_role("heading", name=HOSTILE)).to_be_visible()
    assert live.locator("main script, main img").count() == 0
    assert live.title() == "svc-notebooks: live view"
    assert problems == []


def test_the_focus_stays_while_rows_come(live: Page, sandbox: svc.Sandbox) -> None:
    svc.generate_ids(1)
    expect(row(live, "generateIds")).to_have_count(1)
    row(live, "generateIds").get_by_role("button").focus()

    svc.upload(b"x", name="one.txt")
    expect(row(live, "/upload/")).to_have_count(1)

    assert "generateIds" in live.evaluate("document.activeElement.textContent")


def test_the_key_of_the_link_leaves_the_address_and_opens_the_page_until_the_service_stops(page: Page) -> None:
    with open_service(seed=0) as service:
        with SocketServer(service) as server:
            page.goto(server.page_url)
            expect(page.get_by_role("status")).to_have_text("Live")
            assert page.url == f"{server.base_url}/"
            page.reload()
            expect(page.get_by_role("status")).to_have_text("Live")
        expect(page.get_by_role("status")).to_contain_text("does not answer")
        with SocketServer(service, port=int(server.base_url.rpartition(":")[2])):  # with another key
            expect(page.get_by_role("alert")).to_contain_text("does not accept this key")


def test_without_a_key_the_page_asks_for_it(page: Page, axe) -> None:
    with open_service(seed=0) as service, SocketServer(service, control=True, control_token="of-control") as server:
        service.sign_in("carol@svc.example")
        page.goto(server.page_url)
        page.get_by_label("Key or control token").fill("wrong")
        page.get_by_role("button", name="Open").click()
        expect(page.get_by_role("alert")).to_contain_text("does not accept this key")
        screenshot(page, "live-page-key")
        violations = axe(page, "body")
        page.get_by_label("Key or control token").fill("of-control")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_have_text("Live")

    assert violations == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 520])
def test_axe_reports_no_violations(live, sandbox, axe, problems, scheme, width):
    act(sandbox)
    live.set_viewport_size({"width": width, "height": 900})
    live.emulate_media(color_scheme=scheme)
    violations = []
    for name in ("Requests", "Messages", "Files"):
        live.get_by_role("tab", name=name).click()
        live.locator("#rows button").first.wait_for()
        violations += axe(live, "body")
        screenshot(live, f"live-page-{name.lower()}-{scheme}-{width}")
        live.locator("#rows button").first.click()
        expect(live.locator("#details")).to_be_visible()
        violations += axe(live, "body")
        screenshot(live, f"live-page-{name.lower()}-details-{scheme}-{width}")
        live.get_by_role("button", name="Close").click()
        assert live.evaluate("document.documentElement.scrollWidth <= innerWidth")

    assert violations == []
    assert problems == []
