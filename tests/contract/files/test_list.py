from typing import Any
from urllib.parse import quote

import pytest

from tests.contract.conftest import Answer, Wire

FILES = "/storage/v3/files"


def ask(wire: Wire, q: str = "", **query: Any) -> Answer:
    pairs = {**({"q": q} if q else {}), **query}
    return wire.send("GET", f"{FILES}?" + "&".join(f"{k}={quote(str(v))}" for k, v in pairs.items()))


def names(answer: Answer) -> list[str]:
    assert answer.status == 200, answer.body
    return sorted(f["name"] for f in answer.json["files"])


@pytest.fixture
def shelf(wire: Wire) -> Wire:
    """Create a few files, a day apart."""
    folder = wire.post_json(FILES, {"name": "Reports", "mimeType": "application/vnd.svc-apps.folder"}).json["id"]
    for metadata in (
        {"name": "Annual Report.pdf", "mimeType": "application/pdf", "parents": [folder], "starred": True},
        {"name": "annual budget.csv", "mimeType": "text/csv", "properties": {"year": "2026"}},
        {"name": "it's.txt", "mimeType": "text/plain", "description": "a quoted zebra"},
    ):
        wire.service.clock.advance("1d")
        wire.post_json(FILES, metadata)
    wire.folder = folder  # type: ignore[attr-defined]
    return wire


@pytest.mark.parametrize(
    "q, expected",
    [
        ("name contains 'annual'", ["Annual Report.pdf", "annual budget.csv"]),
        ("name contains 'rep'", ["Annual Report.pdf", "Reports"]),
        ("name contains 'eport'", []),
        ("name = 'ANNUAL BUDGET.CSV'", ["annual budget.csv"]),
        (r"name = 'it\'s.txt'", ["it's.txt"]),
        ("name != 'Reports' and not name contains 'annual'", ["it's.txt"]),
        ("mimeType = 'text/csv' or mimeType = 'text/plain'", ["annual budget.csv", "it's.txt"]),
        ("mimeType contains 'text/'", ["annual budget.csv", "it's.txt"]),
        ("mimeType != 'application/vnd.svc-apps.folder' and (starred = true or name contains 'it')", ["Annual Report.pdf", "it's.txt"]),  # noqa: E501
        ("starred = true", ["Annual Report.pdf"]),
        ("trashed = true", []),
        ("'root' in parents and starred = false", ["Reports", "annual budget.csv", "it's.txt"]),
        ("'me' in owners and mimeType = 'text/csv'", ["annual budget.csv"]),
        ("'nobody@svc.example' in owners", []),
        ("properties has {key='year' and value='2026'}", ["annual budget.csv"]),
        ("properties has {key='year' and value='2025'}", []),
        ("fullText contains 'zebra'", ["it's.txt"]),
        ("sharedWithMe = true", []),
        ("name = 'a' or name = 'it\\'s.txt' and mimeType = 'text/plain'", ["it's.txt"]),
        ("not not name = 'Reports'", ["Reports"]),
        ("not (name contains 'annual' and starred = true)", ["Reports", "annual budget.csv", "it's.txt"]),
        ('NOT name Contains "annual" And name != "it\'s.txt" OR starred = TRUE', ["Annual Report.pdf", "Reports"]),
        (r'name = "it\'s.txt" and name != "\" or starred = true"', ["it's.txt"]),
        ("createdTime > '2026-01-07T09:30:00+01:00'", ["annual budget.csv", "it's.txt"]),
    ],
)  # fmt: skip
def test_a_query_finds(shelf: Wire, q: str, expected: list[str]) -> None:
    assert names(ask(shelf, q)) == expected


def test_properties_are_compared_as_they_were_sent_and_other_media_types_are_no_error(wire: Wire) -> None:
    wire.post_json(FILES, {"name": "a", "properties": {"\u00e9": "1"}})

    assert names(ask(wire, "properties has {key='\u00e9' and value='1'}")) == ["a"]
    assert names(ask(wire, "properties has {key='e\u0301' and value='1'}")) == []
    for value in ("vnd.svc-apps", "application/vnd.svc-apps.folder", "application/vnd.ms-excel"):
        assert names(ask(wire, f"mimeType contains '{value}' or name = 'application/vnd.other-apps.x'")) == []


@pytest.mark.parametrize("term", ["parents in '{}'", "'{}' in parents"])
def test_a_folder_stands_before_or_after_its_field(shelf: Wire, term: str) -> None:
    folder = shelf.folder  # type: ignore[attr-defined]

    assert names(ask(shelf, term.format(folder) + " and trashed = False")) == ["Annual Report.pdf"]
    assert names(ask(shelf, f"not {term.format(folder)} and starred = FALSE")) == names(ask(shelf, "starred = false"))


@pytest.mark.parametrize(
    "order, expected",
    [
        ("name", ["annual budget.csv", "Annual Report.pdf", "it's.txt", "Reports"]),
        ("createdTime desc", ["it's.txt", "annual budget.csv", "Annual Report.pdf", "Reports"]),
        ("folder,createdTime", ["Reports", "Annual Report.pdf", "annual budget.csv", "it's.txt"]),
    ],
)
def test_order(shelf: Wire, order: str, expected: list[str]) -> None:
    assert [f["name"] for f in ask(shelf, orderBy=order).json["files"]] == expected


@pytest.mark.parametrize("order", [None, "name", "modifiedTime desc,name"])
def test_pages_hold_every_file_once(wire: Wire, order: str | None) -> None:
    for number in range(7):
        wire.post_json(FILES, {"name": f"file {number % 3}"})
    pages = []
    for page in wire.pages(f"{FILES}?pageSize=3" + (f"&orderBy={quote(order)}" if order else "")):
        pages.append([f["id"] for f in page["files"]])
        if len(pages) == 1 and order is None:
            wire.post_json(FILES, {"name": "file 1"})

    seen = sum(map(len, pages))
    assert len(pages) == 3
    assert len({file for page in pages for file in page}) == seen >= 7


def test_the_default_answer_and_the_mask_of_a_list(wire: Wire) -> None:
    wire.create()

    plain = ask(wire).json
    masked = ask(wire, fields="files(id),nextPageToken").json

    assert list(plain) == ["kind", "incompleteSearch", "files"]
    assert (plain["kind"], list(plain["files"][0])) == ("svc#fileList", ["kind", "id", "name", "mimeType"])
    assert [set(f) for f in masked["files"]] == [{"id"}]
    corpora = ("user", "domain", "drive", "allDrives", "USER", "userdomain", "")
    answers = [ask(wire, corpora=value) for value in corpora]
    assert [answer.status for answer in answers] == [200] * 4 + [400] * 3
    assert "user, domain, drive, allDrives" in answers[-1].error["message"]


def words(number: int) -> str:
    return "fullText contains '" + " ".join(f"w{n}" for n in range(number)) + "'"


def folders(number: int) -> str:
    return " or ".join(f"'x{n}' in parents" for n in range(number))


@pytest.mark.parametrize(
    "q",
    [words(200), folders(200), "name contains '" + "\U0001f600" * 4096 + "'", "not " * 3000 + "trashed = true"],
    ids=["words", "terms", "pattern", "not"],
)
def test_a_query_may_be_as_long_as_the_database_allows(shelf: Wire, q: str) -> None:
    assert ask(shelf, q).status == 200


QUERIES = [
    "name", "name = a", "name = 'a' and", "name = 'a')", "name < 'a'", "properties has {key='a'}", "not",
    "(" * 5000, "not " * 5000 + "starred = true", words(201), "fullText contains '" + "\u0390" * 4096 + "'",
    " and ".join(["fullText contains 'a b c d'"] * 51), folders(201), "name contains '" + "x" * 4097 + "'",
]  # fmt: skip
REFUSED = [
    ("q", 400, "invalid", QUERIES),
    ("orderBy", 400, "invalid", ["colour", "name sideways"]),
    ("orderBy", 403, "orderByContainsDuplicateSortKeys", ["name,name"]),
    ("pageSize", 400, "invalidParameter", ["0", "1001", "x"]),
    ("pageToken", 400, "invalid", ["garbage"]),
    ("corpora", 400, "invalidParameter", ["moon"]),
    ("spaces", 400, "invalidParameter", ["moon", "storage,moon"]),
]


@pytest.mark.parametrize("name, status, reason, values", REFUSED)
def test_a_wrong_parameter_is_refused_by_its_name(wire, name, status, reason, values):
    for value in values:
        answer = ask(wire, **{name: value})
        assert (answer.status, answer.error["reason"], answer.error["location"]) == (status, reason, name), value
