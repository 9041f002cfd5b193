"""Shows the difference between two HTTP exchanges as HTML."""

from __future__ import annotations

import difflib

from ...exchanges.compare import compare_exchanges
from ...exchanges.exchange_view import ExchangeView
from ...widgets.html import Markup, join_html, tag

_MESSAGES = ("request", "response")
_EQUAL = "The recorded requests and responses are equal. Only the first 2 KiB of each text body are recorded."
_VALUE = "white-space: normal; overflow-wrap: anywhere"


def difference_view(old: ExchangeView, new: ExchangeView) -> Markup:
    """Return HTML with a table of the different columns and headers, and a unified diff of each different body."""
    title = tag("p", tag("strong", f"Difference between exchanges {old.n} and {new.n}"))
    differences = compare_exchanges(old, new)
    if differences.empty:
        return join_html(title, tag("p", _EQUAL))
    is_body = differences["what"].isin([f"{message} body" for message in _MESSAGES])
    changed = set(differences["what"])
    bodies = [_body_difference(old, new, message) for message in _MESSAGES if f"{message} body" in changed]
    rows = [
        tag("tr", tag("th", row.what, scope="row"), _cell(row.first), _cell(row.second))
        for row in differences[~is_body].itertuples()
    ]
    heads = [tag("th", text, scope="col") for text in ("Field", f"Exchange {old.n}", f"Exchange {new.n}")]
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows))
    shown = tag("div", table, class_="svc-rows", tabindex="0", role="region", aria_label="Differences")
    return join_html(title, shown if rows else "", *bodies)


def _cell(value: object) -> Markup:
    return tag("td", value if isinstance(value, str) else "(none)", style=_VALUE)


def _body_difference(old: ExchangeView, new: ExchangeView, message: str) -> Markup:
    before, after = ((getattr(view, f"{message}_body") or "").splitlines() for view in (old, new))
    lines = difflib.unified_diff(before, after, f"exchange {old.n}", f"exchange {new.n}", lineterm="")
    return join_html(tag("p", f"Body of the {message}"), tag("pre", "\n".join(lines)))
