import re
import unicodedata
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import svc_notebooks as svc
from svc_notebooks.core.brand_names import Names
from svc_notebooks.core.files.fields import name_key, word_list
from svc_notebooks.core.files.query import Compare, parse_query
from svc_notebooks.notebook.files.search import file_filter

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def shelf(lab):
    """Files of ten days: a folder with one file, and four files in the top folder."""
    lab.clock.set(NOON - timedelta(days=10))
    folder = svc.create_folder("Data [1]")
    svc.upload(b"a,b", name="survey 1.csv", parent=folder)
    lab.clock.set(NOON - timedelta(days=1))
    svc.upload(b"a\tb", name="Survey-2.tsv", mime_type="text/tab-separated-values")
    svc.upload(b"it", name="it's 100% \\ *.txt", metadata={"starred": True, "properties": {"lab": "it's 7"}})
    lab.clock.set(NOON)
    svc.upload(b"x,y", name="table.csv")
    svc.trash(svc.upload(b"-", name="old.txt"))
    return folder


def names_of(*args, **kwargs):
    return sorted(svc.files(*args, **kwargs)["name"])


@pytest.mark.parametrize(
    "name, expected",
    [
        ("table.csv", ["table.csv"]),
        ("TABLE.csv", ["table.csv"]),
        ("table", []),
        ("*.csv", ["survey 1.csv", "table.csv"]),
        ("*.CSV", ["survey 1.csv", "table.csv"]),
        ("survey*", ["Survey-2.tsv", "survey 1.csv"]),
        ("survey?2*", ["Survey-2.tsv"]),
        ("*urve*", ["Survey-2.tsv", "survey 1.csv"]),
        ("Data [1]", ["Data [1]"]),
        ("data [[]?]", ["Data [1]"]),
        ("data [?]", []),
        ("it's 100% \\ *.txt", ["it's 100% \\ *.txt"]),
        (["table.csv", "old*"], ["old.txt", "table.csv"]),
        (["table.csv", "old.txt", "none"], ["old.txt", "table.csv"]),
        (pd.Series(["table.csv", "old.txt"]), ["old.txt", "table.csv"]),
        ([f"{n}.csv" for n in range(300)] + ["TABLE.csv"], ["table.csv"]),
    ],
)
def test_a_file_is_found_by_its_name_a_pattern_or_several(shelf, name, expected):
    assert names_of(name=name) == expected


QUESTIONS = ["why?.txt", "whyA.txt", "why.txt", "a*b", "aXb", "[?]", "report [final].pdf", "report f.pdf"]


@pytest.mark.parametrize(
    "name, expected",
    [
        ("why?.txt", ["why?.txt"]),
        ("WHY?.TXT", ["why?.txt"]),
        ("why[?].txt", ["why?.txt"]),
        ("a*b", ["a*b"]),
        ("a[*]b", ["a*b"]),
        (["why?.txt", "a?b"], ["why?.txt", "a*b", "aXb"]),
        (iter(["why?.txt", "none?"]), ["why?.txt"]),
        ("[?]", ["[?]"]),
        ("[[][?]]", ["[?]"]),
        ("report [final].pdf", ["report [final].pdf"]),
        ("report [[]final].pdf", ["report [final].pdf"]),
        ("report [final]*", ["report [final].pdf"]),
        ("why??txt", ["why?.txt", "whyA.txt"]),
        ("*[?]*", ["[?]", "why?.txt"]),
        ("[*]", []),
        ("none[?]*", []),
    ],
)
def test_wildcards_are_literal_in_brackets_and_in_the_name_of_a_file(lab, name, expected):
    svc.upload([b""] * len(QUESTIONS), name=QUESTIONS)

    assert names_of(name=name) == sorted(expected)


@pytest.mark.parametrize("dispose", [svc.trash, lambda files: svc.move(files, to=svc.create_folder("Kept"))])
def test_a_name_that_was_meant_never_selects_others_when_a_cell_runs_again(lab, dispose):
    svc.upload([b"1", b"2"], name=["why?.txt", "whyA.txt"])
    conditions = {"name": "why?.txt", "folder": "root", "trashed": False}

    counts = [len(dispose(svc.files(**conditions))) for _ in range(2)]

    assert counts == [1, 0]
    assert [len(chunk) for chunk in svc.files(name="why?.txt", chunksize=1)] == [1]
    svc.delete(svc.files(name="why?.txt"))
    assert names_of(name="why*") == ["whyA.txt"]


def test_many_long_names_are_not_too_long_for_a_query(lab):
    long = [f"{n:03}{'x' * 240}" for n in range(100)]
    svc.upload(b"", name=long[7])
    for wildcard in ("", "*"):
        assert names_of(name=[name + wildcard for name in long]) == [long[7]]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("other", ["NFC", "NFD"])
@pytest.mark.parametrize("name", ["Übung.txt", "각본.txt", "Tiếng Việt.md"])
def test_a_name_is_found_in_another_unicode_form(lab, name, form, other):
    stored = unicodedata.normalize(form, name)
    svc.upload(b"x", name=stored)

    patterns = [f"{name[:2]}*", f"*{name[1:]}", f"{name[0]}?*{name[-1]}", [name] * 200]
    for pattern in (name, name.upper(), name.lower(), *patterns):
        written = [unicodedata.normalize(other, text) for text in ([pattern] if isinstance(pattern, str) else pattern)]
        assert names_of(name=written) == [stored]


@pytest.mark.parametrize(
    "mime_type, expected",
    [
        ("folder", ["Data [1]"]),
        ("text/csv", ["survey 1.csv", "table.csv"]),
        ("text/*", ["Survey-2.tsv", "it's 100% \\ *.txt", "old.txt", "survey 1.csv", "table.csv"]),
        ("*/tab-separated-values", ["Survey-2.tsv"]),
        (["folder", "text/csv"], ["Data [1]", "survey 1.csv", "table.csv"]),
        ("image/*", []),
    ],
)
def test_files_are_found_by_media_type(shelf, mime_type, expected):
    assert names_of(mime_type=mime_type) == expected


def test_a_folder_is_found_by_its_path_and_a_file_as_folder_is_refused(shelf):
    assert names_of(folder="Data [1]") == names_of(folder=["/Data [1]/"]) == ["survey 1.csv"]
    for missing in ("data2", "Data [1]/2026"):
        with pytest.raises(svc.NotFound, match=rf"there is no folder '{missing[-4:]}|data2'.* create_folder\('"):
            svc.files(folder=missing)
    with pytest.raises(ValueError, match=r"folder is 'table.csv', which is a file and not a folder"):
        svc.files(folder=svc.files(name="table.csv"))
    empty = svc.create_folder("Empty")
    assert names_of(folder=empty) == []


def test_files_are_found_by_owner(lab, shelf):
    bob = lab.sign_in("bob@svc.example")
    svc.share(svc.files(name="table.csv"), "bob@svc.example")
    svc.upload(b"1", name="mine.txt", session=bob)

    assert svc.files(owner="me", session=bob)["name"].tolist() == ["mine.txt"]
    assert svc.files(owner="ada@svc.example", session=bob)["name"].tolist() == ["table.csv"]
    for owner in (["me", "ada@svc.example"], "me, Ada <ADA@svc.example>"):
        assert svc.files(owner=owner, session=bob)["name"].tolist() == ["mine.txt", "table.csv"]
    assert svc.files(shared_with_me=True, session=bob)["name"].tolist() == ["table.csv"]
    assert svc.files(shared_with_me=False, session=bob)["name"].tolist() == ["mine.txt"]


@pytest.mark.parametrize(
    "moment",
    [
        "yesterday",
        "2 days ago",
        timedelta(days=2),
        date(2026, 3, 9),
        "2026-03-09",
        "2026-03-09 11:59",
        "2026-03-09T13:59+02:00",
        datetime(2026, 3, 9, 11, 59),  # noqa: DTZ001 -- in UTC
        datetime(2026, 3, 9, 13, 59, tzinfo=timezone(timedelta(hours=2))),
        pd.Timestamp("2026-03-09"),
        np.datetime64("2026-03-09"),
    ],
    ids=str,
)
def test_files_are_found_by_time(shelf, moment):
    old = ["Data [1]", "survey 1.csv"]
    new = ["Survey-2.tsv", "it's 100% \\ *.txt", "old.txt", "table.csv"]

    assert names_of(modified_after=moment) == names_of(created_after=moment) == new
    assert names_of(modified_before=moment) == names_of(created_before=moment) == old
    assert names_of(modified_after="today") == ["old.txt", "table.csv"]


def test_flags_text_and_properties_are_conditions_and_apply_before_the_limit_and_the_columns(shelf):
    assert names_of(trashed=True) == ["old.txt"]
    assert "old.txt" not in names_of(trashed=False)
    assert names_of(starred=True) == names_of(properties={"lab": "it's 7"}) == ["it's 100% \\ *.txt"]
    assert names_of(properties={"lab": "it's 7", "room": "1"}) == []
    assert names_of(text="survey 2") == ["Survey-2.tsv"]

    result = svc.files(name="*.csv", limit=1, order_by="name desc", fields="size")
    assert result.columns.tolist() == ["size"]
    assert result["size"].tolist() == [3]
    assert names_of(name="*.csv", order_by="name", limit=1) == ["survey 1.csv"]
    before = len(svc.exchanges())
    empty = [svc.files(**{argument: []}).dtypes for argument in ("name", "mime_type", "folder", "owner")]
    assert len(svc.exchanges()) == before, "an empty list matches no file"
    assert all(dtypes.equals(svc.files().dtypes) for dtypes in empty)


letters = st.text(st.sampled_from("aA1 .-_ßẞσςΣé\u0301'%\\()[]"), max_size=8)


@given(letters, st.text(st.sampled_from("aA.*?"), max_size=4), letters)
def test_the_text_before_a_wildcard_never_hides_a_file(prefix, pattern, rest):
    name = prefix.swapcase() + pattern.replace("*", rest).replace("?", "-") + rest
    search = file_filter(None, {"name": f"{prefix}{pattern}*"}, names=Names(), now=NOON) if prefix.strip() else None
    if search is None or search.query is None or not search.matches({"name": name}):
        return
    term = parse_query(search.query)

    assert isinstance(term, Compare)
    words = word_list(str(term.value))
    assert words in word_list(name) if words else name_key(str(term.value)) in name_key(name)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"name": 5}, TypeError, "name must be a str or a list of them, not int"),
        ({"name": ["a", 5]}, TypeError, "name must be a str or a list of them; it has 5"),
        ({"name": " "}, ValueError, "name has ' ', which is empty; leave name out, or give a text"),
        ({"name": "a\ud800"}, ValueError, "the text .* has a lone surrogate, which cannot be sent"),
        ({"owner": "Lee, Ann <ann@x.example>"}, ValueError, "owner has 'Lee'; give an e-mail address or 'me'"),
        ({"text": ["a"]}, TypeError, "text must be a str, not list"),
        ({"text": ""}, ValueError, "text is '', which is empty"),
        ({"mime_type": "csv"}, ValueError, "did you mean 'text/csv'"),
        ({"mime_type": "foldr"}, ValueError, "did you mean 'folder'"),
        ({"mime_type": "application/vnd.google-apps.folder"}, ValueError, "here it is 'folder' or"),
        ({"modified_after": "soon"}, ValueError, "modified_after is 'soon'; write a date .*'7 days ago'"),
        ({"modified_after": "soon ago"}, ValueError, "modified_after is 'soon ago'; write a date"),
        ({"created_before": 5}, TypeError, "created_before must be a date"),
        ({"created_before": pd.NaT}, ValueError, "created_before is missing"),
        ({"starred": "yes"}, TypeError, "starred must be True or False, not 'yes'"),
        ({"properties": {"a": 5}}, TypeError, "properties must be a dict of texts"),
        ({"order_by": 5}, TypeError, "order_by must be a str or a list of them"),
        ({"fields": "nme"}, ValueError, "did you mean 'name'"),
        ({"modified_afer": "today"}, TypeError, "did you mean 'modified_after'"),
    ],
    ids=str,
)
def test_an_invalid_argument_is_refused_before_anything_is_sent(lab, arguments, error, message):
    with pytest.raises(error, match=message):
        svc.files(**arguments)

    assert svc.exchanges().empty


@pytest.mark.parametrize(
    "query, message, place",
    [
        ("not modified_tme > '2026'", "modified_tme is not a field; did you mean modified_time?", " " * 4 + "^" * 12),
        ("t.csv", "'t.csv' is not a query; files(name=...) searches names, and files(text=...) words.", "^^^^^"),
    ],
)
def test_an_error_in_a_query_shows_its_place(lab, query, message, place):
    with pytest.raises(svc.BadRequest) as refused:
        svc.files(query, name="*.csv")

    assert str(refused.value) == f"query: {message}\n    {query}\n    {place} (400 invalid)"
    assert (refused.value.status, refused.value.location) == (400, "q")


@pytest.mark.parametrize(
    "order_by, message",
    [
        ("name,modfied_time desc", "'modfied_time' is not a sort key; did you mean modified_time?"),
        ("modfiedTime", "'modfiedTime' is not a sort key; did you mean modified_time?"),
        (["name downwards"], "name is followed by 'downwards'; write name or name desc."),
    ],
)
def test_the_error_about_an_unknown_sort_key_names_the_nearest(lab, order_by, message):
    with pytest.raises(svc.BadRequest, match=rf"^order_by: {re.escape(message)}"):
        svc.files(order_by=order_by)
