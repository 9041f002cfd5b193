"""The suite speaks of svc, ada and bob; a deployment has names and people of its own.

What goes out is said in the deployment's words, what comes back in ours. With the names of the interface and
its own people nothing is touched.
"""

from collections.abc import Iterable
from urllib.parse import quote

from svc_notebooks.core.brand_names import Names


class Translation:
    """Pairs of words, ours and theirs."""

    def __init__(self, theirs: Names) -> None:
        ours = Names()
        self._roots = [
            (our_path, their_path)
            for our_path, their_path in (
                (ours.upload_path(), theirs.upload_path()),
                (ours.path(), theirs.path()),
                (ours.calendar_path(), theirs.calendar_path()),
            )
            if our_path != their_path
        ]
        self._words: list[tuple[str, str]] = []
        self._add([(ours.media_prefix, theirs.media_prefix)])
        kinds = {theirs.kind(""), theirs.calendar_kind("")} - {ours.kind("")}
        self._kinds = [(f'"{ours.kind("")}', f'"{kind}') for kind in sorted(kinds)]
        self._header = (ours.header_prefix, theirs.header_prefix)

    def person(self, ours: str, theirs: str) -> None:
        """A person of the suite has this address there."""
        self._add([(ours, theirs), (quote(ours), quote(theirs))])

    def _add(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._words += [(our_word, their_word) for our_word, their_word in pairs if our_word != their_word]

    def target(self, path: str) -> str:
        for ours, theirs in self._roots:
            if path.startswith(ours):
                path = theirs + path[len(ours) :]
                break
        return _replaced(path, self._words)

    def out(self, body: bytes) -> bytes:
        return _replaced_bytes(body, self._words)

    def header(self, name: str) -> str:
        ours, theirs = self._header
        return theirs + name[len(ours) :] if name.startswith(ours) else name

    def back(self, body: bytes) -> bytes:
        return _replaced_bytes(body, [(theirs, ours) for ours, theirs in self._words + self._kinds + self._roots])

    def header_back(self, value: str) -> str:
        return _replaced(value, [(theirs, ours) for ours, theirs in self._words + self._roots])


def _replaced(text: str, pairs: Iterable[tuple[str, str]]) -> str:
    for old, new in pairs:
        text = text.replace(old, new)
    return text


def _replaced_bytes(body: bytes, pairs: Iterable[tuple[str, str]]) -> bytes:
    for old, new in pairs:
        body = body.replace(old.encode(), new.encode())
    return body
