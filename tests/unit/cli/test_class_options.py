import argparse
from pathlib import Path

import pytest

from svc_notebooks.cli.serve import read_class, read_roster_accounts
from svc_notebooks.server.auth.accounts import ClassAccount
from svc_notebooks.server.dispatch.service_context import Quota

ADA = ClassAccount("Ada Lovelace", "ada@school.example", "teacher")
BOB = ClassAccount("Bob", "bob@school.example", "student")


def roster(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "roster.csv"
    path.write_bytes(text.encode(encoding))
    return path


def options(**values: object) -> argparse.Namespace:
    names = ("roster", "store", "tokens", "quota_bytes", "requests_per_minute", "channels", "token", "control_token")
    return argparse.Namespace(**{**dict.fromkeys(names), **values})


@pytest.mark.parametrize(
    "text, encoding",
    [
        ("name,email,role\nAda Lovelace,ada@school.example,teacher\nBob,bob@school.example,student\n", "utf-8"),
        ("Name;E-Mail;Role\r\nAda Lovelace;ADA@school.example;Teacher\r\n\r\nBob;bob@school.example;\r\n", "utf-8-sig"),
        ("id,role,email,name\n7,teacher,ada@school.example,Ada Lovelace\n8,,bob@school.example,Bob\n", "utf-8"),
    ],
    ids=["commas", "semicolons and a byte order mark", "other columns"],
)
def test_a_roster_is_read(tmp_path, text, encoding):
    assert read_roster_accounts(roster(tmp_path, text, encoding)) == [ADA, BOB]


HEAD = "name,e-mail,role\nAda,ada@school.example,teacher\n"


@pytest.mark.parametrize(
    "text, problem",
    [
        ("", "line 1: the columns must be name, e-mail and role"),
        ("name,login\nAda,ada\n", "line 1: the columns must be name, e-mail and role"),
        (HEAD + ",bob@school.example,student\n", "line 3, column name: the name is missing"),
        (HEAD + '"Bob\nSmith",bob,student\n', "line 4, column e-mail: 'bob' is not an e-mail address"),
        (HEAD + "Ada,ADA@school.example,student\n", "line 3, column e-mail: ada@school.example is in the roster twice"),
        (HEAD + "Bob,bob@school.example,pupil\n", "line 3, .* role: 'pupil' is not a role; give student or teacher"),
        ("name,email\nBob,bob@school.example\n", "column role: the class has no teacher"),
    ],
    ids=["empty", "columns", "name", "address", "twice", "role", "teacher"],
)
def test_an_error_names_the_line_and_the_column(tmp_path, text, problem):
    with pytest.raises(ValueError, match=problem):
        read_roster_accounts(roster(tmp_path, text))


def test_a_class_has_a_token_file_and_a_quota(tmp_path):
    school_class = read_class(options(roster=roster(tmp_path, HEAD), store=str(tmp_path / "store"), channels=3))

    assert school_class is not None
    assert school_class.token_file == tmp_path / "store" / "sign-in-tokens.csv"
    assert school_class.quota == Quota(channels=3)


@pytest.mark.parametrize(
    "values, problem",
    [
        ({"quota_bytes": 5}, "apply only to a class; add --class FILE"),
        ({"roster": Path("roster.csv")}, "add --store DIR"),
        ({"roster": Path("roster.csv"), "store": "DIR", "token": "t"}, "each account has its own token"),
    ],
    ids=["no class", "no store", "a token"],
)
def test_options_that_do_not_fit_are_refused(values, problem):
    with pytest.raises(ValueError, match=problem):
        read_class(options(**values))
