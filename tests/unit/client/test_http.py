import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import trustme
from urllib3.util.wait import wait_for_read

from svc_notebooks.client.transport.http import SENT_AT_ONCE, HttpTransport
from svc_notebooks.client.transport.in_process import TransportError
from svc_notebooks.client.transport.urls import needs_no_proxy
from svc_notebooks.client.uploads.sources import SourceStream, open_source
from svc_notebooks.core.http.messages import Headers, Request
from tests.patience import PATIENCE


class Server(ThreadingHTTPServer):
    """A server that answers with `reply` and keeps its requests."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self.connections = 0
        self.reply: Callable[[Handler], None] = Handler.ok

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def get_request(self) -> tuple[socket.socket, object]:
        self.connections += 1
        return super().get_request()

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # connections that are cut on purpose


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append((self.command, self.path, dict(self.headers), body))
        self.server.reply(self)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do_CONNECT = answer

    def ok(self, status: int = 200, body: bytes = b"{}", **headers: str) -> None:
        self.send_response(status)
        for name, value in ({"Content_Length": str(len(body))} | headers).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def no_proxies(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture(params=[False, True], ids=["new connection", "open connection"])
def transport(request, no_proxies):
    """Return a transport, with an open connection to the server in the second of two runs."""
    transport = HttpTransport(timeout=(2, 2))
    if request.param:
        server = request.getfixturevalue("server")
        transport.send(Request("GET", server.base_url + "/")).content()
        server.seen.clear()
    yield transport
    transport.close()


def test_a_request_arrives_as_it_was_made(server, transport):
    headers = Headers([("Accept", "application/json"), ("Content-Length", "5"), ("X-Odd", "é")])

    response = transport.send(Request("POST", server.base_url + "/a%20b?c=%2Fd", headers, b"hello"))

    method, path, seen, body = server.seen[0]
    assert (response.status, response.body) == (200, b"{}")
    assert (method, path, body) == ("POST", "/a%20b?c=%2Fd", b"hello")
    assert seen["Accept"] == "application/json"
    assert seen["Accept-Encoding"] == "identity"


@pytest.mark.parametrize("size", [0, 100, 200_000])
def test_the_connection_is_used_again(size, server, transport):
    server.reply = lambda handler: handler.ok(body=bytes(size))
    for method in ("GET", "HEAD", "PUT", "GET", "HEAD"):
        transport.send(Request(method, server.base_url + "/", Headers([("Content-Length", "0")]))).content()

    assert server.connections == 1


def test_bodies_leave_in_large_blocks_with_their_length(server, transport):
    content, sizes = bytes(range(256)) * 2_500, []
    body = SourceStream(open_source(content), 0, len(content), lambda at, total: sizes.append(at))

    transport.send(Request("PUT", server.base_url + "/", Headers([("Content-Length", str(len(content)))]), body))

    _, _, seen, received = server.seen[0]
    assert received == content
    assert "Transfer-Encoding" not in seen
    assert sizes == [SENT_AT_ONCE, 2 * SENT_AT_ONCE, len(content)]


def test_a_connection_that_the_service_closed_is_replaced(server, transport):
    server.reply = lambda handler: handler.ok(Connection="close")
    assert [transport.send(Request("GET", server.base_url + "/")).status for _ in range(3)] == [200, 200, 200]
    assert server.connections == 3


def test_an_idle_connection_that_the_service_closes_is_replaced(server, transport):
    def reply_at_once(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    def reply_and_close(handler):
        reply_at_once(handler)
        handler.close_connection = True

    for server.reply in (reply_at_once, reply_at_once, reply_and_close):
        transport.send(Request("GET", server.base_url + "/"))
    (origin,) = transport._origins.values()
    (idle,) = origin.idle
    assert wait_for_read(idle.sock, PATIENCE), "the service closes the connection"
    server.reply = reply_at_once

    assert transport.send(Request("GET", server.base_url + "/")).status == 200
    assert server.connections == 2
    assert idle.is_closed


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_is_followed(status, server, transport):
    server.reply = lambda handler: handler.ok(status, b"", Location="/elsewhere", Range="bytes=0-9")

    response = transport.send(Request("PUT", server.base_url + "/", Headers([("Content-Length", "1")]), b"x"))

    assert (response.status, response.headers["Range"]) == (status, "bytes=0-9")
    assert len(server.seen) == 1


HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    "sent, words",
    [
        (HEAD + b"Content-Length: 200000\r\n\r\n" + b"x" * 1000, "1000 bytes read"),
        (HEAD, "closed connection in the headers of its response"),
        (HEAD + b"Content-Type: text/plain\r\nCont", "closed connection in the headers of its response"),
    ],
    ids=["body", "after the status", "header"],
)
def test_a_response_that_breaks_off_is_an_error(sent, words, server, transport):
    def cut(handler):
        handler.wfile.write(sent)
        handler.close_connection = True

    server.reply = cut
    with pytest.raises(TransportError, match=words) as caught:
        transport.send(Request("GET", server.base_url + "/")).content()
    assert caught.value.sent


def test_a_response_may_take_longer_than_the_connection(server, no_proxies):
    def reply_late(handler):
        assert not threading.Event().wait(0.4)
        handler.ok()

    server.reply = reply_late
    assert HttpTransport(timeout=(0.2, 20)).send(Request("GET", server.base_url + "/")).status == 200
    with pytest.raises(TransportError, match=r"Read timed out. \(read timeout=0.2\)"):
        HttpTransport(timeout=(20, 0.2)).send(Request("GET", server.base_url + "/"))


def test_invalid_urls_and_headers_are_hopeless(transport):
    for url in ("ftp://x/", "http:///nothing", "https://nobody.invalid/", "http://x:99999/", "http://x:port/"):
        with pytest.raises(TransportError) as caught:
            transport.send(Request("GET", url))
        assert caught.value.hopeless


@pytest.mark.parametrize("proxy", ["http://", "ftp://proxy.example", "http://proxy.example:port", "socks5://x"])
def test_an_invalid_proxy_is_hopeless_and_its_variable_is_named(proxy, no_proxies, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with pytest.raises(TransportError, match=r"check HTTP_PROXY .*NO_PROXY") as caught:
        HttpTransport().send(Request("GET", "http://outside.example/"))
    assert caught.value.hopeless


def test_a_proxy_that_requires_a_password_is_told_so(server, transport):
    server.reply = lambda handler: handler.ok(407, b"<html>Sign in</html>")
    transport._own_proxies = {"http": server.base_url}
    with pytest.raises(TransportError, match=r"407 Proxy Authentication Required.*check proxies=") as caught:
        transport.send(Request("GET", "http://outside.example/"))
    assert caught.value.unreachable


@pytest.mark.parametrize("url", ["http://outside.example/", "https://outside.example/"])
def test_responses_that_are_not_final_are_bounded_through_a_proxy(server, no_proxies, url):
    def send_without_end(handler):
        with suppress(OSError):
            while True:
                handler.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)

    server.reply = send_without_end
    transport = HttpTransport(proxies={"http": server.base_url, "https": server.base_url})

    with pytest.raises(TransportError):
        transport.send(Request("GET", url))


def test_missing_certificates_in_the_environment_are_hopeless(monkeypatch, tmp_path):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "none.pem"))
    transport = HttpTransport()
    with pytest.raises(TransportError, match=r"none\.pem; check REQUESTS_CA_BUNDLE") as caught:
        transport.send(Request("GET", "https://127.0.0.1/"))
    assert (caught.value.sent, caught.value.hopeless) == (False, True)


@pytest.mark.parametrize(
    "wrong, error, says",
    [
        ({"verify": "nowhere/ca.pem"}, ValueError, "verify is .*does not exist"),
        ({"verify": 3}, TypeError, "verify must be True.*int"),
        ({"proxies": "http://proxy.example"}, TypeError, "proxies must be a dict.*str"),
        ({"proxies": {"http": 3128}}, TypeError, r"proxies\['http'\] must be a URL"),
        ({"proxies": {"https://": "http://proxy.example"}}, ValueError, "a scheme without '://'"),
    ],
)
def test_certificates_and_proxies_are_checked_when_given(wrong, error, says):
    with pytest.raises(error, match=says):
        HttpTransport(**wrong)


@pytest.mark.spec("T-05", "T-05c")
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_request_without_a_response_may_have_arrived_and_no_traceback_of_urllib3_is_kept(server, transport, method):
    """Tracebacks that show variables (IPython's %xmode Verbose, Sentry) would show the request's bytes."""
    server.reply = lambda handler: handler.connection.shutdown(socket.SHUT_RDWR)
    headers = Headers([("Authorization", "Bearer hidden-word"), ("Content-Length", "0")])
    with pytest.raises(TransportError) as caught:
        transport.send(Request(method, server.base_url + "/", headers))
    assert (caught.value.sent, caught.value.hopeless) == (True, False)
    cause = caught.value.__cause__
    while cause is not None:
        assert cause.__traceback__ is None
        cause = cause.__cause__ or cause.__context__


@pytest.fixture
def authority(server, tmp_path):
    """Make the server use TLS and return the file of its authority."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    return tmp_path / "ca.pem"


def https(server: Server) -> Request:
    return Request("GET", server.base_url.replace("http:", "https:") + "/")


def test_an_authority_may_be_given_or_named_by_the_environment_and_others_are_hopeless(server, authority, monkeypatch):
    with pytest.raises(TransportError, match="certificate verify failed") as caught:
        HttpTransport(timeout=(2, 2)).send(https(server))
    assert caught.value.hopeless

    explicit = HttpTransport(verify=authority)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority))
    named = HttpTransport()
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    for transport in (explicit, named):
        assert transport.send(https(server)).status == 200
        transport.close()


@pytest.mark.parametrize(
    "url, hosts, is_direct",
    [
        ("http://127.0.0.1:8080/", "", True),
        ("http://127.9.9.9/", "", True),
        ("http://[::1]:8080/", "x.example", True),
        ("https://LocalHost/", "", True),
        ("https://app.localhost./", "", True),
        ("http://inside.example/", "x.example, inside.example", True),
        ("http://a.inside.example/", ".inside.example", True),
        ("http://a.inside.example/", "*.inside.example", True),
        ("http://inside.example:8080/", "inside.example:8080", True),
        ("https://inside.example/", "INSIDE.example:443", True),
        ("http://10.1.2.3/", "10.0.0.0/8", True),
        ("http://10.1.2.3:8080/", "10.1.2.3:8080", True),
        ("http://[fd00::7]/", "fd00::/8", True),
        ("http://inside.example/", "x.example,*", True),
        ("http://localhost.example/", "inside.example", False),
        ("http://10.1.2.3/", "11.0.0.0/8, 10.1.2.3:8080", False),
        ("http://notinside.example/", "inside.example, *.inside.example", False),
        ("http://inside.example/", " , ", False),
    ],
)
def test_only_this_machine_and_the_hosts_of_no_proxy_need_no_proxy(url, hosts, is_direct, no_proxies, monkeypatch):
    monkeypatch.setenv("NO_PROXY" if is_direct else "no_proxy", hosts)
    monkeypatch.setenv("ALL_PROXY", "http://proxy.example:3128")

    assert (HttpTransport()._proxies_for(url) == {}) == needs_no_proxy(url) == is_direct


def test_proxies_may_be_given(server):
    transport = HttpTransport(proxies={"http": server.base_url})

    transport.send(Request("GET", "http://outside.example/x"))
    transport.close()

    assert server.seen[0][1] == "http://outside.example/x"
