"""Crops pictures to their visible part, for formats that cannot crop."""

from __future__ import annotations

from dataclasses import replace

from ..input.native_package import resource_name
from ..job import ConversionError, Job
from .model import Deck, Shape, SlidePicture

_NO_CROP = (0.0, 0.0, 0.0, 0.0)


def with_cropped_pictures(deck: Deck, job: Job) -> Deck:
    """Return the deck with a separate picture for each crop."""
    pictures = dict(deck.pictures)

    def crop(shape: Shape) -> Shape:
        if not isinstance(shape, SlidePicture) or shape.crop == _NO_CROP or shape.name not in deck.pictures:
            return shape
        data = _crop_png(deck.pictures[shape.name], shape.crop, job)
        if data is None:
            return shape
        name = resource_name(data, "png")
        pictures[name] = data
        return replace(shape, name=name, crop=_NO_CROP)

    slides = tuple(
        replace(slide, shapes=tuple(map(crop, slide.shapes)), behind=tuple(map(crop, slide.behind)))
        for slide in deck.slides
    )
    return replace(deck, slides=slides, pictures=pictures)


def _crop_png(data: bytes, crop: tuple[float, float, float, float], job: Job) -> bytes | None:
    """Return the visible part as PNG, or None (with a note) if the picture cannot be decoded."""
    try:
        from ..engines.images import encode_image, load_pixels, open_image

        image = load_pixels(open_image(data, job.limits))
    except (ImportError, ConversionError):
        job.note("the crop of a picture was removed.")
        return None
    left, top, right, bottom = crop
    width, height = image.size
    x, y = round(left * width), round(top * height)
    corner = max(x + 1, round((1 - right) * width)), max(y + 1, round((1 - bottom) * height))
    image = image.convert("RGBA") if image.mode not in ("1", "L", "RGB") else image
    return encode_image(image.crop((x, y, *corner)), "PNG").data
