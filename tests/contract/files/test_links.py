"""webViewLink and webContentLink in a browser, for users with access to a file and for others (A6-08)."""

from itertools import product
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from tests.contract.calendar_client import ADA, BOB, EVE
from tests.contract.conftest import Answer, InProcess, Wire
from tests.contract.differences import choice
from tests.contract.web_user import WebUser

FILES = "/storage/v3/files"
NATIVE = "application/vnd.svc-apps."

LINKS = {"webViewLink": "A6-08a", "webContentLink": "A6-08b"}
each_link = pytest.mark.parametrize(
    "link", [pytest.param(link, marks=pytest.mark.spec("A6-08", rule)) for link, rule in LINKS.items()]
)


def made(wire: Wire, content: bytes = b"the content", media_type: str = "text/plain", **metadata: Any) -> Any:
    target = f"/upload{FILES}?uploadType=multipart&fields=id,name,webViewLink,webContentLink"
    answer = wire.multipart(target, metadata, content, media_type, token=wire.service.sign_in(ADA))
    assert answer.status == 200, answer.body
    return answer.json


def local(link: str) -> str:
    """Return the path and the query of a link to this service."""
    parts = urlsplit(link)
    return f"{parts.path}?{parts.query}"


def browser(wire: Wire, user: str | None) -> WebUser:
    return WebUser(wire, wire.service.sign_in(user) if user else None)


def is_refused(answer: Answer) -> bool:
    """Return whether a response is a refusal without any fact about the file."""
    assert b"the content" not in answer.body
    return 400 <= answer.status < 500


@pytest.mark.parametrize("user, opens", [(ADA, True), (BOB, True), (EVE, False), (None, False)])
@each_link
def test_a_link_opens_for_those_who_own_or_share_the_file(wire: Wire, link: str, user: str | None, opens: bool) -> None:
    file = made(wire, name="report.txt")
    wire.share(file["id"], BOB, token=wire.service.sign_in(ADA))

    answer = browser(wire, user).open(local(file[link]))

    assert file[link].startswith(wire.base_url + "/")
    if opens:
        assert answer.status == 200
        assert b"the content" in answer.body
    else:
        assert is_refused(answer)
        assert b"report.txt" not in answer.body


@each_link
def test_a_file_that_is_no_longer_shared_is_closed(wire: Wire, link: str) -> None:
    file, bob, ada = made(wire), browser(wire, BOB), wire.service.sign_in(ADA)
    body = {"type": "user", "role": "reader", "emailAddress": BOB}
    reader = wire.post_json(f"{FILES}/{file['id']}/permissions", body, token=ada).json["id"]
    assert bob.open(local(file[link])).status == 200

    assert wire.send("DELETE", f"{FILES}/{file['id']}/permissions/{reader}", token=ada).status == 204

    assert is_refused(bob.open(local(file[link])))


@pytest.mark.spec("A6-08", "A6-08a")
@pytest.mark.parametrize("native_type", ["document", "spreadsheet", "presentation", "drawing", "folder"])
def test_the_page_of_every_native_type_opens(wire: Wire, native_type: str) -> None:
    body, ada = {"name": f"my {native_type}", "mimeType": NATIVE + native_type}, wire.service.sign_in(ADA)
    file = wire.post_json(f"{FILES}?fields=id,webViewLink,webContentLink", body, token=ada).json

    assert "webContentLink" not in file  # there are no bytes to be had
    answer = browser(wire, ADA).open(local(file["webViewLink"]))
    assert (answer.status, f"my {native_type}".encode() in answer.body) == (200, True)
    assert is_refused(browser(wire, EVE).open(local(file["webViewLink"])))


@pytest.mark.spec("A6-08", "A6-08a", "A6-08b", "T-03", "T-03a", "T-03b")
def test_a_token_for_metadata_opens_the_page_and_sees_no_content(wire: Wire) -> None:
    file, token = made(wire), wire.service.sign_in(ADA, scopes=["storage.metadata.readonly"])

    page = wire.send("GET", local(file["webViewLink"]), token=token)
    content = wire.send("GET", local(file["webContentLink"]), token=token)

    assert page.status in {200, 403}
    assert b"the content" not in page.body
    assert (content.status, b"the content" in content.body) == (403, False)
    narrow = wire.service.sign_in(ADA, scopes=["storage.file", "storage.metadata.readonly"], client="another")
    with choice("Links of files"):
        assert "the content" in shown(wire, file)
        assert "the content" not in shown(wire, file, narrow)


@pytest.mark.spec("A6-08", "A6-08b", "A6-05", "A6-05a")
@pytest.mark.parametrize("user, status", [(ADA, 200), (BOB, 403)])
def test_the_content_link_of_a_restricted_file_is_for_its_writers(wire: Wire, user: str, status: int) -> None:
    file = made(wire, viewersCanCopyContent=True)
    wire.share(file["id"], BOB, token=wire.service.sign_in(ADA))

    answer = browser(wire, user).open(local(file["webContentLink"]))

    assert answer.status == status
    assert (b"the content" in answer.body) == (status == 200)


@pytest.mark.spec("A6-08", "A6-08b", "A6-03", "A6-09")
def test_the_content_link_of_a_flagged_file_asks_its_owner_first(wire: Wire) -> None:
    file, ada = made(wire), wire.service.sign_in(ADA)
    wire.share(file["id"], BOB, "writer", token=ada)
    wire.service.flag(file["id"], abusive=True)
    link = local(file["webContentLink"])

    queries = ("", "&export=download", "&acknowledgeAbuse=yes", "&acknowledgeAbuse=1")
    for method, query in product(("GET", "HEAD"), queries):
        answer = wire.send(method, link + query, headers={"Range": "bytes=0-2"}, token=ada)
        assert (answer.status, b"the" in answer.body and b"file" not in answer.body) == (403, False)
    assert is_refused(browser(wire, BOB).open(link))
    assert is_refused(browser(wire, BOB).open(link + "&acknowledgeAbuse=true"))
    assert is_refused(browser(wire, ADA).open(link))
    assert b"the content" in browser(wire, ADA).open(link + "&acknowledgeAbuse=true").body
    assert b"the content" not in browser(wire, ADA).open(local(file["webViewLink"])).body


SHOWN = ["text/plain", "text/html", "text/csv", "image/png", "image/svg+xml", "audio/mpeg", "video/mp4"]
SHOWN += ["application/pdf", "application/json"]
SAVED = ["application/zip", "application/octet-stream", "image/tiff", "application/xhtml+xml", "application/x-pdf"]


@pytest.mark.spec("A6-08", "A6-08c")
@pytest.mark.choice("Content behind webContentLink")
@pytest.mark.parametrize("media_type, disposition", [*product(SHOWN, ["inline"]), *product(SAVED, ["attachment"])])
def test_the_content_link_shows_what_a_browser_can_show_and_saves_the_rest(wire, media_type, disposition):
    file, ada = made(wire, media_type=media_type, name="a.bin"), browser(wire, ADA)
    link = local(file["webContentLink"])

    shown, saved = ada.open(link), ada.open(link + "&export=download")

    assert (shown.status, shown.body, saved.body) == (200, b"the content", b"the content")
    assert shown.headers["Content-Type"].partition(";")[0] == media_type
    assert shown.headers["Content-Disposition"].startswith(f'{disposition}; filename="a.bin"')
    assert saved.headers["Content-Disposition"].startswith('attachment; filename="a.bin"')


@pytest.mark.spec("A6-08", "A6-08d")
@pytest.mark.parametrize(
    "media_type, rule",
    [
        *product(["text/html", "image/svg+xml", "text/plain", "application/zip"], ["sandbox"]),
        *product(["application/pdf", "audio/mpeg", "video/mp4"], ["script-src 'none'"]),
    ],
)
def test_displayed_content_runs_no_script(wire: Wire, media_type: str, rule: str) -> None:
    """A stored page must not run with the origin of the service. In a sandbox chromium plays no sound."""
    file = made(wire, b"<script>alert(1)</script>", media_type, name="evil")
    link = local(file["webContentLink"])

    for answer in (browser(wire, ADA).open(link), wire.send("GET", link, token=wire.service.sign_in(ADA))):
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers.all("Content-Security-Policy") == [rule]


NAMES = [
    'a"b.txt', "a\\b.txt", "a\r\nSet-Cookie: x=y", "\u20acuro \U0001f4c4.txt", "x" * 900, "a;b=c, d",
    "../../etc/a name", "%41", " ", "\u202egnp.exe",
]  # fmt: skip


@pytest.mark.spec("A6-08", "A6-08a", "A6-08b")
@pytest.mark.parametrize("name", NAMES)
def test_a_file_name_is_escaped_in_headers_and_pages(wire: Wire, name: str) -> None:
    file, ada = made(wire, name=name), browser(wire, ADA)

    content, page = ada.open(local(file["webContentLink"])), ada.open(local(file["webViewLink"]))

    assert (content.status, content.body, page.status) == (200, b"the content", 200)
    assert "Set-Cookie" not in content.headers
    saved_as = content.headers["Content-Disposition"]
    assert f"filename*=UTF-8''{quote(name, safe='')}" in saved_as
    assert "/" not in saved_as.partition("filename*=")[0]


@pytest.mark.spec("A6-08", "A6-08a", "A6-08b")
@pytest.mark.parametrize("file", ["nothing", "..", "%2e%2e", "root", "a/b", "%00", "\u20ac"])
def test_the_page_of_an_unknown_file_is_a_readable_404(wire: Wire, file: str) -> None:
    for path in (f"/file/d/{quote(file, safe='%')}/view", f"/uc?id={quote(file, safe='%')}"):
        answer = browser(wire, EVE).open(path)
        assert 400 <= answer.status < 500 or (file == "root" and answer.status == 200)
        assert "Traceback" not in answer.body.decode()


@pytest.mark.spec("T-01", "T-01b")
def test_signing_out_ends_the_browser_session(wire: Wire) -> None:
    person, link = browser(wire, ADA), local(made(wire)["webViewLink"])
    kept = dict(person.cookies)
    person.press(person.open(link), "sign out")

    assert is_refused(person.open(link))
    person.cookies = kept
    assert is_refused(person.open(link))


@pytest.mark.spec("T-01", "T-01c")
def test_a_browser_does_not_stay_signed_in_for_ever(wire: Wire) -> None:
    person, link = browser(wire, ADA), local(made(wire)["webViewLink"])
    wire.service.clock.advance("2d")

    assert is_refused(person.open(link))


ELSEWHERE = [
    "https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example",
    "javascript:x", "/%0d%0aSet-Cookie:a=b", "/\r\nSet-Cookie: a=b", "http:evil.example", "/../../x", "",
]  # fmt: skip


@pytest.mark.spec("T-01", "T-01b")
@pytest.mark.parametrize("target", ELSEWHERE)
def test_signing_in_never_redirects_to_another_site(wire: Wire, target: str) -> None:
    person = WebUser(wire)
    page = person.open(f"/signin?continue={quote(target, safe='')}")
    answer = person.press(page, "sign in", token=wire.service.sign_in(ADA))

    where = answer.headers["Location"]
    assert where.startswith("/")
    assert not where.startswith(("//", "/\\"))
    assert not set(where) & set("\r\n\t\\")


@pytest.mark.spec("T-01", "T-01b")
def test_an_invalid_token_or_a_name_alone_signs_nobody_in(wire: Wire) -> None:
    person = WebUser(wire)
    for token in ("", "nobody", "\u20ac", "x" * 5000, "a b", "\x00"):
        assert person.press(person.open("/signin"), "sign in", token=token).status == 401
    with choice("browser_sign_in"):
        media_type = "application/x-www-form-urlencoded"
        answer = person.send("POST", "/signin", b"user=ada%40svc.example", Content_Type=media_type)
        assert answer.status == 401
        assert isinstance(wire, InProcess) or answer.headers["Content-Type"].startswith("text/html")
    assert not person.cookies


FOLDER = "application/vnd.svc-apps.folder"
SHORTCUT = "application/vnd.svc-apps.shortcut"


def make(wire: Wire, **metadata: Any) -> dict[str, Any]:
    return wire.post_json("/storage/v3/files?fields=*", metadata).json


def shown(wire: Wire, file: dict[str, Any], token: str | None = "own") -> str:
    answer = wire.send("GET", local(file["webViewLink"]), headers={"Accept": "text/html"}, token=token)
    assert answer.status == 200
    return answer.body.decode()


@pytest.mark.choice("Links of files")
def test_a_folder_page_links_to_its_files_and_a_shortcut_to_its_target_with_access(wire: Wire) -> None:
    folder = make(wire, name="Birds", mimeType=FOLDER)
    duck = make(wire, name="duck <1>.txt", parents=[folder["id"]])
    gone, secret = make(wire, name="gone.txt", parents=[folder["id"]]), make(wire, name="secret.txt")
    wire.json_request("PATCH", f"/storage/v3/files/{gone['id']}", {"trashed": True})
    shortcut = make(wire, name="this way", mimeType=SHORTCUT, shortcutDetails={"targetId": secret["id"]})
    wire.share(shortcut["id"], BOB)
    wire.post_json(f"{FILES}/{folder['id']}/permissions", {"type": "anyone", "role": "reader"})

    for page in (shown(wire, folder), shown(wire, folder, token=None)):
        assert urlsplit(duck["webViewLink"]).path in page
        assert "duck &lt;1&gt;.txt" in page
        assert "gone.txt" not in page
    assert "<h1>duck &lt;1&gt;.txt</h1>" in shown(wire, duck, token=None)
    assert "secret.txt" in shown(wire, shortcut)
    assert "secret.txt" not in shown(wire, shortcut, wire.service.sign_in(BOB))
