import os
from contextlib import ExitStack
from pathlib import Path
from wsgiref.util import setup_testing_defaults

import pytest

from svc_notebooks.cli.options import commands
from svc_notebooks.cli.serve import open_from_environment, read_environment, variable_of
from svc_notebooks.core.http.messages import Headers, Request, Response
from svc_notebooks.server.wsgi import ServiceApp


def test_a_variable_has_the_meaning_of_its_option():
    variables = {"SVC_STORE": "/srv", "SVC_SHARED": "1", "SVC_JOURNAL": "7", "SVC_HOST_NAME": "a.example, b.example"}
    options = read_environment(variables)

    assert (options.store, options.shared, options.journal) == ("/srv", True, 7)
    assert options.host_name == ["a.example", "b.example"]


@pytest.mark.parametrize(
    "name, text",
    [("SVC_SHARED", "perhaps"), ("SVC_JOURNAL", "many"), ("SVC_PREFIX", "no/slash"), ("SVC_POLICY", "[1]")],
)
def test_a_bad_value_names_its_variable(name, text):
    with pytest.raises(ValueError, match=name):
        read_environment({name: text})


def test_the_documentation_has_every_variable():
    page = (Path(__file__).parents[3] / "docs" / "scale.md").read_text(encoding="utf-8")

    options = [name for name, option in commands()["serve"]["options"].items() if option.get("variable")]
    assert {name for name in map(variable_of, options) if f"`{name}`" not in page} == set()


def test_the_service_of_variables_has_the_token_and_the_policy(tmp_path):
    variables = {"SVC_STORE": str(tmp_path / "store"), "SVC_TOKEN": "t", "SVC_POLICY": '{"page_size": 1}'}
    headers = Headers([("Authorization", "Bearer t")])
    with ExitStack() as stack:
        handle = open_from_environment(stack, variables)
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
