"""Turns the columns in the Returns section of a docstring into a list, for the documentation site."""

import re

_BEFORE = re.compile(r"(One row\b[^:.]*:|.*?\bColumns:) ")
_SEPARATOR = re.compile(r"[(\[]|[)\]]|`[^`]*`|, |\.(?= |$)")
_COLUMN = re.compile(r"(?:and )?(\w+(?: and \w+)?)(?: (\(.*\)))?( and more)?")


def list_columns(section: list[str]) -> list[str]:
    """Return the lines of a Returns section with its columns as bullets, or the same lines if it names no columns.

    The columns follow a colon: "One row for each file: id, name (str), size (Int64, bytes)." Columns before the same
    parenthesis share a bullet.
    """
    text = " ".join(line.strip() for line in section)
    opening = _BEFORE.match(text)
    if opening is None:
        return section
    entries, rest = split(text[opening.end() :])
    bullets = group(entries)
    if len(bullets) < 2:
        return section
    lines = [opening[1], "", *(f"* {bullet}" for bullet in bullets), "", *([rest, ""] if rest else [])]
    return [f"    {line}" if line else "" for line in lines]


def split(text: str) -> tuple[list[str], str]:
    """Split a sentence at its commas outside parentheses. Return the parts, and the text after the sentence."""
    parts, start, depth = [], 0, 0
    for match in _SEPARATOR.finditer(text):
        depth += (match[0] in "([") - (match[0] in ")]")
        if depth == 0 and match[0] in (", ", "."):
            parts.append(text[start : match.start()])
            start = match.end()
            if match[0] == ".":
                return parts, text[start:].strip()
    return [*parts, text[start:]], ""


def group(entries: list[str]) -> list[str]:
    """Return a bullet for each parenthesis, with the columns before it. Without a column in an entry, return []."""
    bullets: list[str] = []
    names: list[str] = []
    for entry in entries:
        match = _COLUMN.fullmatch(entry)
        if match:
            names += [f"**{name}**" for name in match[1].split(" and ")]
            if match[2]:
                bullets.append(f"{', '.join(names)} {match[2]}")
                names = []
            bullets += ["and more"] if match[3] else []
        elif entry.startswith("and ") and not names:
            bullets.append(entry)
        else:
            return []
    return bullets + ([", ".join(names)] if names else [])
