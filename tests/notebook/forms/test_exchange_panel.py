import json

import pytest

import svc_notebooks as svc
from svc_notebooks.forms.dashboard.exchange_panel import WirePanel


@pytest.fixture
def panel(lab):
    svc.create_file(name="notes")
    svc.files()
    svc.generate_ids(1)
    with pytest.raises(svc.NotFound):
        svc.file("nowhere-0" * 3)
    panel = WirePanel()
    panel.saved = []
    panel.browser_download.save = lambda *file: panel.saved.append(file)
    yield panel
    panel.close()


def select(panel, *numbers):
    panel.rows.chosen = [str(n) for n in numbers]


def run(panel):
    """Return the value of the equivalent code."""
    *lines, last = panel.code().splitlines()
    names = {"svc": svc}
    exec("\n".join(lines), names)
    return eval(last, names)


@pytest.mark.parametrize(
    "method, status, path, numbers",
    [
        ("", "", "", [4, 3, 2, 1]),
        ("POST", "", "", [1]),
        ("GET", "2xx", "", [3, 2]),
        ("", "4xx, 308", "", [4]),
        ("", "404", "", [4]),
        ("", "-", "", []),
        ("", "", "GenerateIds", [3]),
        ("", "", "count=1", [3]),
    ],
)
def test_the_list_is_filtered(panel, method, status, path, numbers):
    fields = panel.filter
    fields.method.value, fields.status.value, fields.path.value = method, status, path

    assert [int(row["asked"].partition(":")[0]) for row in panel.rows.rows] == numbers
    assert panel.result["n"].tolist() == numbers[::-1]
    assert run(panel)["n"].tolist() == numbers[::-1]
    assert panel.last_error is None


def test_views_have_a_copy_button_and_texts_of_others_are_escaped(panel):
    svc.create_file(name="<img src=x onerror=alert(1)>")
    panel.refresh()
    select(panel, 5)
    shown = [panel.view.value]
    views = {"curl": "curl -X POST", "python": "import requests", "diagram": "Diagram with the requests before it"}
    for view, words in views.items():
        panel.view_format.value = view
        shown.append(panel.view.value)
        assert words in panel.view.value
        assert ">Copy</button>" in panel.view.value
        assert panel.code() == f"svc.exchange(5).{view}()"
    panel.resend_button.click()
    assert panel.view_format.value == "difference"
    assert not [html for html in (*shown, panel.view.value) if "<img" in html or not html]
    assert panel.last_error is None


def test_resend_shows_the_new_exchange_and_the_difference(panel):
    select(panel, 3)
    panel.resend_button.click()

    assert panel.rows.ids() == ["5", "3"]
    assert panel.view_format.value == "difference"
    assert panel.code() == "old = svc.exchange(3)\nnew = old.resend()\nsvc.compare_exchanges(old, new)"
    assert svc.exchange(5).url == svc.exchange(3).url
    assert panel.last_error is None


def test_an_edited_request_is_sent(panel):
    select(panel, 1)
    panel.edit_button.click()
    editor = panel.editor
    assert editor.method.value == "POST"
    assert editor.url.value.startswith("/storage/v3/files?fields=name,size")
    assert editor.body.value == '{"name": "notes"}'
    assert "Authorization" not in editor.headers.value

    editor.url.value = "/storage/v3/files?fields=name"
    editor.headers.value += "\nX-Trace: 7"
    editor.body.value = '{"name": "other"}'
    editor.send.click()

    new = svc.exchange()
    assert (new.n, new.status) == (5, 200)
    assert dict(new.request_headers)["X-Trace"] == "7"
    assert json.loads(new.response_body) == {"name": "other"}
    assert "fields=name" in panel.view.value
    assert "+  &quot;name&quot;: &quot;other&quot;" in panel.view.value
    assert editor.edited is None
    assert len(run(panel)) == len(svc.compare_exchanges(svc.exchange(1), new))
    assert panel.last_error is None


def test_an_edited_request_that_cannot_be_sent_keeps_what_was_typed(panel):
    svc.upload(bytes(5000), name="zeros.bin")
    svc.watch_changes(svc.receiver(direct=True), token="the-secret-of-both")
    watch = svc.exchanges(path="watch")["n"].item()
    panel.refresh()
    count = len(svc.exchanges())

    def send(number, **values):
        select(panel, number)
        panel.edit_button.click()
        for name, value in values.items():
            getattr(panel.editor, name).value = value
        panel.editor.send.click()
        shown = panel.alert.value, panel.editor.headers.value
        panel.editor.cancel.click()
        return shown

    alert, headers = send(2, headers="Accept: */*\nno colon")
    assert "Line 2 of the headers" in alert
    assert headers == "Accept: */*\nno colon"
    assert "The body of exchange 5 was not recorded. Enter a body." in send(5)[0]
    select(panel, watch)
    panel.edit_button.click()
    assert "body still has [redacted]" in send(watch, body=panel.editor.body.value.replace('{"', '{ "'))[0]
    assert len(svc.exchanges()) == count


def test_the_listed_exchanges_are_saved_as_an_archive(panel, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    panel.filter.status.value = "4xx"
    panel.har_button.click()

    name, media_type, body = panel.saved.pop()
    assert (name, media_type) == ("exchanges.har", "application/json")
    assert [entry["response"]["status"] for entry in json.loads(body)["log"]["entries"]] == [404]
    assert run(panel)["exchanges"].tolist() == [1]
    assert panel.last_error is None
