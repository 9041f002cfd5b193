"""HTTPS receivers of notifications, on the standard library alone: what a program in any language would be."""

import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Thread
from typing import Any

import trustme

from tests.patience import PATIENCE


@dataclass(frozen=True)
class Received:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes
    port: int

    def __getattr__(self, name: str) -> str | None:
        """`received.resource_state` is the header X-Svc-Resource-State."""
        return self.headers.get("x-svc-" + name.replace("_", "-"))

    @property
    def number(self) -> int:
        return int(self.headers["x-svc-message-number"])


@dataclass
class Receiver:
    """A receiver's memory and its orders."""

    address: str
    ca_pem: str
    answers: list[int | bytes | Callable[[socket.socket], None]] = field(default_factory=list)
    """What the next requests are answered, one each; then 200. Bytes go out raw, a function has the socket."""
    delay: float = 0.0
    requests: list[Received] = field(default_factory=list)
    arrived: Condition = field(default_factory=Condition)

    @property
    def states(self) -> list[str | None]:
        return [request.resource_state for request in list(self.requests)]

    def wait_for(self, count: int, seconds: float = PATIENCE) -> list[Received]:
        """The first so many requests; fails if they do not come."""
        with self.arrived:
            came = self.arrived.wait_for(lambda: len(self.requests) >= count, seconds)
            assert came, f"{len(self.requests)} of {count} came: {self.states}"
            return list(self.requests)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    receiver: Receiver

    def setup(self) -> None:
        self.request.settimeout(PATIENCE)
        self.request.do_handshake()
        super().setup()

    def handle(self) -> None:
        with suppress(OSError):
            super().handle()

    def finish(self) -> None:
        with suppress(OSError):
            super().finish()

    def do_POST(self) -> None:
        receiver = self.receiver
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with receiver.arrived:
            receiver.requests.append(Received(self.path, headers, body, self.client_address[1]))
            answer = receiver.answers.pop(0) if receiver.answers else 200
            receiver.arrived.notify_all()
        if receiver.delay:
            time.sleep(receiver.delay)
        self._answer(answer)

    def _answer(self, answer: Any) -> None:
        if isinstance(answer, int):
            self.send_response(answer)
            if answer >= 200 and answer != 204:
                self.send_header("Content-Length", "0")
            self.end_headers()
        elif isinstance(answer, bytes):
            self.wfile.write(answer)
            self.close_connection = True
        else:
            answer(self.request)
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, place: tuple[str, int], handler: type[_Handler]) -> None:
        self.address_family = socket.AF_INET6 if ":" in place[0] else socket.AF_INET
        super().__init__(place, handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a handshake that the other side refused


AUTHORITY = trustme.CA()
"""The authority of every receiver that is made without another one."""


def server_context(leaf: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    leaf.configure_cert(context)
    return context


def pem_of(authority: trustme.CA) -> str:
    return authority.cert_pem.bytes().decode()


@contextmanager
def receiver(
    context: ssl.SSLContext | None = None,
    *,
    host: str = "localhost",
    authority: trustme.CA = AUTHORITY,
    listens_at: str = "127.0.0.1",
) -> Iterator[Receiver]:
    """A receiver on loopback with a good certificate, unless another context is given; `host` as addresses write it."""
    context = context or server_context(authority.issue_cert("localhost", "127.0.0.1", "::1"))
    handler = type("Handler", (_Handler,), {})
    server = _Server((listens_at, 0), handler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    handler.receiver = Receiver(f"https://{host}:{server.server_address[1]}/hook", pem_of(authority))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield handler.receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def dead_receiver() -> Iterator[str]:
    """An address that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as silent:
        yield f"https://localhost:{silent.getsockname()[1]}/hook"


def self_signed() -> ssl.SSLContext:
    """A certificate that its own key signed."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = (
        builder.not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return server_context(trustme.LeafCert(secret, made.public_bytes(pem), []))


def expired(authority: trustme.CA = AUTHORITY) -> ssl.SSLContext:
    """A certificate whose time is over."""
    return server_context(authority.issue_cert("localhost", not_after=datetime.now(UTC) - timedelta(hours=1)))


def not_yet_valid(authority: trustme.CA = AUTHORITY) -> ssl.SSLContext:
    """A certificate whose time is still to come."""
    return server_context(authority.issue_cert("localhost", not_before=datetime.now(UTC) + timedelta(days=1)))


def revoked(authority: trustme.CA = AUTHORITY) -> tuple[ssl.SSLContext, str]:
    """A certificate, and the authority's list that revokes it, in PEM."""
    leaf = authority.issue_cert("localhost")
    return server_context(leaf), revocation_list(authority, leaf)


def revocation_list(authority: trustme.CA, leaf: trustme.LeafCert) -> str:
    """The list of the authority that revokes the certificate, in PEM."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization

    now = datetime.now(UTC)
    mine = x509.load_pem_x509_certificate(leaf.cert_chain_pems[0].bytes())
    issuer = x509.load_pem_x509_certificate(authority.cert_pem.bytes())
    key = serialization.load_pem_private_key(authority.private_key_pem.bytes(), None)
    entry = x509.RevokedCertificateBuilder().serial_number(mine.serial_number).revocation_date(now).build()
    builder = x509.CertificateRevocationListBuilder().issuer_name(issuer.subject).last_update(now)
    made = builder.next_update(now + timedelta(days=1)).add_revoked_certificate(entry).sign(key, hashes.SHA256())
    return made.public_bytes(serialization.Encoding.PEM).decode()
