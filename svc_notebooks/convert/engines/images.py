"""Checks, decodes and re-encodes untrusted images. The number of pixels is checked before any pixel is decoded."""

from __future__ import annotations

import io
import struct
import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..job import ConversionError, JobLimits, TooLarge

_FORMATS = ("JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP")
_EXTENSIONS = {"JPEG": "jpg", "PNG": "png", "GIF": "gif"}
_SUPPORTED_MODES = frozenset({"1", "L", "LA", "P", "RGB", "RGBA"})
_INCH, _DPI = 914_400, 96
_BITFIELDS, _MASKS_END = 3, 66
_ORIENTATION = 0x0112
_UPRIGHT = 1
# The errors that Pillow raises for damaged files.
_ERRORS = (OSError, ValueError, SyntaxError, EOFError, IndexError, OverflowError, struct.error)


@dataclass(frozen=True, slots=True)
class DecodedImage:
    """A valid picture file with its size in pixels. `extension` is "png", "jpg" or "gif"."""

    data: bytes
    extension: str
    width: int
    height: int


def validate_image(data: bytes, limits: JobLimits) -> DecodedImage:
    """Check a picture file, and return an upright JPEG, PNG or GIF.

    Raises ConversionError if the file is not a valid picture, and TooLarge if the picture has too many pixels.
    """
    image = open_image(data, limits)
    extension = _EXTENSIONS.get(image.format or "")
    load_pixels(image)
    rotated = intact = False
    with suppress(*_ERRORS):  # typst also checks the checksums and the end of a PNG
        open_image(data, limits).verify()
        intact = True
    with warnings.catch_warnings(), suppress(*_ERRORS):
        warnings.simplefilter("ignore")  # if the metadata are invalid, do not rotate the picture
        rotated = bool(image.getexif().get(_ORIENTATION, _UPRIGHT) != _UPRIGHT)
    has_palette = image.mode != "P" or extension != "png" or b"PLTE" in data  # Pillow needs none, typst does
    if extension and not rotated and image.mode in _SUPPORTED_MODES and has_palette and intact:
        return DecodedImage(data, extension, *image.size)
    return _reencode(image, "JPEG" if extension == "jpg" else "PNG", rotated=rotated)


def open_image(data: bytes, limits: JobLimits) -> Any:
    """Open a picture file with Pillow without decoding the pixels.

    Raises ConversionError if the format is not supported, and TooLarge if the picture has too many pixels.
    """
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns about the size, which is checked below
            image = Image.open(io.BytesIO(data), formats=_FORMATS)
    except Image.DecompressionBombError as error:
        raise TooLarge("the picture has too many pixels.") from error
    except _ERRORS as error:
        if (image := _masked_bitmap(data, limits)) is not None:
            return image
        raise ConversionError("the file is not a picture in JPEG, PNG, GIF, BMP, TIFF or WebP.") from error
    width, height = image.size
    if width * height > limits.pixels:
        raise TooLarge(f"the picture has {width} x {height} pixels; the limit is {limits.pixels}.")
    return image


def _masked_bitmap(data: bytes, limits: JobLimits) -> Any:
    """Return a BMP with masks for its colours, of which Pillow knows only the usual ones, or None for other files."""
    if data[:2] != b"BM" or len(data) < _MASKS_END:
        return None
    import numpy as np
    from PIL import Image

    start, _, width, height, _, bits, compression = struct.unpack_from("<IIiiHHI", data, 10)
    masks = struct.unpack_from("<III", data, 54)
    row_bytes = (width * bits + 31) // 32 * 4
    is_complete = 0 < width * abs(height) <= limits.pixels and len(data) >= start + row_bytes * abs(height)
    if bits not in (16, 32) or compression != _BITFIELDS or not all(masks) or not is_complete:
        return None
    pixels = np.frombuffer(data, f"<u{bits // 8}", row_bytes * abs(height) * 8 // bits, start)
    pixels = pixels.reshape(abs(height), -1)[:: -1 if height > 0 else 1, :width]
    return Image.fromarray(np.stack([(pixels & mask) / mask * 255 for mask in masks], axis=-1).astype("uint8"))


def load_pixels(image: Any) -> Any:
    """Decode the pixels of a Pillow image, and return the image. Raises ConversionError if the picture is damaged."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image.load()
    except _ERRORS as error:
        message = "the picture is damaged: the file is incomplete, or the pixels cannot be decoded."
        raise ConversionError(message) from error
    return image


def natural_size(data: bytes, limits: JobLimits) -> tuple[float, float]:
    """Return the width and height in EMU that a picture has at its own resolution, or at 96 dpi."""
    image = open_image(data, limits)
    horizontal, vertical = image.info.get("dpi", (_DPI, _DPI))
    return image.width * _INCH / (horizontal or _DPI), image.height * _INCH / (vertical or _DPI)


def _reencode(image: Any, format: str, *, rotated: bool) -> DecodedImage:
    from PIL import ImageOps

    upright = ImageOps.exif_transpose(image) if rotated else image
    modes = ("L", "RGB") if format == "JPEG" else ("1", "L", "LA", "RGB", "RGBA")
    transparent = "A" in upright.getbands() or "transparency" in upright.info
    plain = upright if upright.mode in modes else upright.convert("RGBA" if transparent else "RGB")
    return encode_image(plain if format == "PNG" else plain.convert("RGB"), format)


def encode_image(image: Any, format: str) -> DecodedImage:
    """Encode a Pillow image in a format ("PNG" or "JPEG"), without the metadata of the source file."""
    target = io.BytesIO()
    image.save(target, format, **({"quality": 88} if format == "JPEG" else {}))
    return DecodedImage(target.getvalue(), _EXTENSIONS[format], *image.size)
