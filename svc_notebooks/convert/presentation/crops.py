"""Crops pictures to their visible part, for formats that cannot crop."""

from __future__ import annotations

from dataclasses import replace

from ..input.native_package import resource_name
from ..job import ConversionError, Job
from .model import Deck, Shape, SlidePicture

_NO_CROP = (0.0, 0.0, 0.0, 0.0)


def with_cropped_pictures(deck: Deck, job: Job) -> Deck:
    """The same deck, with a picture of its own for each crop."""
    pictures = dict(deck.pictures)

    def cropped(shape: Shape) -> Shape:
        if not isinstance(shape, SlidePicture) or shape.crop == _NO_CROP or shape.name not in deck.pictures:
            return shape
        data = _cropped_png(deck.pictures[shape.name], shape.crop, job)
        if data is None:
            return shape
        name = resource_name(data, "png")
        pictures[name] = data
        return replace(shape, name=name, crop=_NO_CROP)

    slides = tuple(
        replace(slide, shapes=tuple(map(cropped, slide.shapes)), behind=tuple(map(cropped, slide.behind)))
        for slide in deck.slides
    )
    return replace(deck, slides=slides, pictures=pictures)


def _cropped_png(data: bytes, crop: tuple[float, float, float, float], job: Job) -> bytes | None:
    """The picture as PNG; None where it cannot be cut, and is shown whole."""
    try:
        from ..engines.images import encode_image, load_pixels, open_image

        image = load_pixels(open_image(data, job.limits))
    except (ImportError, ConversionError):
        job.note("a picture that was cropped is whole again.")
        return None
    left, top, right, bottom = crop
    width, height = image.size
    x_range = round(left * width), max(round(left * width) + 1, round((1 - right) * width))
    y_range = round(top * height), max(round(top * height) + 1, round((1 - bottom) * height))
    image = image.convert("RGBA") if image.mode not in ("1", "L", "RGB") else image
    return encode_image(image.crop((x_range[0], y_range[0], x_range[1], y_range[1])), "PNG").data
