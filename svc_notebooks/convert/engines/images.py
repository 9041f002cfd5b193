"""Checks, decodes and re-encodes images of unknown origin: their size is checked before they are decoded."""

from __future__ import annotations

import io
import struct
import warnings
from dataclasses import dataclass
from typing import Any

from ..job import ConversionError, JobLimits, TooLarge

_FORMATS = ("JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP")
_EXTENSIONS = {"JPEG": "jpg", "PNG": "png", "GIF": "gif"}
_SUPPORTED_MODES = frozenset({"1", "L", "LA", "P", "RGB", "RGBA"})
_ORIENTATION = 0x0112
_UPRIGHT = 1


@dataclass(frozen=True, slots=True)
class DecodedImage:
    """A picture that can be decoded; `extension` is png, jpg or gif, width and height are pixels."""

    data: bytes
    extension: str
    width: int
    height: int


def validate_image(data: bytes, limits: JobLimits) -> DecodedImage:
    """The picture in these bytes, upright. JPEG, PNG and GIF stay as they are, others become PNG.

    Raises:
        ConversionError: it is no picture, or a damaged one; TooLarge: it has too many pixels.
    """
    image = open_image(data, limits)
    extension = _EXTENSIONS.get(image.format or "")
    load_pixels(image)
    rotated = _is_rotated(image)
    if extension and not rotated and image.mode in _SUPPORTED_MODES:
        return DecodedImage(data, extension, *image.size)
    return _reencode(image, "JPEG" if extension == "jpg" else "PNG", rotated=rotated)


def _is_rotated(image: Any) -> bool:
    """Whether it says that it lies on its side; what says nonsense of itself is taken as it lies."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bool(image.getexif().get(_ORIENTATION, _UPRIGHT) != _UPRIGHT)
    except (OSError, ValueError, SyntaxError, EOFError, struct.error):
        return False


def open_image(data: bytes, limits: JobLimits) -> Any:
    """A Pillow image whose pixels are not decoded yet. Raises as `checked`."""
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Pillow about size, which is measured here
            image = Image.open(io.BytesIO(data), formats=_FORMATS)
    except Image.DecompressionBombError as error:
        raise TooLarge("the picture has too many pixels.") from error
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, EOFError, struct.error) as error:
        raise ConversionError("this is no picture that can be read (JPEG, PNG, GIF, BMP, TIFF or WebP).") from error
    width, height = image.size
    if width * height > limits.pixels:
        raise TooLarge(f"the picture has {width} x {height} pixels; at most {limits.pixels} are taken.")
    return image


def load_pixels(image: Any) -> Any:
    """The same image, decoded. Raises ConversionError for one that ends too early."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image.load()
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, OverflowError, struct.error) as error:
        raise ConversionError("the picture is damaged: it ends too early, or its pixels cannot be decoded.") from error
    return image


def _reencode(image: Any, format: str, *, rotated: bool) -> DecodedImage:
    from PIL import ImageOps

    upright = ImageOps.exif_transpose(image) if rotated else image
    modes = ("L", "RGB") if format == "JPEG" else ("1", "L", "LA", "RGB", "RGBA")
    plain = upright if upright.mode in modes else upright.convert("RGBA" if _has_transparency(upright) else "RGB")
    return encode_image(plain if format == "PNG" else plain.convert("RGB"), format)


def _has_transparency(image: Any) -> bool:
    return "A" in image.getbands() or "transparency" in image.info


def encode_image(image: Any, format: str) -> DecodedImage:
    """A Pillow image as a PNG or a JPEG, without what it says of itself."""
    target = io.BytesIO()
    image.save(target, format, **({"quality": 88} if format == "JPEG" else {}))
    return DecodedImage(target.getvalue(), _EXTENSIONS[format], *image.size)
