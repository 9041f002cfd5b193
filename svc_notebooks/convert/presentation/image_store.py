"""Checks the images of a presentation during reading, and stores equal images only once."""

from __future__ import annotations

import io

from ..engines.images import validate_image
from ..input.native_package import resource_name
from ..job import ConversionError, Job, TooLarge

_VECTOR = (b"\x01\x00\x00\x00", b"\xd7\xcd\xc6\x9a", b"<svg", b"<?xml")


class ImageStore:
    """Stores the valid pictures of a presentation by name in `pictures`."""

    def __init__(self, job: Job) -> None:
        self.pictures: dict[str, bytes] = {}
        self._job = job
        self._names: dict[str, str | None] = {}
        self._remaining_bytes = job.limits.unpacked

    def name_of(self, key: str, data: bytes) -> str | None:
        """Store a picture, and return its name, or None if not valid. Raises TooLarge above a total size limit."""
        if key not in self._names:
            self._names[key] = self._add(data)
        return self._names[key]

    def average_color(self, name: str) -> str:
        """Return the average colour of a stored picture."""
        from PIL import Image

        with Image.open(io.BytesIO(self.pictures[name])) as picture:
            return bytes(picture.convert("RGB").resize((1, 1), Image.Resampling.BOX).tobytes()).hex()

    def _add(self, data: bytes) -> str | None:
        try:
            picture = validate_image(data, self._job.limits)
        except ConversionError as error:  # also TooLarge
            is_vector = data[:5].startswith(_VECTOR)
            self._job.note(
                "A drawing (emf, wmf or svg) was left out." if is_vector else f"A picture was left out: {error}"
            )
            return None
        name = resource_name(picture.data, picture.extension)
        if name not in self.pictures:
            self._remaining_bytes -= len(picture.data)
            if self._remaining_bytes < 0:
                raise TooLarge("the pictures need more space than the limit of a conversion.")
        self.pictures[name] = picture.data
        return name
