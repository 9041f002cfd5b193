"""Style sheets and style attributes with only what cannot fetch or run anything."""

from __future__ import annotations

import re
from collections.abc import Iterator

_COMMENT = re.compile(r"/\*.*?(?:\*/|$)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_TOKEN = re.compile(r""""[^"\n]*"|'[^'\n]*'|[{};]|[^"'{};]+|["']""")
_FUNCTION = re.compile(r"([\w-]*)\s*\(")
_URL = re.compile(r"""url\(\s*(["']?)#[^"'()\s]+\1\s*\)""", re.IGNORECASE)
_SAFE = frozenset(
    [
        "rgb",
        "rgba",
        "hsl",
        "hsla",
        "hwb",
        "lab",
        "lch",
        "oklab",
        "oklch",
        "calc",
        "min",
        "max",
        "clamp",
        "var",
        "matrix",
        "translate",
        "translatex",
        "translatey",
        "scale",
        "scalex",
        "scaley",
        "rotate",
        "skew",
        "skewx",
        "skewy",
        "circle",
        "ellipse",
        "inset",
        "polygon",
        "path",
    ]
)
_BINDINGS = ("behavior", "-moz-binding")
_IMPORTANT = re.compile(r"[<>\\]|javascript:|expression", re.IGNORECASE)


def safe_value(value: str) -> bool:
    """Whether a value only names things of the drawing itself.

    >>> safe_value("url(#a)"), safe_value("url(http://svc.example/a)"), safe_value("rgb(1, 2, 3)")
    (True, False, True)
    """
    left = _URL.sub("", _plain(value))
    return not _IMPORTANT.search(left) and all(found.lower() in _SAFE for found in _FUNCTION.findall(left))


def _plain(text: str) -> str:
    return _ESCAPE.sub(_unescaped, _COMMENT.sub(" ", text))


def _unescaped(found: re.Match[str]) -> str:
    code = int(found[1], 16) if found[1] else 0
    return chr(code) if 0 < code < 0x110000 else found[2] or ""


def declarations(text: str) -> str:
    """A style attribute without what is not safe.

    >>> declarations("fill: red; filter: url(//svc.example/a)")
    'fill: red'
    """
    return "; ".join(_declared(_plain(text)))


def _declared(text: str) -> Iterator[str]:
    for part in text.split(";"):
        name, colon, value = part.partition(":")
        name = name.strip()
        if colon and value.strip() and name.lower() not in _BINDINGS and safe_value(value) and safe_value(name):
            yield f"{name}: {value.strip()}"


def sheet(text: str) -> str:
    """A style sheet of plain rules: those that begin with @ are left out with all that is in them."""
    return "\n".join(
        f"{selector} {{ {kept} }}" for selector, body in rules(_plain(text)) if (kept := declarations(body))
    )


def rules(text: str) -> Iterator[tuple[str, str]]:
    """Selectors and what is between their braces."""
    prelude, body, depth = "", "", 0
    for token in _TOKEN.findall(text):
        if token == "{":
            depth += 1
        elif token == "}":
            depth = max(0, depth - 1)
            if depth == 0:
                if _plain_selector(prelude):
                    yield prelude.strip(), body
                prelude = body = ""
        elif depth == 0:
            prelude = "" if token == ";" else prelude + token
        elif depth == 1:
            body += token


def _plain_selector(prelude: str) -> bool:
    prelude = prelude.strip()
    return bool(prelude) and not prelude.startswith("@") and not _IMPORTANT.search(prelude.replace(">", ""))
