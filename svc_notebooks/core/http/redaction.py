"""What of a message is a secret, and how it is taken out before anything is kept or shown (T-05).

A secret is known by its name (a parameter, a field of JSON, a header) or by its look (a bearer's word, a private
key). Texts may be the beginning of a message: a value that has no end yet is taken out up to where the text ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import unquote, unquote_plus

REDACTED = "[redacted]"
"""What stands in place of a secret."""

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
_ENDPOINTS = frozenset({"authorize", "revoke", "signin", "token", "tokeninfo"})
"""Addresses that are about secrets: there `token` and `code` are some in every form; elsewhere they may be a
field of a file, or the code of an error."""

_WATCH = "watch"
_IN_CHANNELS = _NAMES | {"token"}
"""At an address that ends in `watch`, `token` is a channel's: a secret between the service and a receiver."""

_OAUTH = ('"grant_type"', '"redirect_uri"', '"client_id"')
"""A body that has one of these is about secrets, too."""

_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
_ADDRESSES = frozenset({"location", "content-location", "referer", "refresh"})
_SPECIAL = _HEADERS | _ADDRESSES
_CHANNEL_TOKEN = "-channel-token"  # the prefix of the header is a setting

_MIN_LENGTH = 6
"""A word with fewer letters is in every other text."""

_JSON = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:\s*")((?:[^"\\]|\\.)*\\?)')
_FORM = re.compile(r"""(?<![^&=\s"'<>{}\[\](),;?/])([^&=\s"'<>{}\[\](),;?/]++)=([^&\s"'<>\\]+)""")
_BEARER = re.compile(r"\b([Bb]earer) +(?!realm=|error=|scope=|\$)[^\s\"'<>,;\[]+")
_PEM = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)


def may_contain_secret(text: str) -> bool:
    """Whether there is anything to look closer at: cheap enough to be asked of everything that goes by."""
    return (
        "token" in text
        or "secret" in text
        or "code" in text
        or "assertion" in text
        or "private_key" in text
        or "earer " in text
        or "-----BEGIN" in text
        or "\\u" in text
        or "%" in text
    )


def redacted_headers(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Headers without secrets.

    >>> redacted_headers([("Authorization", "Bearer abc"), ("Range", "bytes=0-9")])
    (('Authorization', 'Bearer [redacted]'), ('Range', 'bytes=0-9'))
    """
    return tuple([_header(*pair) if _is_special(pair[0]) else pair for pair in pairs])


@lru_cache(maxsize=256)
def _is_special(name: str) -> bool:
    """Asked of every header that goes by, and the names are few."""
    return name.lower() in _SPECIAL or name.lower().endswith(_CHANNEL_TOKEN)


def _header(name: str, value: str) -> tuple[str, str]:
    if name.lower() in _ADDRESSES:
        return name, redacted_text(value)
    if name.lower().endswith(_CHANNEL_TOKEN):
        return name, REDACTED
    scheme, space, _ = value.partition(" ")
    return name, f"{scheme} {REDACTED}" if space and "=" not in scheme else REDACTED


def redacted_query(text: str, path: str = "") -> str:
    """A query, of an address with this path, without secrets.

    >>> redacted_query("access%5ftoken=abc&alt=media")
    'access%5ftoken=[redacted]&alt=media'
    """
    if not text or not may_contain_secret(text):
        return text
    names = _AT_ENDPOINTS if _is_endpoint(path) else _IN_QUERIES
    items = (item.partition("=") for item in text.split("&"))
    return "&".join(name + mark + _value(name, value, names) for name, mark, value in items)


def _value(name: str, value: str, names: frozenset[str]) -> str:
    """A parameter's value; an address in it may have parameters of its own."""
    inner = unquote(value) if "%" in value else ""
    return REDACTED if value and (_is_secret_name(name, names) or redacted_text(inner) != inner) else value


def redacted_url(url: str) -> str:
    """A URL whose query, fragment and user part have no secrets.

    >>> redacted_url("https://api.example/token?token=abc")
    'https://api.example/token?token=[redacted]'
    """
    if "?" not in url and "#" not in url and "@" not in url:
        return url
    start, hash_, fragment = url.partition("#")
    head, mark, query = start.partition("?")
    return _without_user(head) + mark + redacted_query(query, head) + hash_ + redacted_query(fragment)


def _without_user(head: str) -> str:
    """A user and a password in front of a host go: they are a secret whatever they are called."""
    return re.sub(r"^([A-Za-z][\w+.-]*://)[^/@]*@", rf"\1{REDACTED}@", head)


def redacted_text(text: str, url: str = "") -> str:
    """A text of any kind, or the beginning of one, without secrets; `url`: the address that it belongs to.

    >>> redacted_text('{"access_token": "abc", "expires_in": 3599}')
    '{"access_token": "[redacted]", "expires_in": 3599}'
    >>> redacted_text("grant_type=refresh_token&refresh_token=abc")
    'grant_type=refresh_token&refresh_token=[redacted]'
    """
    if not may_contain_secret(text):
        return text
    path = url.partition("?")[0]
    endpoint = _is_endpoint(path) or any(mark in text for mark in _OAUTH)
    fields, queries = (_AT_ENDPOINTS, _AT_ENDPOINTS) if endpoint else (_NAMES, _IN_QUERIES)
    if path.rpartition("/")[2] == _WATCH:
        fields |= _IN_CHANNELS
    text = _PEM.sub(REDACTED, _BEARER.sub(rf"\1 {REDACTED}", text))
    text = _JSON.sub(lambda match: _field(match, fields), text)
    return _FORM.sub(lambda match: f"{match[1]}={REDACTED}" if _is_secret_name(match[1], queries) else match[0], text)


def masked(token: str) -> str:
    """A channel's token as it is shown: its first characters, at most four and at most a quarter of it, and its length.

    >>> masked("5f3a90c1d2e4b7a8"), masked("lab")
    ('5f3a… (16 characters)', '… (3 characters)')
    """
    return f"{token[: min(_MAX_SHOWN, len(token) // _MIN_SHARE)]}… ({len(token)} characters)"


def _is_endpoint(path: str) -> bool:
    return path.rpartition("/")[2] in _ENDPOINTS


def _field(match: re.Match[str], names: frozenset[str]) -> str:
    name = match[1]
    if "\\" in name:
        try:
            name = json.loads(f'"{name}"')
        except ValueError:
            return match[0]
    return f'"{match[1]}"{match[2]}{REDACTED}' if match[3] and name in names else match[0]


def _is_secret_name(name: str, names: frozenset[str]) -> bool:
    return unquote_plus(name) in names


def without_secret(text: str, secret: str) -> str:
    """The text without a secret that is at hand, wherever it stands, percent-encoded or not.

    >>> without_secret("https://api.example/files/abc%2Bdef?q=abc%2bdef", "abc+def")
    'https://api.example/[redacted]?q=[redacted]'
    """
    if len(secret) < _MIN_LENGTH:
        return text
    if secret in text:
        text = text.replace(secret, REDACTED)
    if "%" in text and secret in unquote(text):
        return re.sub(r"[^?&#\s]+", lambda match: _piece(match[0], secret), text)
    return text


def _piece(text: str, secret: str) -> str:
    """A parameter or a path; of an address the host stays."""
    if secret not in unquote(text):
        return text
    name, mark, value = text.partition("=")
    if mark and secret in unquote(value):
        return f"{name}={REDACTED}"
    origin = re.match(r"[a-z]+://[^/]*/|/", text)
    return (origin[0] if origin else "") + REDACTED
