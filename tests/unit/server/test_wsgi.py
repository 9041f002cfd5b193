"""The WSGI application, called with the environments of different servers."""

import io
import json
from wsgiref.util import setup_testing_defaults

import pytest

from svc_notebooks.server.service import open_service
from svc_notebooks.server.wsgi import WsgiApp


@pytest.fixture
def service():
    with open_service(seed=0) as service:
        yield service


@pytest.fixture
def call(service):
    token = service.sign_in()
    app = WsgiApp(service.handle)

    def send(method, target, body=b"", **environ):
        path, _, query = target.partition("?")
        wsgi_environ = {"REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query}
        wsgi_environ |= {"HTTP_AUTHORIZATION": f"Bearer {token}", "wsgi.input": io.BytesIO(body)}
        wsgi_environ |= {name.replace("__", "."): value for name, value in environ.items()}
        setup_testing_defaults(wsgi_environ)
        begun = []
        content = b"".join(app(wsgi_environ, lambda *status_and_headers: begun.extend(status_and_headers)))
        return begun[0], dict(begun[1]), content

    return send


UPLOAD = "/upload/storage/v3/files?uploadType=media&fields=size"


@pytest.mark.spec("A1-03", "A1-03a")
def test_a_chunked_body_is_read_if_the_server_terminates_it(call):
    status, _, content = call("POST", UPLOAD, b"hello", HTTP_TRANSFER_ENCODING="chunked", wsgi__input_terminated=True)

    assert (status, json.loads(content)) == ("200 OK", {"size": "5"})


def test_a_chunked_body_that_the_server_does_not_decode_is_refused(call, service):
    """wsgiref passes on the coding itself, and would wait forever at its end."""
    status, headers, content = call("POST", UPLOAD, b"5\r\nhello\r\n0\r\n\r\n", HTTP_TRANSFER_ENCODING="chunked")

    assert status == "411 Length Required"
    assert headers["Content-Type"].startswith("application/json")
    assert json.loads(content)["error"]["errors"][0]["location"] == "Content-Length"
    assert json.loads(call("GET", "/storage/v3/files")[2])["files"] == []


@pytest.mark.spec("A1-03", "A1-03b")
@pytest.mark.parametrize("length", [{}, {"CONTENT_LENGTH": ""}], ids=["missing", "empty"])
@pytest.mark.parametrize("kind", ["media", "multipart", "resumable"])
def test_an_upload_without_a_length_is_refused(call, length, kind):
    status, _, content = call("POST", f"/upload/storage/v3/files?uploadType={kind}", **length)

    assert status == "411 Length Required"
    assert json.loads(content)["error"]["errors"][0]["reason"] == "lengthRequired"
    assert call("POST", UPLOAD, CONTENT_LENGTH="0")[0] == "200 OK"


def test_a_server_name_with_special_characters_keeps_the_path(call):
    assert call("GET", "/storage/v3/files", SERVER_NAME="Cheroot/11.1.2")[0] == "200 OK"
