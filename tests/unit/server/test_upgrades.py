import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from svc_notebooks.server.store import upgrades
from svc_notebooks.server.store.opening import open_database
from tests.stores import DUMPS, dump, old_database


def schema(path: Path) -> dict[str, Any]:
    """Tables with their columns and types, and indexes with theirs; the text of both without blanks."""
    with closing(sqlite3.connect(path)) as database:
        entries = database.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
        columns = {name: database.execute(f"PRAGMA table_xinfo({name})").fetchall() for _, name, *_ in entries}
        version = database.execute("PRAGMA user_version").fetchone()
    return {name: (kind, table, re.sub(r"\s", "", sql or ""), columns[name]) for kind, name, table, sql in entries} | {
        "version": version
    }


def rows(path: Path) -> dict[str, list[dict[str, Any]]]:
    with closing(sqlite3.connect(path)) as database:
        database.row_factory = sqlite3.Row
        names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: [dict(row) for row in database.execute(f"SELECT * FROM {name}")] for name in names}


@pytest.mark.parametrize("script", DUMPS, ids=lambda path: path.stem)
def test_an_upgrade_keeps_every_row_and_makes_the_schema_of_a_new_database(tmp_path, script):
    path = old_database(tmp_path / "svc.sqlite", script)
    before = rows(path)
    open_database(path, "process").close()
    open_database(tmp_path / "new.sqlite", "process").close()
    assert schema(path) == schema(tmp_path / "new.sqlite")
    after = rows(path)
    for name, expected in before.items():
        if name != "sqlite_sequence":
            for row in expected if name == "sessions" else ():
                row.pop("generation", None)  # which an upgrade drops
            kept = [{column: row[column] for column in expected[0]} for row in after[name]] if expected else after[name]
            assert kept == expected, name
    numbers = {row["name"]: row["seq"] for row in after["sqlite_sequence"]}
    assert numbers.items() >= {row["name"]: row["seq"] for row in before.get("sqlite_sequence", ())}.items()
    assert numbers["contents"] == 3, "no number is given twice"


def test_a_number_that_was_given_is_not_given_again_after_the_table_was_made_anew(tmp_path):
    path = old_database(tmp_path / "svc.sqlite", dump("7af5d85"))
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE sqlite_sequence SET seq = 70 WHERE name = 'events'")
        database.execute("UPDATE events SET created = 5 - seq")
        database.commit()
    open_database(path, "process").close()
    after = rows(path)
    assert {"name": "events", "seq": 70} in after["sqlite_sequence"]
    assert [(row["created"], row["place"]) for row in after["events"]] == [(4, 2), (3, 1)], "in the order of creation"


@pytest.mark.parametrize("script", DUMPS, ids=lambda path: path.stem)
def test_an_upgrade_composes_the_names_that_are_searched(tmp_path, script):
    path = old_database(tmp_path / "svc.sqlite", script)
    open_database(path, "process").close()
    keys = {"name_key": "u\u0308b 7", "natural_key": "-", "words": " u b", "all_words": " u b e te"}  # of version 4
    values = {"name": "U\u0308b 7", "extra": json.dumps({"description": "e\u0301te\u0301"}), **keys}
    with closing(sqlite3.connect(path)) as database:
        upgrades.set_version(database, 4)
        (number,) = database.execute("SELECT max(seq) FROM files").fetchone()
        changes = ", ".join(f"{column} = :{column}" for column in values)
        database.execute(f"UPDATE files SET {changes} WHERE seq = :seq", {**values, "seq": number})
        database.commit()

    open_database(path, "process").close()

    row = next(row for row in rows(path)["files"] if row["seq"] == number)
    assert (row["name"], row["name_key"], row["natural_key"]) == ("U\u0308b 7", "\u00dcb 7", f"\u00fcb {7:020}")
    assert (row["words"], row["all_words"]) == (" \u00fcb 7", " \u00fcb 7 \u00e9t\u00e9")


def test_an_upgrade_that_fails_changes_nothing(tmp_path, monkeypatch):
    path = old_database(tmp_path / "svc.sqlite", DUMPS[0])
    before = rows(path), schema(path)

    first, *others = upgrades.STEPS

    def failing(driver):
        first(driver)
        raise RuntimeError("in the middle")

    monkeypatch.setattr(upgrades, "STEPS", (failing, *others))
    with pytest.raises(RuntimeError, match="in the middle"):
        open_database(path, "process")
    monkeypatch.undo()
    assert (rows(path), schema(path)) == before
    open_database(path, "process").close()
    assert len(list(tmp_path.glob("*.bak"))) == 1, "the copy of the first attempt is used again"


def test_a_newer_version_is_refused(tmp_path):
    open_database(tmp_path / "svc.sqlite", "process").close()
    with closing(sqlite3.connect(tmp_path / "svc.sqlite")) as database:
        upgrades.set_version(database, upgrades.VERSION + 1)
    before = (tmp_path / "svc.sqlite").read_bytes()
    words = rf"has schema version {upgrades.VERSION + 1}, .* up to {upgrades.VERSION}: use the version"
    with pytest.raises(OSError, match=words):
        open_database(tmp_path / "svc.sqlite", "process")
    assert (tmp_path / "svc.sqlite").read_bytes() == before


def test_a_database_of_another_program_is_refused(tmp_path):
    with closing(sqlite3.connect(tmp_path / "svc.sqlite")) as database:
        database.execute("CREATE TABLE files (name TEXT)")
    with pytest.raises(OSError, match=r"a database of another program: choose another folder"):
        open_database(tmp_path / "svc.sqlite", "process")
