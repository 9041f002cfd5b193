"""Converts a recorded exchange to Python code that sends the request again with the library requests.

The code contains no secrets. The environment variable `SVC_TOKEN` has the token, `SVC_BASE_URL` the address of a
service inside this kernel, and `FILE` the path of a file with the content of a body that was not recorded completely.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...client.transport.http_options import is_loopback
from ...core.http.redaction import REDACTED
from .recorded_body import client_headers, has_token, multipart_frame, sent_span, whole_body

if TYPE_CHECKING:
    from ...client.transport.recorder import Exchange

_TOKEN = 'os.environ["SVC_TOKEN"]'
_BASE_URL = 'os.environ["SVC_BASE_URL"]'
_FILE = 'open(os.environ["FILE"], "rb")'


def python_text(exchange: Exchange, base_url: str | None = None, *, in_process: bool = False) -> str:
    """Return Python code that sends the request of an exchange again.

    If `base_url` is given, it replaces the scheme and host of the recorded URL. Otherwise the environment variable
    `SVC_BASE_URL` replaces them if the service is in this kernel.
    """
    body, data = _body(exchange)
    is_here = is_loopback(urlsplit(base_url or exchange.url).hostname) or (in_process and base_url is None)
    call = [
        f"{_literal(exchange.method)},",
        f"{_url(exchange.url, base_url, in_process=in_process)},",
        *_headers(exchange),
        *([f"data={data},"] if data else []),
        "auth=lambda request: request,  # otherwise an entry of ~/.netrc replaces the header Authorization",
        *(['proxies={"no_proxy": "*"},  # the service is on this machine'] if is_here else []),
        "timeout=60,",
    ]
    lines = [*body, "response = requests.request(", *(f"    {argument}" for argument in call), ")"]
    code = "\n".join([*lines, "print(response.status_code, response.text)"])
    return ("import os\n\n" if "os.environ" in code else "") + "import requests\n\n" + code


def _url(url: str, base_url: str | None, *, in_process: bool) -> str:
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    if in_process and base_url is None:
        return f"{_BASE_URL} + {_with_token(url[len(origin) :])}"
    return _with_token((base_url or origin).rstrip("/") + url[len(origin) :])


def _with_token(text: str) -> str:
    """Return the text as a Python expression in which the token replaces each redacted secret."""
    return f" + {_TOKEN} + ".join(_literal(part) for part in text.split(REDACTED))


def _headers(exchange: Exchange) -> Iterator[str]:
    lines = [f"        {_literal(name)}: {_literal(value)}," for name, value in client_headers(exchange)]
    if has_token(exchange):
        lines.insert(0, f'        "Authorization": "Bearer " + {_TOKEN},')
    if lines:
        yield "\n".join(["headers={", *lines, "    },"])


def _body(exchange: Exchange) -> tuple[list[str], str]:
    """Return the lines of code that read the body, and the expression of the body, or "" if there is no body."""
    if not exchange.sent:
        return [], ""
    if recorded := whole_body(exchange):
        return [], f"{_literal(recorded)}.encode()"
    read = ["    body = file.read()"]
    if span := sent_span(exchange):
        read = [f"    file.seek({span.first})", f"    body = file.read({exchange.sent})"]
    elif frame := multipart_frame(exchange):
        head, tail = (f"{_literal(text)}.encode()" for text in frame)
        read = [f"    body = {head} + file.read() + {tail}"]
    return [f"with {_FILE} as file:", *read], "body"


def _literal(text: str) -> str:
    """Return the text as a Python literal, in double quotes if nothing in it must be escaped."""
    return f'"{text}"' if text.isprintable() and not {'"', "\\"}.intersection(text) else repr(text)
