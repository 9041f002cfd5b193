"""Converts the errors of requests, urllib3 and sockets to TransportError, with advice on the setting that is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http.client import BadStatusLine, HTTPException, RemoteDisconnected
from urllib.parse import urlsplit

import requests
from urllib3 import exceptions

from ...core.http.redaction import redact_text
from ...core.printable_text import printable
from .http_options import proxy_advice
from .in_process import TransportError

ERRORS = (requests.RequestException, exceptions.HTTPError, HTTPException, exceptions.ProxySchemeUnsupported, OSError)
"""The base classes of the errors of requests, urllib3, http.client and sockets. A test checks that none is missing."""


def transport_error(error: Exception, url: str = "", own_proxies: object = None) -> TransportError:
    """Return the TransportError for an error of requests, urllib3 or a socket.

    The message names the host of `url`. `own_proxies` is the argument `proxies`, or None.
    """
    layers = list(_layers(error))
    hopeless = any(isinstance(layer, _HOPELESS) for layer in layers)
    early = any(isinstance(layer, _NOT_SENT) for layer in layers)
    message = _unreachable(layers, url, own_proxies) if early or hopeless else ""
    _forget_frames(error)
    return TransportError(
        message or _message(layers[-1]), sent=not (early or hopeless), hopeless=hopeless, unreachable=bool(message)
    )


def _unreachable(layers: list[BaseException], url: str, own_proxies: object) -> str:
    """Return advice with the address that could not be reached, or "" for any other error."""
    parts, inner = urlsplit(url), layers[-1]
    host, origin = parts.hostname, f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    if any(isinstance(layer, exceptions.ProxyError) for layer in layers):
        advice = proxy_advice(url, own_proxies)
        return f"the proxy for {origin} cannot be reached, or refused ({_message(inner)}); {advice}"
    if isinstance(inner, exceptions.NameResolutionError):
        return f"the host {host} of {origin} was not found; check the host name in base_url, and the network"
    if isinstance(inner, exceptions.NewConnectionError) and isinstance(inner.__cause__, ConnectionRefusedError):
        return f"nothing listens at {origin}; check the port in base_url, and that the service runs"
    if isinstance(inner, exceptions.NewConnectionError):
        return f"{origin} cannot be reached ({_message(inner)}); check base_url, and the network"
    if isinstance(inner, exceptions.ConnectTimeoutError):
        return f"{origin} did not accept the connection in time; check base_url, and the network"
    return ""


def safe_cause(error: Exception) -> BaseException | None:
    """Return the innermost error, as outer errors show the URL (T-05), or None if the innermost shows a secret."""
    inner = list(_layers(error))[-1]
    return inner if redact_text(str(inner)) == str(inner) else None


_NOT_SENT = (exceptions.ConnectTimeoutError, exceptions.NewConnectionError, exceptions.ProxyError)


_HOPELESS = (
    requests.exceptions.InvalidURL,
    requests.exceptions.InvalidProxyURL,
    exceptions.InvalidHeader,
    exceptions.LocationValueError,
    exceptions.NameResolutionError,
    exceptions.ProxySchemeUnsupported,
    exceptions.SSLError,
)


def _layers(error: BaseException) -> Iterator[BaseException]:
    yield error
    for inner in (getattr(error, "reason", None), *error.args):
        if isinstance(inner, BaseException):
            yield from _layers(inner)
            return


def _forget_frames(error: BaseException) -> None:
    """Remove the tracebacks of an error and its causes, whose frames contain the access token (T-05)."""
    error.__traceback__ = None
    for before in (error.__cause__, error.__context__):
        if before is not None and before.__traceback__ is not None:
            _forget_frames(before)


def _message(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    if isinstance(error, BadStatusLine) and not isinstance(error, RemoteDisconnected):
        return (
            f"the response is not HTTP; check base_url. The response begins with '{printable(redact_text(text), 60)}'"
        )
    if "WRONG_VERSION_NUMBER" in text:
        return "the server does not use TLS; check the scheme (https or http) and the port in base_url"
    return printable(redact_text(_CONNECTION.sub("", text)))


_CONNECTION = re.compile(r"<.*?>: |\w+\(host=.*?\): ")
"""The object with which urllib3 begins its messages."""
