"""What people read: numbers, sizes and times as words, and HTML of escaped texts."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import groupby

_VOID = frozenset({"br", "input", "meta", "hr"})


class Markup(str):
    """A string that contains HTML. `escape_html` does not escape a Markup."""

    __slots__ = ()


def escape_html(value: object) -> Markup:
    """Return a value as HTML. Markup is returned unchanged, the text of any other value is escaped.

    >>> escape_html("<b>")
    '&lt;b&gt;'
    """
    return value if isinstance(value, Markup) else Markup(escape(str(value), quote=True))


def join_html(*children: object) -> Markup:
    """Return the values as one HTML text. Values that are not Markup are escaped."""
    return Markup("".join(escape_html(child) for child in children))


def tag(element: str, *children: object, **attributes: object) -> Markup:
    """Return an HTML element with children and attributes.

    In an attribute name, `_` stands for `-`. A `_` at the end of the name is dropped, as in `class_`. Attributes
    with the value None are omitted, and a link that could run a script.

    >>> tag("p", "a < b", class_="note", aria_live="polite")
    '<p class="note" aria-live="polite">a &lt; b</p>'
    >>> tag("a", "x", href="javascript:alert(1)")
    '<a>x</a>'
    """
    opened = f"<{element}{_attributes(attributes)}>"
    return Markup(opened if element in _VOID else f"{opened}{join_html(*children)}</{element}>")


def _attributes(attributes: dict[str, object]) -> str:
    return "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape_html(value)}"'
        for name, value in attributes.items()
        if value is not None and (name != "href" or str(value).startswith(("https://", "http://")))
    )


KIB = 1024
MIB = 1024 * KIB

_UNITS = (("GiB", 1024 * MIB), ("MiB", MIB), ("KiB", KIB))


def size_text(size: int) -> str:
    """Return a number of bytes as text in the largest unit that is not larger than the number.

    >>> size_text(262_144), size_text(300), size_text(1), size_text(268_435_456)
    ('256 KiB', '300 bytes', '1 byte', '256 MiB')
    """
    for unit, factor in _UNITS:
        if size >= factor:
            return f"{size / factor:.1f}".removesuffix(".0") + f" {unit}"
    return "1 byte" if size == 1 else f"{size} bytes"


def progress_text(done: int, total: int | None) -> str:
    """Return the number of transferred bytes as text. If the total is known, add the total and the percentage.

    >>> progress_text(262_144, 1_048_576)
    '256 KiB of 1 MiB (25 %)'
    """
    if total is None:
        return size_text(done)
    percent = 100 * done // total if total else 100
    return f"{size_text(done)} of {size_text(total)} ({percent} %)"


def share_text(done: int, total: int | None) -> str:
    """Return a number of bytes and the total in the unit of the total, or only the number without a total.

    >>> share_text(63_963_136, 299_892_736), share_text(0, 1_500_000), share_text(262_144, None)
    ('61 of 286 MiB', '0 of 1.4 MiB', '256 KiB')
    """
    if total is None:
        return size_text(done)
    unit, factor = next((pair for pair in _UNITS if total >= pair[1]), ("bytes", 1))
    digits = 1 if factor > 1 and total < 10 * factor else 0
    numbers = [f"{size / factor:.{digits}f}".removesuffix(".0") for size in (done, total)]
    return f"{numbers[0]} of {numbers[1]} {unit}"


def count_text(count: int, noun: str) -> str:
    """Return a number with a noun.

    >>> count_text(1, "file"), count_text(2, "file")
    ('1 file', '2 files')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def ranges(numbers: Iterable[int]) -> list[str]:
    """Return numbers in ascending order as texts, with a range for consecutive numbers.

    >>> ranges([2, 3, 4, 7])
    ['2-4', '7']
    """
    runs = [[n for _, n in run] for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])]
    return [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]


def listed(items: Iterable[object], most: int = 5, separator: str = ", ") -> str:
    """Return at most this many items for a message, and the number of the others.

    >>> listed("abc", 2)
    'a, b and 1 more'
    """
    texts = list(map(str, items))
    return separator.join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")
