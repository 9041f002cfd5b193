import json

import pandas as pd
import pytest

import svc_notebooks as svc
from tools import binder_badge

HINTS = {
    "a setting of the policy": (lambda lab: svc.sandbox(quota=5), r"policy=svc.Policy\(storage_limit=...\)"),
    "another setting": (lambda lab: svc.sandbox(ratelimit=5), r"policy=svc.Policy\(rate_limit=...\)"),
    "a setting by another name": (lambda lab: svc.Policy(quota=5), "did you mean 'storage_limit'"),
    "no https": (lambda lab: svc.watch_changes("http://a.example/in"), r"http://a.example/in\. Use a receiver\(\)"),
    "no domain": (lambda lab: svc.watch_changes("https://a.example/"), r"register_domain\(host\).*lab\.trust\(pem\)"),
    "a path": (lambda lab: svc.trash("/a/b/x.txt"), r"files\(folder='a/b', name='x.txt'\) finds"),
    "no calendar": (lambda lab: svc.event("abcde", calendar="Choir"), r"of calendars\(\)\. \(404"),
    "two calendars": (lambda lab: svc.events(calendar="Twin"), "'Twin', the name of 2 calendars; give an id: c_"),
    "fill a form": (lambda lab: svc.event_form().fill(summary="a"), r"form.value = \{...\}.*form.create.click\(\)"),
    "run a form": (lambda lab: svc.upload_form().run, r"form.upload.click\(\).*svc.upload\(path\)"),
    "backwards": (lambda lab: lab.clock.advance("-1d"), r"moves the clock forward, not by '-1d'; clock.set"),
    "no function": (lambda lab: svc.delete_calendar, "execute.*deletes the calendar"),
}


@pytest.mark.parametrize("case", HINTS)
def test_the_message_says_what_works(lab, case):
    for name in ("Twin", "Twin"):
        svc.create_calendar(name)
    call, words = HINTS[case]

    with pytest.raises((TypeError, ValueError, AttributeError, svc.SvcError), match=words):
        call(lab)


@pytest.mark.parametrize(
    "path, near",
    [
        ("/files/abc", "/storage/v3/files/abc"),
        ("/storage/v3/file", "/storage/v3/files"),
        ("/upload/storage/v3/flies", "/upload/storage/v3/files"),
        ("/storage/v3/files/x/comments", "comments"),
        ("/a/b", "at this address"),
    ],
)
def test_the_404_of_an_unknown_path_names_one_that_exists(lab, path, near):
    response = lab.send("GET", path)

    assert response.status == 404
    assert near.removesuffix("?") in json.loads(response.body)["error"]["message"]


@pytest.mark.parametrize(
    "form", [lambda row: row, lambda row: row.iloc[0], lambda row: row["id"].item(), lambda row: "Work"]
)
def test_a_calendar_is_a_row_an_id_or_a_name(lab, form):
    row = svc.create_calendar("Work")
    calendar = form(row)
    walk = svc.create_event("Walk", start="2026-11-02", recurrence="daily, 9 times", calendar=calendar)

    svc.update_event(walk, summary="Run", calendar=calendar)
    svc.share_calendar(calendar, "bob@svc.example")
    days = svc.instances(walk, calendar=calendar)["id"]
    assert svc.delete_event(days[4], this_and_following=True, calendar=calendar)["deleted"].tolist() == [True]
    assert len(svc.instances(walk, calendar=calendar)) == 4
    with pytest.raises(ValueError, match="takes one of them"):
        svc.delete_event(days[:2], this_and_following=True, calendar=calendar)
    svc.delete_event(days[0], this_and_following=True, calendar=calendar)
    assert svc.events(calendar=row).empty
    assert len(svc.calendar_permissions(calendar)) == 2


@pytest.mark.parametrize("size", [90, 600_000])
def test_a_storage_limit_that_is_set_is_enforced(size):
    with svc.sandbox(policy=svc.Policy(storage_limit=size + 10)):
        file = svc.upload(b"x" * size)
        for call in (
            lambda: svc.upload(b"x" * size),
            lambda: svc.copy(file),
            lambda: svc.update(file, b"x" * (size + 11)),
            lambda: svc.upload(b"x" * size, chunk_size=262_144),
        ):
            with pytest.raises(svc.NotAllowed, match="storageQuotaExceeded"):
                call()
        assert svc.about()["quota_usage"].tolist() == [size]


def test_a_refused_watch_call_does_not_set_the_position_of_changes(lab):
    with pytest.raises(svc.BadRequest):
        svc.watch_changes("http://a.example/in")
    svc.upload(b"x")

    assert svc.changes().empty


def test_channels_that_are_stopped_stay_stopped(lab):
    first = svc.watch_changes(svc.receiver(direct=True))
    svc.renew_channel(first)

    assert svc.stop_channel(svc.channels())["outcome"].tolist() == ["unchanged", "done"]
    assert svc.stop_channel(first)["outcome"].tolist() == ["unchanged"]
    with pytest.raises(svc.NotFound):
        svc.stop_channel(first["id"].item())


def test_a_search_of_words_without_a_result_says_what_is_searched(lab):
    svc.upload(b"needle", name="hay.txt")

    with pytest.warns(UserWarning, match="not the content of files"):
        assert svc.files(text="needle").empty


def test_a_slash_in_a_name_is_the_same_in_all_paths(lab):
    svc.upload(b"x", name="in/out.csv")
    file = pytest.importorskip("fsspec").filesystem("svc")

    assert svc.files(paths=True)["path"].tolist() == file.ls("", detail=False) == ["in%2Fout.csv"]


def test_a_button_of_a_form_can_be_called(lab):
    form = svc.event_form()
    form.value = {"summary": "Tea", "start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}}
    form.create()

    assert isinstance(form.result, pd.DataFrame)
    assert form.result["summary"].tolist() == ["Tea"]


@pytest.mark.parametrize(
    "address, status, words", [(None, 1, "Repository"), ("https://github.com/a/b", 0, "mybinder.org/v2/gh/a/b")]
)
def test_make_badge_says_what_it_did(address, status, words, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(binder_badge, "README", tmp_path / "README.md")
    monkeypatch.setattr(binder_badge, "repository", lambda: address)
    monkeypatch.setattr(binder_badge.sys, "argv", ["badge"])
    binder_badge.README.write_text("- **Binder**: x\n")

    assert binder_badge.main() == status
    assert words in capsys.readouterr().out
