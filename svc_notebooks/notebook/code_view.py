"""The call that does the same as a form, to be read and copied."""

from __future__ import annotations

from .markup import Markup, tag

_COPY = {
    "type": "button",
    "title": "Copy the code",
    "onclick": "getSelection().selectAllChildren(this.closest('.svc-code').querySelector('pre'));"
    "document.execCommand('copy'); this.textContent = 'Copied'",
}
"""Without navigator.clipboard, which is there over https and on this machine alone."""


def code_view(code: str) -> Markup:
    """The code below a button that copies it.

    >>> "<pre>svc.files()</pre>" in code_view("svc.files()")
    True
    """
    head = tag("p", tag("strong", "The same in code"), " ", tag("button", "Copy", **_COPY))
    return tag("div", head, tag("pre", code), class_="svc-code")
