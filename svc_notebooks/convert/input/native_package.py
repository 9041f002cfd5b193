"""Packs a native document for storage as a zip file with its JSON value and its images."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any, TypeAlias

_VALUE_NAME = "value.json"
_ODF_NAME = "libreoffice.odf"
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)  # of all members, so that equal content gives equal bytes
_LATEST = (2107, 12, 31, 23, 59, 58)

Stamp: TypeAlias = tuple[int, int, int, int, int, int]


def zip_timestamp(moment: datetime) -> Stamp:
    """Return the nearest time that a zip file can store, as (year, month, day, hour, minute, second).

    >>> zip_timestamp(datetime(2026, 1, 5, 9)), zip_timestamp(datetime(2110, 1, 1))[0]
    ((2026, 1, 5, 9, 0, 0), 2107)
    """
    time_fields = (moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second)
    return min(max(time_fields, ZIP_EPOCH), _LATEST)


def zipped(members: Mapping[str, str | bytes], stamp: Stamp = ZIP_EPOCH, level: int | None = None) -> bytes:
    """Return a zip file whose members have one modification time. `mimetype` and pictures are not compressed."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name, content in members.items():
            is_stored = name == "mimetype" or name.endswith((".png", ".jpg", ".gif"))
            data = content.encode("utf-8", "replace") if isinstance(content, str) else content
            method = zipfile.ZIP_STORED if is_stored else zipfile.ZIP_DEFLATED
            file.writestr(zipfile.ZipInfo(name, stamp), data, method, level)
    return target.getvalue()


def pack(value: Any, resources: Mapping[str, bytes]) -> bytes:
    """Return a zip file with a JSON value and named resources. Equal content gives equal bytes.

    >>> unpack(pack({"slides": []}, {"a.png": b"x"}))
    ({'slides': []}, {'a.png': b'x'})
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return zipped({_VALUE_NAME: text, **dict(sorted(resources.items()))}, level=1)


def unpack(body: bytes, loads: Callable[[bytes], Any] = json.loads) -> tuple[Any, dict[str, bytes]]:
    """Return the JSON value, which `loads` parses, and the resources (bytes by name) in a zip file by `pack`."""
    with zipfile.ZipFile(io.BytesIO(body)) as file:
        value = loads(file.read(_VALUE_NAME))
        return value, {name: file.read(name) for name in file.namelist() if name not in (_VALUE_NAME, _ODF_NAME)}


def with_odf(package: bytes, odf: bytes) -> bytes:
    """Return a package with an OpenDocument file beside the JSON value, which `unpack` ignores.

    >>> odf_of(with_odf(pack({}, {}), b"odf")), odf_of(pack({}, {}))
    (b'odf', None)
    """
    target = io.BytesIO(package)
    with zipfile.ZipFile(target, "a") as file:
        file.writestr(zipfile.ZipInfo(_ODF_NAME, ZIP_EPOCH), odf)
    return target.getvalue()


def odf_of(package: bytes) -> bytes | None:
    """Return the OpenDocument file in a package, or None."""
    with zipfile.ZipFile(io.BytesIO(package)) as file:
        return file.read(_ODF_NAME) if _ODF_NAME in file.namelist() else None


def resource_name(data: bytes, extension: str) -> str:
    """Return a file name that is a hash of the picture's bytes, so that equal pictures are stored once.

    >>> resource_name(b"", "png")
    'e3b0c44298fc1c149afb.png'
    """
    return f"{sha256(data).hexdigest()[:20]}.{extension}"
