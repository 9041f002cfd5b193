from urllib.parse import quote

import pytest

from tests.contract.conftest import Wire

FILES, CALENDARS = "/storage/v3/files", "/calendar/v3/calendars"


@pytest.fixture
def paths(wire: Wire) -> dict[str, str]:
    """The paths of a folder and a calendar that are shared with everybody, and of others."""
    folder_type = "application/vnd.svc-apps.folder"
    folder, own = (wire.post_json(FILES, {"name": n, "mimeType": folder_type}).json["id"] for n in ("folder", "own"))
    file, link = wire.create(b"shared")["id"], wire.create()["id"]
    for child, parent in ((file, folder), (link, own)):
        wire.json_request("PATCH", f"{FILES}/{child}?addParents={parent}", {})
    for public in (folder, link):
        wire.post_json(f"{FILES}/{public}/permissions", {"type": "anyone", "role": "reader"})
    calendar = wire.post_json(CALENDARS, {"summary": "Holidays"}).json["id"]
    wire.post_json(f"{CALENDARS}/{calendar}/acl", {"role": "reader", "scope": {"type": "default"}})
    return {
        "file": f"{FILES}/{file}?alt=media",
        "list": f"{FILES}?q=" + quote(f"'{folder}' in parents"),
        "events": f"{CALENDARS}/{calendar}/events?",
        "own": f"{FILES}/{own}?",
        "root": f"{FILES}/root?",
        "own list": f"{FILES}?q=" + quote(f"'{own}' in parents"),
        "every list": f"{FILES}?q=" + quote(f"'{folder}' in parents or name contains 'a'"),
        "primary": f"{CALENDARS}/primary/events?",
        "other": f"{CALENDARS}/ada@svc.example/events?",
        "permissions": f"{FILES}/{file}/permissions?",
        "about": "/storage/v3/about?fields=user",
        "bad token": f"{FILES}/{file}?access_token=bad",
    }


STATUSES = {
    "file": 200, "list": 200, "events": 200, "own": 404, "root": 404, "own list": 404, "every list": 400,
    "primary": 404, "other": 404, "permissions": 401, "about": 401, "bad token": 401,
}  # fmt: skip


@pytest.mark.policy(api_keys=True)
def test_a_key_reads_what_is_shared_with_everybody(wire: Wire, paths: dict[str, str]) -> None:
    answers = {name: wire.send("GET", f"{path}&key=K", token=None) for name, path in paths.items()}

    assert {name: answer.status for name, answer in answers.items()} == STATUSES
    assert answers["file"].body == b"shared"
    assert [file["id"] in paths["file"] for file in answers["list"].json["files"]] == [True]
    assert wire.send("DELETE", f"{paths['file']}&key=K", token=None).status == 401
    assert all("key=K" not in row["query"] and row["user"] != "" for row in wire.service.journal())


def test_a_key_is_no_token_by_default(wire: Wire, paths: dict[str, str]) -> None:
    assert {wire.send("GET", f"{path}&key=K", token=None).status for path in paths.values()} == {401}
