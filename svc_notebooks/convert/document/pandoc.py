"""Runs pandoc as a sandboxed subprocess with limits of memory and time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..engines import available
from ..engines.available import pandoc
from ..job import ConversionError, Job, TooLarge
from .model import SPACE, Document, deep_recursion, load_tree

_MAX_PHRASE = 1_000  # the letters of words in one node: some writers need much memory for each letter of a node
_HEAP_EXHAUSTED = 251
_SYSTEM_LIMIT = b"Unable to commit"  # what pandoc says when the system refuses memory


def read(source: bytes, reader: str, job: Job, *options: str, extracts: bool = True) -> dict[str, Any]:
    """Parse a source with pandoc's reader `reader`, and return the tree.

    If `extracts` is true, pandoc extracts pictures to the job's folder `media`, else their targets stay as they are.
    Raises ConversionError if pandoc cannot read the source, and TooLarge if it exceeds a limit of memory or time.
    """
    extract = (f"--extract-media={job.folder / 'media'}",) if extracts else ()
    text = run((f"--from={reader}", "--to=json", *extract, *options), source, job)
    with deep_recursion():
        return load_tree(text)


def write(document: Document, writer: str, job: Job, *options: str) -> bytes:
    """Convert a document with a pandoc writer. Image targets must be data URIs or valid paths in the target file."""
    with deep_recursion():
        # The Markdown writer escapes signs by their place in the node; other writers get fewer nodes.
        tree = document.tree if writer.startswith("markdown") else _with_phrases(document.tree)
        source = json.dumps(tree, ensure_ascii=False).encode("utf-8", "replace")
    return run(("--from=json", f"--to={writer}", "--output=-", "--syntax-highlighting=none", *options), source, job)


def _with_phrases(value: Any) -> Any:
    """Return a tree in which one Str node has many words, since pandoc needs much memory for each node."""
    if isinstance(value, dict):
        return {name: _with_phrases(inner) for name, inner in value.items()}
    if not isinstance(value, list):
        return value
    nodes: list[Any] = []
    for node in value:
        if isinstance(node, dict) and node.get("t") == "Str":
            follows_word = [before["t"] for before in nodes[-2:]] == ["Str", "Space"]
            if follows_word and 0 < len(nodes[-2]["c"]) < _MAX_PHRASE:
                nodes[-2:] = [{"t": "Str", "c": f"{nodes[-2]['c']} {node['c']}"}]
            else:
                nodes.append(node)
        else:
            nodes.append(node if node == SPACE else _with_phrases(node))
    return nodes


def run(options: Sequence[str], source: bytes, job: Job) -> bytes:
    """Run pandoc with standard input `source`, and return standard output.

    Pandoc can access only files that the options name, and no network. SOURCE_DATE_EPOCH is `job.now`. Raises
    ConversionError if pandoc reports an error, and TooLarge if pandoc exceeds the limit of memory or time.
    """
    environment = {
        "LANG": "C.UTF-8", "HOME": str(job.folder), "SOURCE_DATE_EPOCH": str(int(job.now.timestamp())), "PATH": "",
    }  # fmt: skip
    heap = available.program_memory(job) * 3 // 4  # pandoc may exceed its own limit by a third before it is ended
    command = [
        str(pandoc()), "+RTS", f"-M{heap}", "-RTS", "--sandbox", "--quiet", f"--data-dir={job.folder}", *options,
    ]  # fmt: skip
    status, output, errors = available.run(command, source, environment, job)
    if status == _HEAP_EXHAUSTED or _SYSTEM_LIMIT in errors:
        raise TooLarge("the conversion needs more memory than the limit.")
    if status:
        message = errors.decode("utf-8", "replace").strip().partition("\n")[0]
        reason = f", or does not match its media type: {message[:200]}" if message else "."
        raise ConversionError(f"the file is damaged{reason}")
    return output
