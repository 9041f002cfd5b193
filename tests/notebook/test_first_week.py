import io
import json
from pathlib import Path

import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.forms.file_browser.downloads import KERNEL
from tools import binder_badge

BOB = "bob@svc.example"


def bob(lab, **options):
    return lab.sign_in(BOB, **options)


def event(summary="a", start="2026-11-02", **arguments):
    return svc.create_event(summary, start=start, **arguments)


HINTS = {
    "a setting of the policy": (lambda lab: svc.sandbox(quota=5), r"policy=svc.Policy\(storage_limit=...\)"),
    "a setting by another name": (lambda lab: svc.Policy(quota=5), "did you mean 'storage_limit'"),
    "no https": (lambda lab: svc.watch_changes("http://a.example/in"), r"http://a.example/in\. Use a receiver\(\)"),
    "no domain": (lambda lab: svc.watch_changes("https://a.example/"), r"register_domain\(host\).*lab\.trust\(pem\)"),
    "a path": (lambda lab: svc.trash("/a/b/x.txt"), r"there is no 'a' at this place. files\(folder='root'\) lists"),
    "a path of two": (
        lambda lab: [svc.upload([b"1", b"2"], name=["t", "t"]), svc.read("svc://t")],
        "file is 'svc://t', the path of 2 files; give an id",
    ),
    "a name of none": (lambda lab: svc.upload([b"1", b"2"], name=["a", None]), "name has no text in row 1"),
    "an empty name": (lambda lab: svc.upload(b"1", name=""), "name has no text in row 0"),
    "a row as the id": (lambda lab: svc.upload(b"1", file_id=svc.upload(b"2")), r"update\(file, source\) changes a f"),
    "a user": (lambda lab: svc.files(session="b@c.example"), r"lab.sign_in\('b@c.example'\) returns the session"),
    "a month": (lambda lab: svc.files(modified_after="2026-13-01 10:00"), "month must be in 1..12"),
    "no day": (lambda lab: event(start="15:30"), "give its day too, as in '2026-11-02', 'today 15:30'"),
    "hours": (lambda lab: lab.clock.advance("1:30"), "write '1h30m'"),
    "a city": (lambda lab: svc.events(time_zone="New York"), r"did you mean America/New_York\?"),
    "the last day": (lambda lab: event(end="2026-11-02"), "The end of an all-day event is the day after its last day"),
    "a number": (lambda lab: svc.update(svc.upload(b""), properties={"year": 2026}), "must be texts: {'year': '2026'}"),
    "all sheets": (lambda lab: svc.read_frame("a", sheet_name=None), "read_frame reads one sheet.*read_excel"),
    "folders of a name": (lambda lab: svc.files(folder="Pair"), "'Pair', the path of 2 folders; give an id"),
    "no child of two": (lambda lab: svc.files(folder="Pair/none"), "there is no folder 'none'"),
    "a shared folder": (
        lambda lab: svc.files(folder="in", session=bob(lab)),
        "of this name is shared with this user; give its id",
    ),
    "inherited": (lambda lab: svc.unshare("Pair/in/a", BOB), "inherited from the folder 'in'; unshare that folder"),
    "the name of an event": (lambda lab: svc.update_event("Tea", summary="a"), r"events\('Tea'\) finds an event"),
    "a calendar as a file": (lambda lab: svc.delete(svc.create_calendar("a")), "execute.*deletes the calendar c_"),
    "event": (lambda lab: svc.delete(event()), "file is the row of an event, which update_event and delete_event take"),
    "a file as an event": (lambda lab: svc.delete_event(svc.upload(b"")), "a file, which update and delete take"),
    "a list of events": (lambda lab: svc.create_events([{}]), r"give pd.DataFrame\(rows\)"),
    "a field of all events": (
        lambda lab: svc.create_events(pd.DataFrame({"start": ["2026-11-02"]}), remiders=[10]),
        r"create_events\(\) has no argument 'remiders'; did you mean 'reminders'",
    ),
    "a series without an end": (
        lambda lab: [event(recurrence="daily"), svc.events(single_events=True)],
        "single_events needs time_max or limit, because the series 'a' has no end",
    ),
    "two calendars": (lambda lab: svc.events(calendar="Twin"), "'Twin', the name of 2 calendars; give an id: c_"),
    "fill a form": (lambda lab: svc.event_form().set(summary="a"), r"form.fill\(...\).*form.create.click\(\)"),
    "no such label": (lambda lab: svc.upload_form().fill(convert="document"), "did you mean 'convert_to'"),
    "fill content": (lambda lab: svc.upload_form().fill(b"a", name="b"), "label=value.*labels.* are notebook_file, "),
    "fill two files": (lambda lab: svc.upload_form().fill(files=["a", "b"]), "files must be one str or path, not 2 v"),
    "fill bytes": (lambda lab: svc.upload_form().fill(source=b"a"), "source must be one str or path, not bytes"),
    "upload no file": (lambda lab: svc.upload_form().upload(), "No file is selected"),
    "share no file": (lambda lab: svc.file_browser().share("bob@svc.example"), "No file is selected"),
    "run a form": (lambda lab: svc.upload_form().run, r"form.upload.click\(\).*svc.upload\(path\)"),
    "backwards": (lambda lab: lab.clock.advance("-1d"), r"moves the clock forward, not by '-1d'; clock.set"),
    "no end": (lambda lab: event(start="2026-11-02 10:00", time_zone="UTC"), r"Give end= or duration=\."),
    "no slides": (
        lambda lab: svc.upload(b"<p>a", name="a.html", convert_to="presentation"),
        r"A presentation can be made from pptx, .*odp.*; import_formats\(\) lists all types",
    ),
    "a size as text": (lambda lab: svc.upload(b"1", chunk_size="a lot"), "such as 262144 or '256 KB', not 'a lot'"),
    "revisions": (lambda lab: svc.list_revisions, r"no earlier versions of a file; copy\(file\)"),
    "a limit by the name of the list": (lambda lab: lab.limits(requests=5), r"lab.limit\(requests=5, per='60s'\)"),
    "a role by row": (lambda lab: svc.share("/Twin", [BOB], role=["reader", "writer"]), "2 values for 1 grantee"),
    "reminders": (lambda lab: event(reminders={"email": "1d"}), r"give a list such as \[10, \('email', '1 day'\)\]"),
    "an operation's last word": (lambda lab: lab.faults(operation="list", status=503), "did you mean files.list"),
    "no such file": (lambda lab: svc.import_events("nope.ics"), "the file 'nope.ics' does not exist"),
    "an array": (lambda lab: svc.upload(pd.Series([1.0]).to_numpy()), r"pandas.DataFrame\(array\) for an array"),
    "a misspelt field": (lambda lab: setattr(svc.event_form(), "value", {"sumary": "a"}), "did you mean 'summary'"),
    "control": (lambda lab: setattr(svc.upload_form().controls.file, "value", "a.txt"), r"form.fill\(...\) sets them"),
    "a key of a guest": (
        lambda lab: event(attendees=[{"email": "a@x.example", "optinal": True}]),
        "attendees has the unknown key 'optinal'; did you mean optional",
    ),
    "not an owner": (lambda lab: svc.files(owner="not me"), r"files\(.not 'me' in owners.\)"),
    "a tree of two": (lambda lab: svc.tree(["/Twin", "/Pair"]), "folder has 2 files or folders; give one folder"),
    "a last day": (lambda lab: event(last_day="2026-11-04"), "duration='3 days'"),
    "a calendar on the web": (lambda lab: svc.import_events("https://a.example/a.ics"), "give the content"),
    "several of a name": (
        lambda lab: [svc.upload([b"1", b"2"], name=["t", "t"]), svc.upload(b"3", name="t", overwrite=True)],
        r"name is 't', the name of 2 files; update\(id, source\) replaces one",
    ),
    "scope": (lambda lab: svc.files(session=bob(lab, scopes=["calendar"])), "files.list accepts: storage, storage."),
    "a missing role": (
        lambda lab: svc.update(svc.files(name="in"), name="b", session=bob(lab)),
        r"\(in\). The role writer is necessary, not reader",
    ),
    "no owner": (
        lambda lab: svc.delete(svc.files(name="in"), session=bob(lab)),
        r"Only the owner of file \S+ \(in\) may delete it",
    ),
    "no content": (lambda lab: lab.link(svc.create_file("a", mime_type="document"), content=True), "has no content"),
    "two formats": (
        lambda lab: svc.export(svc.upload(b"a", name="a", convert_to="document"), ["docx", "pdf"]),
        "call export once for each format, with to='exports/'",
    ),
    "no such span": (lambda lab: svc.free_times("primary", within="this term"), "a date, 'this week' or a pair"),
    "a text that is no time": (
        lambda lab: svc.files(modified_after="2026-01-12 at 9"),
        "^modified_after is '2026-01-12 at 9'; write a date as",
    ),
    "sheets of a text file": (
        lambda lab: svc.upload({"a": pd.DataFrame({"x": [1]})}, name="a.csv"),
        "a dict of DataFrames has several sheets; name the file .xlsx",
    ),
    "sheets of one name": (
        lambda lab: svc.upload({name: pd.DataFrame({"x": [1]}) for name in "aA"}, name="a.xlsx"),
        "'A' cannot name a s",
    ),
    "a misspelt field of a file": (
        lambda lab: svc.upload(b"1", decription="a"),
        r"upload\(\) has no argument 'decription'; did you mean 'description'",
    ),
    "a size of files": (lambda lab: svc.files(min_size=5), "larger_than='5 MB' and smaller_than"),
    "a size in words": (lambda lab: svc.files(larger_than="a lot"), "larger_than must be a number of bytes"),
    "the export of a folder": (
        lambda lab: svc.export("Pair/in", "pdf"),
        r"download\(folder\) saves its files, and export\(files\(folder=",
    ),
    "busy times": (lambda lab: svc.free_times(BOB, within="2026-11-02"), "share_calendar.*role='freeBusyReader'"),
    "channel": (lambda lab: svc.changes(svc.files()), r"give a result of changes\(\) or watch_changes"),
    "a refresh token": (lambda lab: lab.refresh_token, r"create_refresh_token\(lab.oauth_client\(name\)\)"),
    "a refresh token of no program": (
        lambda lab: lab.create_refresh_token("notebook"),
        r"'notebook', which is not registered; give lab.oauth_client",
    ),
    "a probability": (lambda lab: lab.faults(status=503, probability=3), "probability must be a number from 0 to 1"),
    "a seed": (lambda lab: lab.faults(status=503, probability=0.5, seed="a"), "seed must be a whole number"),
    "every third request": (lambda lab: lab.faults(status=503, every=3), "nth=3 the third"),
}


@pytest.mark.parametrize("case", HINTS)
def test_the_message_says_what_works(lab, case):
    for name in ("Twin", "Twin"):
        svc.create_calendar(name)
    svc.create_file("Pair", mime_type="folder")
    svc.upload(b"", name="a", folder=svc.create_folder("in", svc.create_file("Pair", mime_type="folder")))
    svc.share("Pair/in", "bob@svc.example")
    call, words = HINTS[case]

    with pytest.raises((TypeError, ValueError, AttributeError, OSError, svc.SvcError), match=words):
        call(lab)


@pytest.fixture
def shelf(lab):
    svc.create_calendar("Abroad", time_zone="America/New_York")
    svc.upload(b"hello", name="a.txt", folder=svc.create_folder("2026/Lab"))
    svc.create_file("b/c.txt", folder="2026/Lab", mime_type="text/plain")


def test_what_a_newcomer_writes_of_files_works(shelf):
    assert svc.files(larger_than=4)["name"].tolist() == ["a.txt"]
    assert svc.files(smaller_than="4 B", limit=1)["name"].tolist() == ["b/c.txt"]
    svc.assert_exchanges("GET * 200", after=len(svc.exchanges()) - 1)
    assert svc.read("/2026/Lab/a.txt") == b"hello"
    assert svc.file("svc://2026/Lab/a.txt", fields="name")["name"].tolist() == ["a.txt"]
    modified = svc.update("2026/Lab/a.txt", modified_time="2026-01-02 10:00")["modified_time"]
    assert modified.astype(str).tolist() == ["2026-01-02 10:00:00+00:00"]
    assert svc.share("/2026", pd.DataFrame({"email": [BOB], "role": ["writer"]}))["role"].tolist() == ["writer"]
    assert svc.share("/2026", {"a@x.example": "writer"})["role"].tolist() == ["writer"]

    assert svc.read(svc.upload(b"top", name="top.txt")["name"][0]) == b"top"
    assert svc.upload(b"1", name="n", file_id=svc.generate_ids(1))["size"].tolist() == [1]
    assert len(svc.upload([b"1", b"2"], file_id=svc.generate_ids(2))) == 2
    versions = [svc.upload(text, name="n.txt", overwrite=True) for text in (b"1", b"22")]
    checksums = ["c4ca4238a0b923820dcc509a6f75849b", "b6d767d2f8ed5d21a44b0e5886680cb9"]
    assert [version["md5_checksum"].item() for version in versions] == checksums
    assert versions[1]["id"].item() == svc.file("n.txt")["id"][0]
    assert svc.upload(bytes(300_000), name="n", chunk_size="256 KB")["size"].tolist() == [300_000]
    contents = pd.Series([b"1", b"22"], index=[7, 9])
    assert svc.upload(contents, name=pd.Series(["n", "m"]))["size"].tolist() == [1, 2]
    buffer = io.BytesIO()
    buffer.write(b"1,2")
    assert svc.upload(buffer)["size"].item() == 3
    svc.upload(b"", to="2026", name="b")
    assert svc.read("2026/b") == b""
    fields = svc.upload([b"1", b"2"], name=["a", "b"], description=["x", "y"], starred=True)
    assert fields[["description", "starred"]].values.tolist() == [["x", True], ["y", True]]
    channel = svc.watch_changes(svc.receiver(direct=True))
    svc.upload(b"", name="changed")
    svc.changes()
    assert [svc.changes(since)["name"].tolist() for since in (channel, channel.iloc[0])] == [["changed"]] * 2

    assert svc.create_folder("Top")["id"].item() == svc.create_folder("Top")["id"].item()
    assert [svc.create_folder("New", starred=flag)["starred"].item() for flag in (True, False)] == [True, False]
    svc.create_file("2026", mime_type="folder")  # of two folders of a name only one has a folder Lab
    assert svc.files(folder="2026/Lab", order_by="name")["name"].tolist() == ["a.txt", "b/c.txt"]
    assert svc.copy("2026/Lab/b%2Fc.txt", name="d")["name"].tolist() == ["d"]
    sheets = {"a": pd.DataFrame({"x": [1]}), "b": pd.DataFrame({"y": [2]})}
    assert svc.read_frame(svc.upload(sheets, name="a.xlsx"), sheet_name="b")["y"].tolist() == [2]
    changed = svc.update("2026/Lab/a.txt", {"b": sheets["b"]}, name="a.xlsx")
    assert svc.read_frame(changed)["y"].tolist() == [2]
    assert svc.trash("2026/Lab")["name"].tolist() == ["Lab"]


def test_what_a_newcomer_writes_of_events_works(shelf):
    assert svc.events(order_by="start", single_events=True, time_max="2027-01-01").empty
    assert sorted(set(svc.free_times("primary", within="next week")["start"].dt.day)) == [*range(12, 19)]
    assert len(svc.free_times("Abroad", within="2026-11-02")) == 8
    event(recurrence="daily, 3 times")
    assert len(svc.events(single_events=True)) == 3
    roles = svc.share_calendar("primary", ["a@x.example", "b@x.example"], role=["writer", "reader"])["role"]
    assert roles.tolist() == ["writer", "reader"]

    assert event(reminders="1 day")["reminders"][0]["overrides"][0]["minutes"] == 1440
    days = pd.DataFrame({"summary": ["a", "b"], "start": "2026-11-02 10:00", "duration": "1h"})
    assert svc.create_events(days, calendar="Abroad")["start"].tolist() == [pd.Timestamp("2026-11-02 15:00Z")] * 2
    made = svc.create_events(days.assign(color="Banana"), location="Riga")[["start", "color_id", "location"]]
    assert made.values.tolist() == [[pd.Timestamp("2026-11-02 10:00Z"), "5", "Riga"]] * 2
    assert svc.create_event(title="Tea", place="Riga", start="2026-11-02")["location"].tolist() == ["Riga"]
    svc.create_events(pd.DataFrame({"title": ["Walk"], "place": "Riga", "start": "2026-11-02"}))
    assert svc.events("Walk")["location"].tolist() == ["Riga"]

    times = [
        event(start="2026-11-02 10:00", end="11:00")["start"],
        event(start="2026-11-02 10:00", duration="1h", calendar="Abroad")["start"],
        event(start="2026-01-12 9:00", end="11", time_zone="UTC")["end"],
        event(start="tomorrow at 9", duration="1h", time_zone="UTC")["start"],
    ]
    assert [str(time[0]) for time in times] == [
        *("2026-11-02 10:00:00+00:00", "2026-11-02 10:00:00-05:00"),
        *("2026-01-12 11:00:00+00:00", "2026-01-06 09:00:00+00:00"),
    ]
    form = svc.event_form(summary="Tea", start="2026-11-02 10:00", time_zone="Asia/Tokyo", duration="2h")
    assert form.value["end"] == {"dateTime": "2026-11-02T12:00:00", "timeZone": "Asia/Tokyo"}


def test_update_event_takes_a_value_for_each_event(lab):
    times = [pd.Timestamp("2026-11-02 10:00", tz="UTC"), pd.Timestamp("2026-11-03 10:00", tz="UTC")]
    made = svc.create_events(pd.DataFrame({"summary": ["a", "b"], "start": times, "duration": "1h"}))

    moved = svc.update_event(made, start=made["start"] + pd.Timedelta("1h"), location=["Rome", None])
    assert (moved["start"] - made["start"]).tolist() == [pd.Timedelta("1h")] * 2
    assert moved["location"].fillna("").tolist() == ["Rome", ""]
    with pytest.raises(ValueError, match="location is a list with 1 value for 2 events"):
        svc.update_event(made, location=["Rome"])
    with pytest.raises(ValueError, match="event names an event several times"):
        svc.update_event([made["id"][0]] * 2, summary=["a", "b"])


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: svc.upload(b"1", name="a/b.txt"), "folder='a', name='b.txt' is in a folder"),
        (lambda: svc.upload(b"<h1>Hi</h1>", convert_to="document"), "give mime_type='text/html'"),
        (
            lambda: svc.update(svc.create_file("a", mime_type="document"), b"<p>Hi</p>"),
            "looks like HTML, but was converted as plain text",
        ),
        (lambda: svc.create_event("a", start="2026-11-02 10:00Z", duration=60), "write '60 min' for minutes"),
        (lambda: svc.events(time_zone="EST"), "'America/New_York' has it"),
        (
            lambda: event(metadata={"source": {"titel": "a"}}),
            "source.titel is not a field of an event, and services ignore it; did you mean 'title'",
        ),
        (
            lambda: svc.update_event(event(), metadata={"colour": "x"}),
            "colour is not a field .* did you mean 'colorId'",
        ),
        (lambda: svc.export_events(svc.delete_event(event())), "events has deleted events, which are not in the file"),
        (
            lambda: [
                file := svc.upload(b"1"),
                svc.share(file, "bob@svc.example", role="writer"),
                svc.share(file, "Bob@svc.example")["role"].tolist() == ["writer"] or svc.about("no"),
            ],
            "keeps the role writer; role='reader' lowers it",
        ),
        (lambda: svc.files("fullText contains 'osprey'"), "no file has the words 'osprey'"),
    ],
)
def test_a_probable_mistake_is_a_warning(lab, call, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.warns(UserWarning, match=words):
        call()


@pytest.mark.parametrize(
    "path, near",
    [
        ("/files/abc", "/storage/v3/files/abc"),
        ("/files", "; did you mean /storage/v3/files?"),
        ("/storage/v3/file", "/storage/v3/files"),
        ("/upload/storage/v3/flies", "/upload/storage/v3/files"),
        ("/storage/v3/files/x/comments", "comments"),
        ("/a/b", "at this address"),
        ("/calendar/v3/calendars/primary/event", "; did you mean /calendar/v3/calendars/primary/events?"),
        ("/nonsense", "; the interface is below /storage/v3/ and /calendar/v3/."),
        ("/storage/v3/nonsense", "Of the operations of its family, it leaves out"),
    ],
)
def test_the_404_of_an_unknown_path_names_one_that_exists(lab, path, near):
    response = lab.send("GET", path)

    assert response.status == 404
    assert near in json.loads(response.body)["error"]["message"]


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


def test_a_response_is_for_the_messages_after_it_and_a_wait_names_one_that_is_sent_again(lab):
    rx = svc.receiver(direct=True)
    svc.watch_changes(rx)
    rx.answer_with(503, times=1)
    svc.upload(b"1")
    with pytest.raises(TimeoutError, match=r"change was answered with 503 .* after lab\.clock\.advance"):
        rx.wait_for("change", count=2, timeout=0.1)
    lab.clock.advance("10s")
    assert rx.messages()["answers"].tolist() == ["200", "503, 200"]


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


def test_a_refused_watch_call_does_not_set_the_position_and_channels_that_are_stopped_stay_stopped(lab):
    with pytest.raises(svc.BadRequest):
        svc.watch_changes("http://a.example/in")
    svc.upload(b"x")
    assert svc.changes().empty

    first = svc.watch_changes(svc.receiver(direct=True))
    svc.renew_channel(first)
    assert svc.stop_channel(svc.channels())["outcome"].tolist() == ["unchanged", "done"]
    assert svc.stop_channel(first)["outcome"].tolist() == ["unchanged"]
    with pytest.raises(svc.NotFound):
        svc.stop_channel(first["id"].item())


def test_a_search_of_words_without_a_result_says_what_is_searched_and_a_file_is_given_once(lab):
    file_id = svc.upload(b"needle", name="hay")["id"].item()
    with pytest.warns(UserWarning, match="not the content of files"):
        assert svc.files(text="needle").empty
    with pytest.raises(ValueError, match="twice, under two names"):
        svc.update(["hay", file_id], [b"A", b"B"])
    assert svc.read("hay") == b"needle"


def test_a_slash_in_a_name_is_the_same_in_all_paths(lab):
    svc.create_file("in/out.csv", mime_type="text/csv")
    file = pytest.importorskip("fsspec").filesystem("svc")

    assert svc.files(paths=True)["path"].tolist() == file.ls("", detail=False) == ["in%2Fout.csv"]


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


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "+05:30"])
def test_update_event_keeps_the_zone_of_a_series_for_times_in_another_zone(lab, zone):
    made = svc.create_event(
        "a", start="2026-10-19 15:00", duration="1h", time_zone="Europe/Berlin", recurrence="weekly, 3 times"
    )
    listed = svc.events("a")

    svc.update_event(listed, start=listed["start"].dt.tz_convert(zone) + pd.Timedelta("1h"))
    moved = svc.instances(made)
    assert moved["start"].dt.strftime("%H:%M").tolist() == ["16:00"] * 3


def test_the_value_of_an_event_form_may_be_the_arguments_of_create_event(lab):
    form = svc.event_form()
    form.value = {"summary": "Exam", "start": "2026-11-02 09:00", "time_zone": "Asia/Tokyo", "send_updates": "all"}
    assert form.value["start"] == {"dateTime": "2026-11-02T09:00:00", "timeZone": "Asia/Tokyo"}
    assert form.draft.arguments["send_updates"] == "all"
    assert "metadata" not in form.code()
    form.create()  # as form.create.click()
    assert isinstance(form.result, pd.DataFrame)
    assert str(form.result["start"].item()) == "2026-11-02 09:00:00+09:00"


def test_read_and_download_compare_a_known_checksum_and_count_attempts(lab, tmp_path):
    file = svc.upload(b"1,2", name="a.csv")
    wrong = {"operation": "files.get", "status": 200, "body": "3,4"}

    for call in (svc.read, svc.read_frame):
        faults = [lab.faults(**wrong, nth=n) for n in (1, 4, 7)]
        with faults[0], faults[1], faults[2], pytest.raises(svc.ContentMismatch, match="in each of 3 downloads"):
            call(file)
    with lab.faults(**wrong):
        assert svc.read(file) == b"1,2"
    with lab.faults(**wrong) as fault:
        assert svc.download(file, tmp_path)["attempts"].item() == 2
    assert fault.hits == 1
    svc.update(file, b"5,6,7")
    assert svc.read(file) == b"5,6,7"
    svc.download(file, tmp_path, overwrite=True)
    assert svc.download(file, tmp_path)["outcome"].item() == "unchanged", "an old row has another size"


def test_a_fault_tells_when_to_try_again_or_has_another_reason(lab):
    with lab.faults(operation="files.list", retry_after="5s"):
        svc.files()
    assert svc.exchange(-2).status == 429
    assert dict(svc.exchange(-2).response_headers)["Retry-After"] == "5"
    assert lab.clock.advance(hours=3) == lab.clock.now()
    with lab.faults(status=403, reason="forbidden"), pytest.raises(svc.NotAllowed, match="403 forbidden"):
        svc.files()


def test_fill_sets_the_controls_of_a_form(lab, tmp_path):
    form = svc.upload_form()

    form.fill(name="b", convert_to="document")
    assert form.code() == "svc.upload('...', convert_to='document', name='b')"
    for label in ("notebook_file", "file", "files", "path", "paths", "source"):
        for path in ("a.csv", Path("a.csv"), ["a.csv"]):
            form = svc.upload_form()
            form.fill(**{label: path}, metadata_json={"starred": True}, name=None)
            assert form.code() == "svc.upload('a.csv', metadata={'starred': True})"
    document = svc.upload(b"a", name="a", convert_to="document")
    form = svc.export_form()
    form.fill(file=document, format="docx")
    assert form.code().endswith(", 'docx')")
    form = svc.event_form()
    form.fill(summary="Tea", start="2026-11-02 10:00", end="11:00", time_zone="Asia/Tokyo")
    assert form.value["start"] == {"dateTime": "2026-11-02T10:00:00", "timeZone": "Asia/Tokyo"}
    with pytest.raises(AttributeError, match=r"form\.fill"):
        svc.upload_form().value = {}
    with pytest.raises(ValueError, match="convert_to is 'slides'; it must be one of None"):
        svc.upload_form().fill(convert_to="slides")
    file = svc.upload(b"1", name="a.txt")
    browser = svc.file_browser()
    browser.selection = file
    assert browser.selection["name"].tolist() == ["a.txt"]


def test_a_new_path_without_an_extension_is_a_folder(lab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = svc.upload(b"1", name="a.csv")
    document = svc.upload(b"Hi", name="Doc", convert_to="document")

    assert svc.download(file, "new")["path"].tolist() == [str(Path("new/a.csv"))]
    assert svc.export(document, "txt", "docs/new")["path"].tolist() == [str(Path("docs/new/Doc.txt"))]
    for folder in ("slash/", "bare"):
        form = svc.export_form(document)
        form.controls.format.value = "text/plain"
        form.controls.target.value, form.controls.path.value = KERNEL, folder
        form.export()
        assert form.result["path"].tolist() == [str(Path(folder, "Doc.txt"))]
    Path("taken").write_bytes(b"2")
    for overwrite in (False, True):
        with pytest.raises(svc.PathExists, match=r"is a file, where a folder must be\..*Choose another folder"):
            svc.download(file, "taken/", overwrite=overwrite)
    assert Path("taken").read_bytes() == b"2"


def test_a_limit_in_units_that_refuses_every_list_is_named():
    with pytest.warns(UserWarning, match="rate_costs='requests' counts requests"):
        svc.sandbox(policy=svc.Policy(rate_limit=5)).close()


@pytest.mark.parametrize(
    "name, near", [("Forbidden", "NotAllowed"), ("Unauthorized", "NotSignedIn"), ("Conflict", "AlreadyExists")]
)
def test_a_name_of_another_library_is_answered_with_ours(name, near):
    with pytest.raises(AttributeError, match=f"did you mean {near}"):
        getattr(svc, name)


@pytest.mark.parametrize(
    "form, values, words",
    [
        (svc.export_form, {"to": "x"}, "save_as='kernel', path='folder/'"),
        (svc.export_form, {"x": 1}, "document, format, save_as, path, file, files, paths, source$"),
        (svc.upload_form, {"description": "x"}, r"metadata_json=\{'description': ...\}"),
        (svc.file_browser, {"files": "a.csv"}, "browser.selection = 'a.csv'"),
        (svc.file_browser, {"name": "*.csv"}, "did you mean 'search'"),
    ],
)
def test_fill_names_the_control_that_is_meant(lab, form, values, words):
    with pytest.raises(TypeError, match=words):
        form().fill(**values)


def test_a_program_searches_and_selects_in_the_file_browser(lab):
    svc.upload([b"1", b"2", b"1", b"2"], name=["a.csv", "b.txt", "dup", "dup"])
    svc.upload(b"3", name="c.csv", folder=svc.create_folder("Data"))
    browser = svc.file_browser()
    with pytest.raises(ValueError, match="2 files in the list have the name 'dup'"):
        browser.selection = "dup"
    assert browser.selection.empty
    browser.search("a.")
    assert browser.result["name"].tolist() == ["a.csv"]
    browser.fill(search="")
    browser.selection = ["a.csv", "b.txt"]
    assert sorted(browser.selection["name"]) == ["a.csv", "b.txt"]
    for hidden in ("Data/c.csv", "nope"):
        with pytest.raises(ValueError, match="1 file not in the list"):
            browser.selection = hidden
    browser.trash("b.txt")
    browser.open("Data")
    browser.selection = "c.csv"
    assert browser.selection["name"].tolist() == ["c.csv"]
    with pytest.raises(TypeError, match="is a button, which takes no value"):
        svc.upload_form().upload("a.csv")


@pytest.mark.parametrize("run", range(9))
def test_the_messages_before_a_stop_are_delivered_in_every_run(lab, run):
    svc.stop_channel(svc.watch_changes(svc.receiver(direct=True)))
    lab.deliver()
    assert lab.deliveries()[["state", "outcome"]].values.tolist() == [["sync", "delivered"]]
