"""Removes secrets from messages before the messages are stored or shown (T-05).

Secrets are recognized by parameter, JSON field or header names, or by format (bearer token, private key). A secret
whose end is cut off is removed up to the end of the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import quote, unquote, unquote_plus

# The text that replaces a secret.
REDACTED = "[redacted]"

_MAX_SHOWN = 4
_MIN_SHARE = 4

_NAMES = frozenset(
    {
        "access_token", "assertion", "bearer_token", "client_secret", "code_verifier", "id_token", "oauth_token",
        "private_key", "refresh_token",
    }
)  # fmt: skip
_IN_QUERIES = _NAMES | {"code"}
_AT_ENDPOINTS = _IN_QUERIES | {"token"}
# The last path segments of URLs at which `token` and `code` are secrets. Elsewhere, these may be ordinary fields.
_ENDPOINTS = frozenset({"authorize", "revoke", "signin", "token", "tokeninfo"})

_WATCH = "watch"
# The names of secrets in watch requests, where `token` is a secret of the service and the receiver.
_IN_CHANNELS = _NAMES | {"token"}

# JSON fields that identify a body as a token endpoint message.
_OAUTH = ('"grant_type"', '"redirect_uri"', '"client_id"')

_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
_ADDRESSES = frozenset({"location", "content-location", "referer", "refresh"})
_CHANNEL_TOKEN = "-channel-token"  # the prefix of the header is a setting

_MIN_LENGTH = 6  # the minimum length of a secret to search for. Shorter secrets occur in many texts by chance.

_JSON = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:\s*")((?:[^"\\]|\\.)*\\?)')
_FORM = re.compile(r"""(?<![^&=\s"'<>{}\[\](),;?/])([^&=\s"'<>{}\[\](),;?/]++)=([^&\s"'<>\\]+)""")
_BEARER = re.compile(r"\b([Bb]earer) +(?!realm=|error=|scope=|\$)[^\s\"'<>,;\[]+")
_PEM = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)


_MARKS = ("token", "secret", "code", "assertion", "private_key", "key=", "earer ", "-----BEGIN", "\\u", "%")


def may_contain_secret(text: str) -> bool:
    """Return whether a text may contain a secret. Fast test before the slow search."""
    return any(map(text.__contains__, _MARKS))


def redact_headers(pairs: Iterable[tuple[str, str]], secret: str = "") -> tuple[tuple[str, str], ...]:
    """Return the headers with each secret, and the given secret, replaced by `REDACTED`.

    >>> redact_headers([("Authorization", "Bearer abc"), ("Range", "bytes=0-9")])
    (('Authorization', 'Bearer [redacted]'), ('Range', 'bytes=0-9'))
    """
    redacted = []
    for name, value in pairs:
        lower = name.lower()
        if lower in _HEADERS:
            scheme, space, _ = value.partition(" ")
            value = f"{scheme} {REDACTED}" if space and "=" not in scheme else REDACTED
        elif lower in _ADDRESSES:
            value = redact_text(value)
        elif lower.endswith(_CHANNEL_TOKEN):
            value = REDACTED
        if secret and (secret in value or "%" in value):
            value = remove_secret(value, secret)
        redacted.append((name, value))
    return tuple(redacted)


def redact_query(text: str, path: str = "") -> str:
    """Return a URL query with each secret replaced by `REDACTED`. `path` is the path of the URL.

    >>> redact_query("access%5ftoken=abc&alt=media")
    'access%5ftoken=[redacted]&alt=media'
    """
    if not text or not may_contain_secret(text):
        return text
    names = _AT_ENDPOINTS if path.rpartition("/")[2] in _ENDPOINTS else _IN_QUERIES
    items = []
    for name, mark, value in (item.partition("=") for item in text.split("&")):
        inner = unquote(value) if "%" in value else ""  # the value may be a URL with a query
        is_secret = value and (unquote_plus(name) in (*names, "key") or redact_text(inner) != inner)
        items.append(name + mark + (REDACTED if is_secret else value))
    return "&".join(items)


@lru_cache(maxsize=32)  # the chunks of an upload have the same URL
def redact_target(path: str, query: str, secret: str) -> tuple[str, str]:
    """Return the path and the query of a request's URL without the secrets in them and without the given secret.

    >>> redact_target("/files", "access_token=abc&alt=media", "")
    ('/files', 'access_token=[redacted]&alt=media')
    """
    return remove_secret(path, secret), remove_secret(redact_query(query, path), secret)


def redact_url(url: str) -> str:
    """Return a URL with secrets in user information, query and fragment replaced by `REDACTED`.

    User information is percent-encoded, because `urlsplit` refuses a URL with other brackets than those of an address.

    >>> redact_url("https://api.example/token?token=abc")
    'https://api.example/token?token=[redacted]'
    """
    if not may_contain_secret(url) and "@" not in url:
        return url
    start, hash_, fragment = url.partition("#")
    head, mark, query = start.partition("?")
    if "@" in head:
        head = re.sub(r"^([A-Za-z][\w+.-]*://)[^/@]*@", rf"\1{quote(REDACTED)}@", head)
    return head + mark + redact_query(query, head) + (hash_ + redact_query(fragment) if hash_ else "")


def redact_text(text: str, url: str = "") -> str:
    """Return a text, received from or sent to `url` and possibly cut off, with each secret replaced by `REDACTED`.

    >>> redact_text('{"access_token": "abc", "expires_in": 3599}')
    '{"access_token": "[redacted]", "expires_in": 3599}'
    >>> redact_text("grant_type=refresh_token&refresh_token=abc")
    'grant_type=refresh_token&refresh_token=[redacted]'
    """
    if not may_contain_secret(text):
        return text
    path = url.partition("?")[0]
    last_segment = path.rpartition("/")[2]
    endpoint = last_segment in _ENDPOINTS or any(mark in text for mark in _OAUTH)
    fields, queries = (_AT_ENDPOINTS, _AT_ENDPOINTS) if endpoint else (_NAMES, _IN_QUERIES)
    if last_segment == _WATCH:
        fields |= _IN_CHANNELS
    text = _PEM.sub(REDACTED, _BEARER.sub(rf"\1 {REDACTED}", text))
    text = _JSON.sub(lambda match: _redact_field(match, fields), text)
    return _FORM.sub(lambda match: f"{match[1]}={REDACTED}" if unquote_plus(match[1]) in queries else match[0], text)


def mask_token(token: str) -> str:
    """Return the first characters (at most four, and at most a quarter) and the length of a channel token.

    >>> mask_token("5f3a90c1d2e4b7a8"), mask_token("lab")
    ('5f3a… (16 characters)', '… (3 characters)')
    """
    return f"{token[: min(_MAX_SHOWN, len(token) // _MIN_SHARE)]}… ({len(token)} characters)"


def _redact_field(match: re.Match[str], names: frozenset[str]) -> str:
    name = match[1]
    if "\\" in name:
        try:
            name = json.loads(f'"{name}"')
        except ValueError:
            return match[0]
    return f'"{match[1]}"{match[2]}{REDACTED}' if match[3] and name in names else match[0]


def remove_secret(text: str, secret: str) -> str:
    """Return a text with a plain or percent-encoded secret of at least six characters replaced by `REDACTED`.

    >>> remove_secret("https://api.example/files/abc%2Bdef?q=abc%2bdef", "abc+def")
    'https://api.example/[redacted]?q=[redacted]'
    """
    if len(secret) < _MIN_LENGTH:
        return text
    if secret in text:
        text = text.replace(secret, REDACTED)
    if "%" in text and secret in unquote(text):
        return re.sub(r"[^?&#\s]+", lambda match: _remove_encoded_secret(match[0], secret), text)
    return text


def _remove_encoded_secret(text: str, secret: str) -> str:
    """Return a parameter or URL with a percent-encoded secret replaced. Keeps the URL's host."""
    if secret not in unquote(text):
        return text
    name, mark, value = text.partition("=")
    if mark and secret in unquote(value):
        return f"{name}={REDACTED}"
    origin = re.match(r"[a-z]+://[^/]*/|/", text)
    return (origin[0] if origin else "") + REDACTED
