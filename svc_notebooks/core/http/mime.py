"""Detects the media type of content by the file name extension, then by the first bytes.

The machine's own tables are not used, so that a file has the same type everywhere. Unknown content, including plain
text without an extension, is application/octet-stream (U-03).
"""

from __future__ import annotations

import mimetypes
from functools import lru_cache

from . import native_formats

UNKNOWN = "application/octet-stream"
"""The media type of content that cannot be detected (U-03)."""

SNIFFED_BYTES = 16
"""The number of leading bytes that `sniff` needs."""

# fmt: off
SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-",               native_formats.PDF),
    (b"\x89PNG\r\n\x1a\n",   native_formats.PNG),
    (b"\xff\xd8\xff",        native_formats.JPEG),
    (b"GIF87a",              "image/gif"),
    (b"GIF89a",              "image/gif"),
    (b"{\\rtf",              native_formats.RTF),
    (b"PK\x03\x04",          native_formats.ZIP),
    (b"\x1f\x8b",            "application/gzip"),
)

EXTENSIONS: dict[str, str] = {
    **{f".{name}": kind for row in native_formats.IMPORTS for name, kind in row.by_extension.items()},
    ".epub":    native_formats.EPUB,
    ".parquet": "application/vnd.apache.parquet",
    ".jsonl":   "application/jsonl",
    ".ndjson":  "application/x-ndjson",
    ".ipynb":   "application/x-ipynb+json",
    ".yaml":    "application/yaml",
    ".yml":     "application/yaml",
    ".gz":      "application/gzip",
    ".ics":     "text/calendar",
}
# fmt: on


@lru_cache(maxsize=1)
def _builtin_types() -> dict[str, str]:
    return mimetypes.MimeTypes(filenames=()).types_map[True]


def by_name(name: str) -> str | None:
    """Return the media type for a file name extension, or None if the extension is unknown.

    >>> by_name("survey.CSV"), by_name("README")
    ('text/csv', None)
    """
    dot = name.rfind(".")
    extension = name[dot:].lower() if dot > 0 else ""
    return EXTENSIONS.get(extension) or _builtin_types().get(extension)


def sniff(head: bytes) -> str | None:
    """Return the media type that the first bytes of content identify, or None if unknown.

    >>> sniff(b"%PDF-1.7 ..."), sniff(b"hello")
    ('application/pdf', None)
    """
    return next((media_type for mark, media_type in SIGNATURES if head.startswith(mark)), None)


def detect(name: str | None, head: bytes) -> str:
    """Return the media type by file name, else by the first bytes, else application/octet-stream."""
    return (name and by_name(name)) or sniff(head) or UNKNOWN


def extension_of(name: str) -> tuple[str, str]:
    """Return the last and the full extension of a file name without the leading dot, each "" if missing.

    >>> extension_of("data.tar.gz")
    ('gz', 'tar.gz')
    """
    stem, *parts = name.lstrip(".").split(".")
    return (parts[-1], ".".join(parts)) if parts and stem else ("", "")
