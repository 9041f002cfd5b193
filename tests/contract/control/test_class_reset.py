import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from svc_notebooks.cli import main
from svc_notebooks.server.dispatch.service_context import Quota
from tests.contract.school import ABOUT, ADA, BOB, EVE, UPLOAD, School, reopened

FILES = "/storage/v3/files"
EVENTS = "/calendar/v3/calendars/primary/events"
FIELDS = "id,name,size,md5Checksum,parents,trashed,starred,properties,permissions,createdTime,modifiedTime"
RESET, RESTORE, BACKUPS = (f"/_control/class/{name}" for name in ("reset", "restore", "backups"))


@pytest.fixture
def school(tmp_path: Path) -> Iterator[School]:
    school = School(tmp_path, quota=Quota())
    with school.service:
        yield school


def share(school: School, who: Any, file: str, other: Any, role: str) -> None:
    body = {"type": "user", "role": role, "emailAddress": other.email}
    assert school.send(who, "POST", f"{FILES}/{file}/permissions", body)[0] == 200


def work(school: School) -> dict[str, str]:
    """Let Bob use everything. Return the ids of his things."""
    folder = school.send(BOB, "POST", FILES, {"name": "ponds", "mimeType": school.service.names.native("folder")})[1]
    shared = school.upload(BOB, b"counts")
    school.send(BOB, "PATCH", f"{FILES}/{shared}", {"name": "counts.csv", "starred": True, "properties": {"a": "b"}})
    school.send(BOB, "PATCH", f"{FILES}/{shared}?addParents={folder['id']}", {})
    share(school, BOB, shared, EVE, "reader")
    copy = school.send(BOB, "POST", f"{FILES}/{shared}/copy", {"name": "copy.csv"})[1]["id"]
    school.send(BOB, "PATCH", f"{FILES}/{copy}", {"trashed": True})
    school.send(BOB, "POST", UPLOAD + "resumable")
    session = school.location.removeprefix("http://127.0.0.1")
    status, _ = school.send(BOB, "PUT", session, b"x" * 262_144, Content_Range="bytes 0-262143/300000")
    assert status == 308
    times = {"start": {"dateTime": "2026-11-02T10:00:00Z"}, "end": {"dateTime": "2026-11-02T11:00:00Z"}}
    event = school.send(BOB, "POST", EVENTS, {"summary": "Tea", "attendees": [{"email": EVE.email}], **times})[1]["id"]
    calendar = school.send(BOB, "POST", "/calendar/v3/calendars", {"summary": "Ponds"})[1]["id"]
    school.send(BOB, "POST", f"/calendar/v3/calendars/{calendar}/events", {"summary": "Count", **times})
    page = school.send(BOB, "GET", "/storage/v3/changes/startPageToken")[1]["startPageToken"]
    channel = {"id": "bob-1", "type": "web_hook", "address": "https://hooks.example/in"}
    assert school.send(BOB, "POST", f"/storage/v3/changes/watch?pageToken={page}", channel)[0] == 200
    return {"folder": folder["id"], "shared": shared, "session": session, "event": event, "calendar": calendar}


def everything(school: School) -> dict[str, Any]:
    """What Bob has, as the interface shows it."""
    files = school.send(BOB, "GET", f"{FILES}?fields=files({FIELDS})&pageSize=1000")[1]["files"]
    calendars = [row["id"] for row in school.send(BOB, "GET", "/calendar/v3/users/me/calendarList")[1]["items"]]
    lists = [school.send(BOB, "GET", f"/calendar/v3/calendars/{calendar}/events")[1] for calendar in calendars]
    events = [item for listed in lists for item in listed["items"]]
    contents = {file["id"]: school.send(BOB, "GET", f"{FILES}/{file['id']}?alt=media")[1] for file in files}
    return {
        "files": sorted(files, key=lambda file: str(file["id"])),
        "contents": {key: value for key, value in contents.items() if isinstance(value, bytes)},
        "calendars": sorted(calendars),
        "events": sorted(events, key=lambda event: str(event["id"])),
        "usage": school.send(BOB, "GET", ABOUT)[1]["storageQuota"]["usage"],
    }


def test_a_reset_student_has_nothing_and_can_begin_again(school: School) -> None:
    own = work(school)
    root = school.send(BOB, "GET", f"{FILES}/root")[1]["id"]

    status, answer = school.send(ADA, "POST", RESET, {"user": BOB.email})

    assert (status, answer["user"]) == (200, BOB.email)
    counts = {"files": 3, "uploads": 1, "calendars": 1, "events": 2, "channels": 1}
    assert counts.items() <= answer.items()
    after = everything(school)
    assert (after["files"], after["events"], after["calendars"], after["usage"]) == ([], [], [BOB.email], "0")
    assert school.send(BOB, "PUT", own["session"], b"", Content_Range="bytes */300000")[0] == 404
    assert school.reason(EVE, "GET", f"{FILES}/{own['shared']}") == (404, "notFound")
    assert school.send(BOB, "GET", f"{FILES}/root")[1]["id"] == root
    assert school.upload(BOB, b"new")


def test_the_backup_restores_everything(school: School) -> None:
    own = work(school)
    before = everything(school)
    backup = school.send(ADA, "POST", RESET, {"user": BOB.email})[1]["backup"]
    new = school.upload(BOB, b"in between")

    status, answer = school.send(ADA, "POST", RESTORE, {"backup": backup})

    assert (status, answer["user"], answer["files"], answer["events"]) == (200, BOB.email, 3, 2)
    assert everything(school) == before
    assert before["contents"][own["shared"]] == b"counts"
    assert school.send(EVE, "GET", f"{FILES}/{own['shared']}?alt=media")[1] == b"counts"
    rest = b"x" * (300_000 - 262_144)
    assert school.send(BOB, "PUT", own["session"], rest, Content_Range="bytes 262144-299999/300000")[0] == 200
    assert school.reason(BOB, "GET", f"{FILES}/{new}") == (404, "notFound")


def test_the_state_before_a_restore_is_a_backup_too(school: School) -> None:
    first = school.send(ADA, "POST", RESET, {"user": BOB.email})[1]["backup"]
    new = school.upload(BOB, b"in between")
    second = school.send(ADA, "POST", RESTORE, {"backup": first})[1]["backup"]
    gone = school.send(BOB, "GET", f"{FILES}/{new}")[0]

    school.send(ADA, "POST", RESTORE, {"backup": second})

    assert (gone, school.send(BOB, "GET", f"{FILES}/{new}?alt=media")) == (404, (200, b"in between"))
    rows = school.send(ADA, "GET", BACKUPS)[1]["backups"]
    assert len(rows) == 3
    assert {row["user"] for row in rows} == {BOB.email}


def test_others_lose_nothing(school: School) -> None:
    own = work(school)
    share(school, BOB, own["folder"], EVE, "writer")
    guest = school.send(EVE, "POST", FILES, {"name": "by Eve", "parents": [own["folder"]]})[1]["id"]
    mine = school.upload(EVE, b"own")
    share(school, EVE, mine, BOB, "reader")

    school.send(ADA, "POST", RESET, {"user": BOB.email})

    root = school.send(EVE, "GET", f"{FILES}/root")[1]["id"]
    assert school.send(EVE, "GET", f"{FILES}/{guest}?fields=parents")[1] == {"parents": [root]}
    assert school.send(BOB, "GET", f"{FILES}/{mine}?alt=media") == (200, b"own")
    assert [event["summary"] for event in school.send(EVE, "GET", EVENTS)[1]["items"]] == ["Tea"]


def test_a_backup_lasts_over_a_restart_and_holds_no_token(school: School, tmp_path: Path) -> None:
    work(school)
    before = everything(school)
    answer = school.send(ADA, "POST", RESET, {"user": BOB.email})[1]
    content = Path(answer["path"]).read_bytes()
    tokens = school.tokens()
    assert main(["backup", str(school.service.folder), str(tmp_path / "copy")]) == 0

    with (again := reopened(school, (ADA, BOB, EVE))).service:
        again.send(ADA, "POST", RESTORE, {"backup": answer["path"]})
        assert everything(again) == before
        assert again.tokens() == tokens
    assert not any(token.encode() in content for token in tokens.values())
    assert EVE.name.encode() not in content
    assert stat.S_IMODE(Path(answer["path"]).stat().st_mode) == 0o600
    assert (tmp_path / "copy" / "user-backups" / answer["backup"]).is_file()


def test_a_student_can_neither_reset_nor_restore(school: School) -> None:
    backup = school.send(ADA, "POST", RESET, {"user": BOB.email})[1]["backup"]
    kept = school.upload(BOB, b"keep")

    for path, body in ((RESET, {"user": BOB.email}), (RESTORE, {"backup": backup})):
        assert school.reason(BOB, "POST", path, body) == (403, "forbidden")
        assert school.reason(None, "POST", path, body) == (401, "authError")
    assert school.send(BOB, "GET", f"{FILES}/{kept}?alt=media")[1] == b"keep"


def test_an_invalid_call_is_refused(school: School) -> None:
    zoe = {"user": "zoe@school.example"}
    invalid = [(RESTORE, {"backup": "../svc.sqlite"}), (RESTORE, {"backup": 5}), (RESTORE, {"user": BOB.email})]

    for path, body in ((RESET, zoe), (RESET, {}), ("/_control/class/revoke", zoe), *invalid):
        assert school.reason(ADA, "POST", path, body) == (400, "badRequest")
    assert not (school.service.folder / "user-backups").exists()  # type: ignore[operator]


def test_a_damaged_backup_and_one_that_cannot_be_written_change_nothing(school: School) -> None:
    work(school)
    before = everything(school)
    folder = school.service.folder / "user-backups"  # type: ignore[operator]
    folder.write_text("in the way")
    assert school.send(ADA, "POST", RESET, {"user": BOB.email})[0] >= 400
    assert everything(school) == before
    folder.unlink()
    path = Path(school.send(ADA, "POST", RESET, {"user": BOB.email})[1]["path"])
    kept = school.upload(BOB, b"keep")
    content = bytearray(path.read_bytes())
    content[content.index(b"counts")] ^= 1
    path.write_bytes(content)

    assert school.reason(ADA, "POST", RESTORE, {"backup": path.name}) == (400, "badRequest")
    assert school.send(BOB, "GET", f"{FILES}/{kept}?alt=media")[1] == b"keep"


def test_the_journal_of_one_student_and_the_steps_of_an_exercise(school: School) -> None:
    own = work(school)
    before = len(school.service.journal())
    school.send(EVE, "GET", ABOUT)
    school.send(BOB, "PUT", own["session"], b"", Content_Range="bytes */300000")
    school.send(BOB, "PUT", own["session"], b"x" * 37_856, Content_Range="bytes 262144-299999/300000")

    rows = school.send(ADA, "GET", f"/_control/journal?user={BOB.email}")[1]["journal"]
    later = school.send(ADA, "GET", "/_control/journal", {"user": BOB.email, "since": before + 2})[1]["journal"]
    steps = school.send(ADA, "GET", "/_control/class/steps")[1]["steps"]

    assert {row["user"] for row in rows} == {BOB.email}
    assert (len(rows), later) == (before + 2, rows[-1:])
    assert school.reason(ADA, "GET", "/_control/journal", {"since": -1}) == (400, "badRequest")
    resumed = [row for row in steps if row["exercise"] == "go-on-where-it-stopped"]
    expected = [("Bob", 1, 2, "Query the stored size"), ("Bob", 2, 2, "Send the rest")]
    assert [(row["name"], row["step"], row["of"], row["text"]) for row in resumed] == expected
    students = school.send(ADA, "GET", "/_control/class/students")[1]["students"]
    assert students[1]["exercises"]["Resume an upload"] == [2, 2]
    assert json.dumps(students[2]["exercises"]) == "{}"
