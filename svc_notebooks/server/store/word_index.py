"""Keeps the full-text index of the words of files.

The index is an FTS5 table with the trigram tokenizer. It is not in schema.py, because it is made from the files, and
because some builds of SQLite have no FTS5 or no such tokenizer. Triggers update the index. A database with the
triggers therefore has a complete index, and a database without them has none.

The words of new and renamed files wait in a table, and a trigger adds them to the index together. Adding them one
file at a time takes a sixth of the time of a new file, because FTS5 writes a segment for each transaction.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from functools import cache

# The number of characters in an entry of the index.
LENGTH = 3

_MAX_ENTRIES = 60

# The number of files whose words are added to the index together.
MAX_PENDING = 64

_ADD = "INSERT INTO files_text_pending (seq) VALUES (new.seq);"
_DROP = (
    "INSERT INTO files_text (files_text, rowid, all_words) SELECT 'delete', old.seq, old.all_words"
    " WHERE NOT EXISTS (SELECT 1 FROM files_text_pending WHERE seq = old.seq);"
    " DELETE FROM files_text_pending WHERE seq = old.seq;"
)
_ADD_PENDING = (
    "INSERT INTO files_text (rowid, all_words)"
    " SELECT seq, all_words FROM files WHERE seq IN (SELECT seq FROM files_text_pending);"
    " DELETE FROM files_text_pending;"
)
_CREATE = (
    "DROP TABLE IF EXISTS files_text",
    "DROP TABLE IF EXISTS files_text_pending",
    "CREATE VIRTUAL TABLE files_text USING fts5"
    "(all_words, content='files', content_rowid='seq', tokenize='trigram', detail=none, columnsize=0)",
    "CREATE TABLE files_text_pending (seq INTEGER PRIMARY KEY)",
    "INSERT INTO files_text (files_text) VALUES ('rebuild')",
)
_TRIGGERS = {
    "files_text_add": f"AFTER INSERT ON files BEGIN {_ADD} END",
    "files_text_drop": f"AFTER DELETE ON files BEGIN {_DROP} END",
    "files_text_change": "AFTER UPDATE OF seq, all_words ON files"
    f" WHEN new.seq <> old.seq OR new.all_words <> old.all_words BEGIN {_DROP} {_ADD} END",
    "files_text_add_pending": "AFTER INSERT ON files_text_pending"
    f" WHEN (SELECT COUNT(*) FROM files_text_pending) >= {MAX_PENDING} BEGIN {_ADD_PENDING} END",
}
_STATEMENTS = {name: f"CREATE TRIGGER {name} {definition}" for name, definition in _TRIGGERS.items()}
_PRESENT = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND substr(name, 1, 11) = 'files_text_'"


@cache
def is_supported() -> bool:
    """Return whether this build of SQLite has FTS5 with the trigram tokenizer, which version 3.34 introduced."""
    with closing(sqlite3.connect(":memory:")) as driver, suppress(sqlite3.Error):
        driver.execute("CREATE VIRTUAL TABLE tried USING fts5(text, tokenize='trigram', detail=none)")
        return True
    return False


def keep_word_index(driver: sqlite3.Connection) -> None:
    """Create the index of a database that has none, or has that of another version.

    If SQLite cannot maintain the index, drop the triggers. The connection must be in autocommit mode.
    """
    present = dict(driver.execute(_PRESENT).fetchall())
    if present == (_STATEMENTS if is_supported() else {}):
        return
    with driver:  # commits, or rolls back after an error
        driver.execute("BEGIN IMMEDIATE")
        for name in present:
            driver.execute(f"DROP TRIGGER {name}")
        if is_supported():
            for statement in (*_CREATE, *_STATEMENTS.values()):
                driver.execute(statement)


def entries(texts: list[str]) -> str | None:
    """Return the FTS5 query for the rows that may contain all these texts, or None if each text is too short.

    The rows must be compared with the texts afterwards. A long text is looked up by its first entries only.

    >>> entries([" plan"]), entries([" b", "xy"])
    ('" pl" AND "pla" AND "lan"', None)
    """
    trigrams = {text[at : at + LENGTH]: None for text in texts for at in range(len(text) - LENGTH + 1)}
    return " AND ".join('"' + entry.replace('"', '""') + '"' for entry in list(trigrams)[:_MAX_ENTRIES]) or None
