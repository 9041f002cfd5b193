import argparse
import os
from contextlib import ExitStack
from pathlib import Path
from wsgiref.util import setup_testing_defaults

import pytest

from svc_notebooks.cli import serve
from svc_notebooks.cli.options import commands
from svc_notebooks.core.http.messages import Headers, Request, Response
from svc_notebooks.server.auth.accounts import ClassAccount
from svc_notebooks.server.dispatch.service_context import Quota
from svc_notebooks.server.wsgi import ServiceApp


def test_a_variable_has_the_meaning_of_its_option():
    variables = {"SVC_STORE": "/srv", "SVC_SHARED": "1", "SVC_JOURNAL": "7", "SVC_HOST_NAME": "a.example, b.example"}
    options = serve.read_environment(variables)

    assert (options.store, options.shared, options.journal) == ("/srv", True, 7)
    assert options.host_name == ["a.example", "b.example"]


@pytest.mark.parametrize(
    "name, text",
    [("SVC_SHARED", "perhaps"), ("SVC_JOURNAL", "many"), ("SVC_PREFIX", "no/slash"), ("SVC_POLICY", "[1]")],
)
def test_a_bad_value_names_its_variable(name, text):
    with pytest.raises(ValueError, match=name):
        serve.read_environment({name: text})


def test_the_documentation_has_every_variable():
    page = (Path(__file__).parents[3] / "docs" / "scale.md").read_text(encoding="utf-8")

    options = [name for name, option in commands()["serve"]["options"].items() if option.get("variable")]
    assert {name for name in map(serve.variable_of, options) if f"`{name}`" not in page} == set()


def test_the_service_of_variables_has_the_token_and_the_policy(tmp_path):
    variables = {"SVC_STORE": str(tmp_path / "store"), "SVC_TOKEN": "t", "SVC_POLICY": '{"page_size": 1}'}
    headers = Headers([("Authorization", "Bearer t")])
    with ExitStack() as stack:
        handle = serve.open_from_environment(stack, variables)
        assert handle(Request("GET", "http://svc.test/storage/v3/files", headers)).status == 200


def test_a_request_gets_503_until_the_service_can_be_opened():
    statuses = []
    problems = [OSError("the PostgreSQL server cannot be reached")]

    def open_service(stack):
        if problems:
            raise problems.pop()
        return lambda request: Response(200, Headers([]))

    app, environ = ServiceApp(open_service), {}
    setup_testing_defaults(environ)
    for _ in range(2):
        app(environ, lambda status, headers: statuses.append(status))
    app.close()

    assert [status.partition(" ")[0] for status in statuses] == ["503", "200"]


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_forked_process_opens_a_service_of_its_own():
    opened = []

    def open_service(stack):
        opened.append(os.getpid())
        return lambda request: None

    app = ServiceApp(open_service)
    app.start()
    child = os.fork()
    if not child:
        app.start()
        os._exit(0 if opened[1:] == [os.getpid()] else 1)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert opened == [os.getpid()]
    app.close()


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
    assert serve.read_roster_accounts(roster(tmp_path, text, encoding)) == [ADA, BOB]


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
        serve.read_roster_accounts(roster(tmp_path, text))


def test_a_class_has_a_token_file_and_a_quota(tmp_path):
    school_class = serve.read_class(options(roster=roster(tmp_path, HEAD), store=str(tmp_path / "store"), channels=3))

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
        serve.read_class(options(**values))
