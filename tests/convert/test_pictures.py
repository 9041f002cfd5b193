import io
import struct
import zlib
from dataclasses import replace

import pytest
from PIL import Image

from svc_notebooks.convert.engines.images import validate_image
from svc_notebooks.convert.job import ConversionError, JobLimits, TooLarge

LIMITS = JobLimits()


def made(kind: str, mode: str = "RGB", size: tuple[int, int] = (30, 20), **options: object) -> bytes:
    target = io.BytesIO()
    Image.new(mode, size).save(target, kind, **options)
    return target.getvalue()


@pytest.mark.parametrize(
    "kind,mode,extension,kept",
    [
        ("PNG", "RGB", "png", True), ("PNG", "P", "png", True), ("PNG", "RGBA", "png", True),
        ("PNG", "I;16", "png", False), ("JPEG", "RGB", "jpg", True), ("JPEG", "L", "jpg", True),
        ("JPEG", "CMYK", "jpg", False), ("GIF", "P", "gif", True), ("BMP", "RGB", "png", False),
        ("TIFF", "RGB", "png", False), ("WEBP", "RGBA", "png", False),
    ],
)  # fmt: skip
def test_formats_and_modes_after_the_check(kind: str, mode: str, extension: str, kept: bool) -> None:
    source = made(kind, mode)

    picture = validate_image(source, LIMITS)

    assert (picture.extension, picture.width, picture.height) == (extension, 30, 20)
    assert (picture.data == source) is kept
    with Image.open(io.BytesIO(picture.data)) as image:
        image.load()
        assert image.size == (30, 20)


@pytest.mark.parametrize("end", [b"", b"IEND\xae\x42\x60\x82", b"\0\0\0\0IENDxxxx"], ids=["missing", "cut", "checksum"])
def test_a_png_with_a_damaged_end_is_written_anew(end: bytes) -> None:
    """Pillow decodes all pixels of it, but typst would refuse the whole PDF."""
    picture = validate_image(made("PNG")[:-12] + end, LIMITS)

    with Image.open(io.BytesIO(picture.data)) as image:
        image.verify()


def test_a_photo_is_turned_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6

    picture = validate_image(made("JPEG", exif=exif), LIMITS)

    assert (picture.width, picture.height) == (20, 30)
    with Image.open(io.BytesIO(picture.data)) as image:
        assert 0x0112 not in image.getexif()


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("exif", [b"no TIFF at all", b"MM\0*", b"II+\0cut", b"MM\0*\0\0\0\x08\0\x01\x01\x12"], ids=str)
def test_a_picture_with_invalid_metadata_is_kept(kind: str, exif: bytes) -> None:
    picture = validate_image(made(kind, exif=b"Exif\0\0" + exif), LIMITS)

    assert (picture.width, picture.height) == (30, 20)


@pytest.mark.parametrize(
    "source",
    [b"", b"no picture", b"<svg/>", b"%PDF-1.4", b"BM" + bytes(60), made("GIF", "P")[:20],
     made("PNG", size=(300, 300))[:100], made("JPEG", size=(300, 300))[:-400]],
)  # fmt: skip
def test_damaged_pictures_are_refused(source: bytes) -> None:
    with pytest.raises(ConversionError, match="picture"):
        validate_image(source, LIMITS)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _png(width: int, height: int, *chunks: bytes) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + b"".join(chunks) + _chunk(b"IEND", b"")


@pytest.mark.parametrize("size", [(10_000, 10_000), (50_000, 50_000), (2**31 - 1, 2**31 - 1)])
def test_too_many_pixels_are_refused(size: tuple[int, int]) -> None:
    with pytest.raises(TooLarge, match="pixels"):
        validate_image(_png(*size, _chunk(b"IDAT", b"")), LIMITS)


def test_the_limits_are_those_of_the_job_also_for_compressed_metadata() -> None:
    bomb = _chunk(b"zTXt", b"Comment\0\0" + zlib.compress(bytes(50_000_000), 9))

    assert validate_image(made("PNG"), replace(LIMITS, pixels=600))
    with pytest.raises(TooLarge, match="30 x 20 pixels"):
        validate_image(made("PNG"), replace(LIMITS, pixels=599))
    with pytest.raises(ConversionError):
        validate_image(_png(1, 1, bomb, _chunk(b"IDAT", zlib.compress(b"\0\0\0\0"))), LIMITS)
