import sqlite3

import pytest

from svc_notebooks.local.ledger import Ledger, LedgerRow

CALL = {"function": "upload", "service": "https://svc.example"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "survey.resume.sqlite"


@pytest.fixture
def opened(path):
    ledger = Ledger(path, CALL)
    yield ledger
    ledger.close()


def test_a_ledger_keeps_ids_states_and_records(opened, path):
    opened.choose([("a", "id of a"), ("b", "id of b")])
    opened.start(["a", "b"])
    opened.save("a", "done", record={"name": "a.txt", "lone": "\ud800"})
    opened.save("c", "failed", error="NotFound: No file c.")
    opened.close()

    with_rows = Ledger(path, CALL)
    assert list(with_rows.rows()) == [
        LedgerRow("a", "done", "id of a", {"name": "a.txt", "lone": "\ud800"}),
        LedgerRow("b", "started", "id of b", None),
        LedgerRow("c", "failed", None, None),
    ]
    with_rows.close()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_new_id_of_a_failed_row_says_that_nothing_was_sent_with_it(opened):
    opened.choose([("a", "first"), ("b", "first")])
    opened.save("a", "failed", error="ContentMismatch", keep_id=False)
    opened.save("b", "failed", error="NotAllowed")
    without_id = next(opened.rows())
    opened.choose([("a", "second")])

    assert without_id == LedgerRow("a", "failed", None, None)
    assert list(opened.rows()) == [LedgerRow("a", "chosen", "second", None), LedgerRow("b", "failed", "first", None)]


def test_a_ledger_in_use_and_a_path_that_cannot_be_written_are_refused(opened, path):
    with pytest.raises(BlockingIOError, match="a ledger that another call or process uses; wait until"):
        Ledger(path, CALL)
    with pytest.raises(OSError, match="a ledger that cannot be used: unable to open database file"):
        Ledger(path.parent / "no folder" / "a.sqlite", CALL)


@pytest.mark.parametrize(
    "call, words",
    [
        (CALL | {"function": "delete"}, "a call with the function upload, and this call has delete; give"),
        (CALL | {"name": '"b"'}, 'the ledger of a call with the name None, and this call has "b"; give another name'),
        ({"function": "upload"}, "service https://svc.example, and this call has None; .* delete the file to start"),
    ],
    ids=["other function", "more arguments", "fewer arguments"],
)
def test_a_ledger_of_another_call_is_refused(opened, path, call, words):
    opened.close()

    with pytest.raises(ValueError, match=words):
        Ledger(path, call)
    Ledger(path, CALL).close()


def other_database(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE mine (a)")
    connection.close()


def damaged_ledger(path):
    ledger = Ledger(path, CALL)
    ledger.choose([(f"row {n}", "x" * 100) for n in range(100)])
    ledger.close()
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"x" * (len(content) - 4096))


@pytest.mark.parametrize(
    "make",
    [lambda path: path.write_bytes(b"a,b\n" * 500), other_database, damaged_ledger],
    ids=["csv", "other", "torn"],
)
def test_a_file_that_is_not_a_ledger_is_refused_and_not_changed(path, make):
    make(path)
    before = path.read_bytes()

    with pytest.raises(ValueError, match=r"is not a ledger or is damaged .*; give another name, or delete the file"):
        list(Ledger(path, CALL).rows("a"))

    assert path.read_bytes() == before
