"""Stands in for the pictures of a document while pandoc writes a file, since pandoc needs much memory for pictures."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Mapping

from ..job import Job, TooLarge

_ENCODED_PNG = re.compile(rb"(iVBORw0KGgo[\w+/]+=*|89504e470d0a1a0a[0-9a-f]+)")
_DEFAULT_DPI = (72, 72)
_ROUNDING = 0.0127
"""What is added to a resolution in dpi, since pandoc rounds down the pixels per metre of a PNG."""


class Placeholders:
    """An empty PNG for each picture, from which pandoc takes the size and the resolution of the picture."""

    def __init__(self, resources: Mapping[str, bytes], job: Job) -> None:
        self._limit, self._inserted = job.limits.output, 0
        self._pictures: dict[bytes, bytes] = {}
        self.uris: dict[str, str] = {}
        """The placeholders as data URIs with the media type of the picture, by the name of the picture."""
        for name, data in resources.items():
            placeholder, media_type = _placeholder(name, data)
            self._pictures[placeholder] = data
            self.uris[name] = f"data:{media_type};base64,{base64.b64encode(placeholder).decode()}"

    def picture(self, part: bytes) -> bytes:
        """Return the picture of a placeholder, or any other part of a file as it is.

        Raises TooLarge if the pictures exceed the limit of output, since a document may show a picture many times.
        """
        self._inserted += len(self._pictures.get(part, b""))
        if self._inserted > self._limit:
            raise TooLarge(f"the result would have more than {self._limit} bytes.")
        return self._pictures.get(part, part)

    def insert(self, text: bytes, encode: Callable[[bytes], bytes]) -> bytes:
        """Replace the placeholders in a text by the pictures. Raises TooLarge like `picture`.

        `encode` is the encoding of pictures in the text: base64.b64encode or binascii.hexlify.
        """
        parts = _ENCODED_PNG.split(text)
        placeholders = {encode(placeholder): placeholder for placeholder in self._pictures}
        for index, part in enumerate(parts):
            if part in placeholders:
                parts[index] = encode(self.picture(placeholders[part]))
        return b"".join(parts)


def _placeholder(name: str, data: bytes) -> tuple[bytes, str]:
    """Return the placeholder of a picture, which contains the name to be unique, and the media type of the picture."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    info, target = PngInfo(), io.BytesIO()
    info.add_text("Title", name)
    with Image.open(io.BytesIO(data)) as image:
        dpi = tuple(round(value) + _ROUNDING for value in image.info.get("dpi", _DEFAULT_DPI))
        Image.new("1", image.size).save(target, "PNG", pnginfo=info, dpi=dpi)
        return target.getvalue(), str(image.get_format_mimetype())
