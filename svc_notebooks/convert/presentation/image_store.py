"""Collects the images of a presentation while it is read: each is checked and kept once."""

from __future__ import annotations

from ..engines.images import validate_image
from ..input.native_package import resource_name
from ..job import ConversionError, Job, TooLarge

_VECTOR = (b"\x01\x00\x00\x00", b"\xd7\xcd\xc6\x9a", b"<svg", b"<?xml")


class ImageStore:
    """Takes pictures in, and gives their names."""

    def __init__(self, job: Job) -> None:
        self.pictures: dict[str, bytes] = {}
        self._job = job
        self._names: dict[str, str | None] = {}
        self._remaining_bytes = job.limits.unpacked

    def name_of(self, key: str, data: bytes) -> str | None:
        """The name under which a picture is kept, or None for one that cannot be; `key`: where it was found."""
        if key not in self._names:
            self._names[key] = self._add(data)
        return self._names[key]

    def _add(self, data: bytes) -> str | None:
        try:
            picture = validate_image(data, self._job.limits)
        except TooLarge as error:
            self._job.note(f"a picture was left out: {error}")
            return None
        except ConversionError:
            description = (
                "a drawing (emf, wmf or svg)" if data[:5].startswith(_VECTOR) else "a picture of an unknown kind"
            )
            self._job.note(f"{description} was left out.")
            return None
        name = resource_name(picture.data, picture.extension)
        if name not in self.pictures:
            self._remaining_bytes -= len(picture.data)
            if self._remaining_bytes < 0:
                raise TooLarge("the pictures need more room than a conversion may use.")
        self.pictures[name] = picture.data
        return name
