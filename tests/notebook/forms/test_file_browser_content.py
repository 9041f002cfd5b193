import pytest

import svc_notebooks as svc
from svc_notebooks.forms.file_browser.browser import FileBrowser

EVIL = b"not for everybody"
NATIVE = "application/vnd.svc-apps."


@pytest.fixture
def plan(lab):
    return svc.upload(b"Feed the ducks on Monday.", name="plan.txt")


@pytest.fixture
def browser(lab, plan, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lab.flag(svc.upload(EVIL, name="evil.txt"))
    browser = FileBrowser(lab.session)
    browser.saved = []
    browser.browser_download.save = lambda name, media_type, body: browser.saved.append(body)
    return browser


def choose(browser, *names):
    rows = browser.result
    browser.files.chosen = rows[rows["name"].isin(names)]["id"].tolist()


def download(browser, *names, **values):
    choose(browser, *names)
    browser.ask["download"].click()
    question = browser.question
    fields = {"target": question.target, "path": question.path, "part": question.range}
    for key, value in values.items():
        fields[key].value = value
    question.yes.click()


def content_requests():
    """The requests for content so far: whether each acknowledged abuse, and the status of its answer."""
    rows = svc.exchanges()
    rows = rows[rows["query"].fillna("").str.contains("alt=media")]
    return [("acknowledgeAbuse=true" in row["query"], row["status"]) for _, row in rows.iterrows()]


@pytest.mark.spec("A1-04")
def test_the_content_of_a_file_is_replaced_after_a_question(browser, plan, tmp_path):
    (tmp_path / "new.txt").write_bytes(b"new words")
    choose(browser, "plan.txt")
    browser.ask["replace"].click()
    assert "plan.txt" in browser.question.head.value
    assert "overwrites the current content (25 bytes, changed 2026-01-05 09:00 UTC)" in browser.question.head.value
    browser.question.source.path.value = "new.txt"
    code = browser.code()
    assert svc.read(plan) == b"Feed the ducks on Monday."
    browser.question.yes.click()

    assert browser.last_error is None
    assert "Replaced the content of plan.txt." in browser.status.value
    assert code == browser.code() == f"svc.update('{plan['id'].item()}', 'new.txt')"
    assert svc.read(plan) == b"new words"
    assert browser.selection["name"].tolist() == ["plan.txt"]
    assert "9 bytes" in browser.about.facts.value
    svc.update(plan, b"")
    eval(code, {"svc": svc})
    assert svc.read(plan) == b"new words"
    (tmp_path / "newer.txt").write_bytes(b"newer words")
    browser.ask["replace"].click()
    browser.question.yes.click()
    assert "No file is selected" in browser.alert.value
    browser.question.source.path.value = "newer.txt"
    browser.question.no.click()
    assert svc.read(plan) == b"new words"


@pytest.mark.spec("A6-02", "A6-02a")
@pytest.mark.parametrize(
    "first, last, part", [("0", "3", b"Feed"), ("5", "", b"the ducks on Monday."), ("18", "99", b"Monday.")]
)
@pytest.mark.parametrize("target", ["kernel", "browser"])
def test_a_byte_range_of_a_file(browser, plan, tmp_path, first, last, part, target):
    path = {"path": "part.txt"} if target == "kernel" else {}
    download(browser, "plan.txt", part=f"{first}-{last}", target=target, **path)

    assert browser.last_error is None
    argument = f"byte_range='bytes={first}-{last}'"
    if target == "kernel":
        assert (tmp_path / "part.txt").read_bytes() == part
        assert browser.code() == f"svc.download('{plan['id'].item()}', 'part.txt', {argument})"
        assert eval(browser.code(), {"svc": svc})["outcome"].tolist() == ["unchanged"]
    else:
        assert browser.saved == [part]
        assert browser.code() == f"svc.read('{plan['id'].item()}', {argument})"
        assert eval(browser.code(), {"svc": svc}) == part


@pytest.mark.spec("A6-03", "A6-04", "A6-04a")
@pytest.mark.parametrize("target", ["kernel", "browser"])
def test_the_owner_is_asked_before_a_flagged_file_is_downloaded(browser, tmp_path, target):
    download(browser, "evil.txt", target=target)
    question = browser.downloads.abuse

    assert question.is_open
    for text in ("evil.txt was flagged as abusive.", "service found malware or spam in it"):
        assert text in question.head.value
    assert content_requests() == [(False, 403)], "no content came"
    assert list(tmp_path.iterdir()) == []
    assert browser.alert.value == ""

    question.yes.click()
    assert content_requests() == [(False, 403), (False, 403), (True, 200)]
    assert "acknowledge_abuse=True" in browser.code()
    assert browser.last_error is None
    if target == "kernel":
        assert (tmp_path / "evil.txt").read_bytes() == EVIL
    else:
        assert browser.saved == [EVIL]


@pytest.mark.spec("A6-05", "A6-05b")
def test_an_editor_can_restrict_viewers(browser, plan):
    choose(browser, "plan.txt")
    viewers = browser.about.viewers
    assert (viewers.layout.display, viewers.value) == (None, True)
    viewers.value = False

    assert "Viewers can no longer download, export and copy plan.txt." in browser.status.value
    assert browser.code() == f"svc.update('{plan['id'].item()}', viewers_can_copy_content=True)"
    assert svc.file(plan, fields="viewers_can_copy_content").iloc[0, 0]
    assert "cannot download, export or copy it" in browser.about.facts.value
    viewers.value = True
    assert not svc.file(plan, fields="viewers_can_copy_content").iloc[0, 0]


@pytest.mark.parametrize(
    "kind, media_type", [("folder", NATIVE + "folder"), ("file", "text/plain"), ("document", NATIVE + "document")]
)
def test_files_are_created_from_metadata_alone(browser, kind, media_type):
    browser.ask["folder"].click()
    browser.question.name.value = "new.txt"
    browser.question.type.value = kind
    browser.question.yes.click()

    assert browser.last_error is None
    assert f"Created the {kind} new.txt." in browser.status.value
    eval(browser.code(), {"svc": svc})
    assert svc.files("name = 'new.txt'")["mime_type"].tolist() == [media_type] * 2
