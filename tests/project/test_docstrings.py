"""The columns in Returns sections of docstrings, which the documentation site shows as lists."""

import svc_notebooks as svc
from tools.docstrings import list_columns


def returns(function):
    """The lines of the Returns section of a function, with its columns as bullets."""
    lines = [line.strip() for line in function.__doc__.split("    Returns:\n")[1].split("\n\n")[0].splitlines()]
    return list_columns(lines)


def test_columns_become_bullets_and_those_of_one_type_share_a_bullet():
    section = ["    One row for each file: id, name (str), size (Int64, bytes; missing for", "    folders). More."]

    lines = list_columns(section)

    assert lines == [
        "    One row for each file:",
        "",
        "    * **id**, **name** (str)",
        "    * **size** (Int64, bytes; missing for folders)",
        "",
        "    More.",
        "",
    ]


def test_what_follows_the_last_column_stays():
    assert "    * and each other field in `metadata`" in returns(svc.upload)
    assert "    * and more" in returns(svc.create_event)
    assert "    * **sent**, **received** (Int64, bytes of the bodies)" in returns(svc.exchanges)


def test_a_section_without_columns_is_not_changed():
    lines = ["    One row, with the columns of `files()`."]

    assert list_columns(lines) == lines
