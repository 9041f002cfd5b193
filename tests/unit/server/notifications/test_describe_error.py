"""Receivers that HttpsSender refuses, and the sentence that describes the failure."""

import socket
import ssl
import sys

import pytest
import trustme

from svc_notebooks.core.notifications.deliveries import AttemptOutcome
from svc_notebooks.server.notifications.trust_store import TrustStore
from tests import receivers
from tests.receivers import AUTHORITY, pem_of, receiver, server_context

STRANGER = trustme.CA()


def why(outcome: AttemptOutcome) -> str:
    assert outcome.status is None
    assert outcome.error
    return outcome.error


@pytest.mark.spec("A8-04", "A8-04b")
@pytest.mark.parametrize(
    "make, fault",
    [
        (receivers.self_signed, "the certificate is self-signed and not trusted"),
        (lambda: server_context(STRANGER.issue_cert("localhost")), "the certificate authority is not trusted"),
        (receivers.expired, "the certificate has expired"),
        (receivers.not_yet_valid, "the certificate is not valid yet"),
        (lambda: server_context(AUTHORITY.issue_cert("hooks.example")), "Hostname mismatch"),
        (lambda: server_context(AUTHORITY.issue_cert("127.0.0.1")), "Hostname mismatch"),
    ],
    ids=["self-signed", "unknown authority", "expired", "not yet valid", "other name", "address instead of name"],
)
def test_a_bad_certificate(sender, make, fault):
    with receiver(make()) as https_receiver:
        place = https_receiver.address.split("/")[2]
        error = why(sender.send(https_receiver.address))

        assert error.startswith(f"the certificate of {place} is not valid: {fault}")
        assert not https_receiver.requests


@pytest.mark.spec("A8-04", "A8-04b")
def test_a_revoked_certificate(sender):
    context, revocation_list = receivers.revoked()
    with receiver(context) as https_receiver:
        assert sender.send(https_receiver.address) == AttemptOutcome(200)
        sender.trust.add(revocation_list)

        assert why(sender.send(https_receiver.address)).endswith("uses a revoked certificate")
        assert len(https_receiver.requests) == 1


@pytest.mark.spec("A8-04", "A8-04b")
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_old_tls(sender, version):
    context = server_context(AUTHORITY.issue_cert("localhost"))
    context.minimum_version = context.maximum_version = version
    with receiver(context) as https_receiver:
        assert why(sender.send(https_receiver.address)).startswith("the TLS connection to localhost:")


@pytest.mark.parametrize(
    "address, error",
    [
        ("http://localhost:8443/in", "messages are sent over https only"),
        ("ftp://localhost/in", "messages are sent over https only"),
        ("", "messages are sent over https only"),
        ("https://", "the address has no host"),
        ("https:///in", "the address has no host"),
        ("https://:8443/in", "the address has no host"),
        ("https://localhost:99999/in", "Port out of range 0-65535"),
        ("https://no-such-host.invalid/in", "the host no-such-host.invalid was not found: "),
        ("https://a..b/in", ""),
        (f"https://{'a' * 64}.example/in", ""),
        ("https://[::1/in", ""),
        ("https://\0/in", ""),
        ("https://ho st/in", ""),
        ("https://localhost\r\nX-Y: z/in", ""),
    ],
)
def test_an_address_that_cannot_be_used(sender, address, error):
    assert why(sender.send(address)).startswith(error)


@pytest.mark.parametrize("value", ["a\r\nX-Other: b", "a\nb", "a\0b", "\x7f"])
def test_a_header_with_a_control_character(sender, https_receiver, value):
    error = why(sender.send(https_receiver.address, headers=[("X-Svc-Channel-Token", value)]))

    assert error == "the header 'X-Svc-Channel-Token' contains a control character"
    assert not https_receiver.requests


def test_nobody_listens(sender):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    error = why(sender.send(f"https://localhost:{port}/in"))
    assert error == f"nothing listens at localhost:{port}: connection refused"


@pytest.mark.parametrize(
    "answer, error",
    [
        (b"", "closed the connection without a response"),
        (b"HTTP/1.1 200", "closed the connection in the middle of its response"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", "closed the connection in the middle of its response"),
        (b"SSH-2.0-OpenSSH_9.0\r\n\r\n", "sent a response that is not HTTP: "),
        (b"HTTP/1.1 2000 OK\r\n\r\n", "sent a response that is not HTTP: "),
        (b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "sent a response that is not HTTP: "),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000, "sent 65536 bytes without an HTTP status"),
    ],
    ids=range(7),
)
def test_no_answer(sender, https_receiver, answer, error):
    https_receiver.answers = [answer]

    assert why(sender.send(https_receiver.address)).partition(" ")[2].startswith(error)


@pytest.mark.parametrize(
    "pem",
    [
        "",
        "no certificate",
        "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\n¡!\n-----END CERTIFICATE-----",
        "-----BEGIN X509 CRL-----\nbm9uZQ==\n-----END X509 CRL-----",
        "-----BEGIN X509 CRL-----\n¡!\n-----END X509 CRL-----",
        AUTHORITY.private_key_pem.bytes().decode(),
        pem_of(AUTHORITY) + "-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----",
        pem_of(AUTHORITY) + "-----BEGIN X509 CRL-----\nbm9uZQ==\n-----END X509 CRL-----",
    ],
)
def test_what_is_no_certificate_is_refused_and_changes_nothing(pem):
    trust = TrustStore()
    before = len(trust.context.get_ca_certs())

    with pytest.raises(ValueError, match=r"certificate|revocation list"):
        trust.add(pem)
    assert len(trust.context.get_ca_certs()) == before


def test_a_list_needs_cryptography(monkeypatch):
    _, revocation_list = receivers.revoked()
    monkeypatch.setitem(sys.modules, "cryptography", None)

    with pytest.raises(ValueError, match="pip install cryptography"):
        TrustStore().add(revocation_list)
    TrustStore().add(pem_of(AUTHORITY))
