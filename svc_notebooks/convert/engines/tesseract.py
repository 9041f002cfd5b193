"""Recognizes the text in images with tesserocr (A5-03)."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from ..job import Job
from .available import ocr_available, tessdata
from .typst import SCRIPTS

_DEFAULT = "eng"  # the model of "en", which is the setting `locale` of every account
_MIN_CONFIDENCE = 45  # the minimum confidence of a paragraph in percent, since stripes in photographs look like letters
_MIN_LETTERS = 60  # so many doubtful letters, and no other text, may be a turned picture
_MIN_ORIENTATION_CONFIDENCE = 4.0
_MIN_HEIGHT = 1000  # smaller pictures are enlarged, since Tesseract needs letters of 20 pixels
_MIN_WORDS = 5  # the number of frequent words, or of letters of a script, from which a text tells its language


# The models by language, and by language and script or region where these need another model ("models"). Also frequent
# words by language ("words"), and the languages by the name of their script ("scripts").
_TABLES: dict[str, dict[str, str]] = json.loads((files(__package__) / "languages.json").read_text("utf-8"))


class OcrModel(NamedTuple):
    """A chosen OCR model ("deu" or "deu+eng") and its folder. `note` names languages without a model, or is None."""

    model: str
    folder: Path
    note: str | None


def languages() -> tuple[str, ...]:
    """Return the sorted names of the installed language models, such as "deu" and "eng"."""
    return tuple(sorted(model for model in _installed_models() if model not in ("osd", "equ")))


def choose_model(tags: str | None) -> OcrModel | None:
    """Choose the OCR models for BCP 47 language tags, which are separated by "+".

    If `tags` is None or no model for the languages is installed, choose English or the first installed model. Returns
    None if no model is installed.
    """
    installed = _installed_models()
    fallback = _DEFAULT if _DEFAULT in installed else next(iter(languages()), None)
    if fallback is None:
        return None
    models = {tag: _model_for(tag) for tag in (tags.split("+") if tags else ())}
    chosen = list(dict.fromkeys(model for model in models.values() if model in installed)) or [fallback]
    name = "+".join(model for model in chosen if installed[model] == installed[chosen[0]])
    missing = " and ".join(tag for tag, model in models.items() if model not in installed)
    note = f"ocrLanguage {missing}: no model for this language is installed; the text was read with {name}."
    return OcrModel(name, installed[chosen[0]], note if missing else None)


def language_of(text: str) -> str | None:
    """Return the language tag of a text by its frequent words and its scripts, or None for a short text.

    >>> language_of("Das Haus steht auf dem Berg, und der Garten ist nicht weit."), language_of("12 x 3")
    ('de', None)
    """
    words = Counter(re.findall(r"\w+", text.lower()))
    scores = {tag: sum(words[word] for word in listed.split()) for tag, listed in _TABLES["words"].items()}
    tags = ((_TABLES["scripts"].get(script.name), script) for script in SCRIPTS)
    scores |= {tag: len(script.letters.findall(text)) for tag, script in tags if tag}
    scores["ja"] *= 5  # Japanese has about as many Han characters
    best = max(scores, key=scores.__getitem__)
    return best if scores[best] >= _MIN_WORDS else None


def recognize(image: Any, job: Job, other_text: Callable[[], str] = str) -> list[str]:
    """Recognize the paragraphs of text in a Pillow image. Returns [] and adds a job note if OCR is missing.

    If the job names no language, the language is that of the document's other text, or else of the account.
    """
    tags = job.ocr_language or language_of(other_text())
    choice = choose_model(tags) if ocr_available() else None
    if choice is None:
        job.note('Text in pictures is not read without OCR: pip install "svc-notebooks[ocr]".')
        return []
    if choice.note:
        job.note(choice.note)
    engine, prepared = _engine(choice.model, choice.folder), _prepare_image(image)
    paragraphs, doubtful_letters = _recognize_paragraphs(engine, prepared)
    if not paragraphs and doubtful_letters >= _MIN_LETTERS and (angle := _angle(prepared)):
        paragraphs, _ = _recognize_paragraphs(engine, prepared.rotate(angle, expand=True))
    if paragraphs and not job.ocr_language:
        reason = "the document's other text is in this language" if tags else "the language of the account"
        job.note(f"The text in pictures was read with {choice.model} ({reason}); ocrLanguage names another language.")
    return paragraphs


def _angle(image: Any) -> int:
    """Return the angle in degrees by which an image must be turned counterclockwise, or 0 if that is not known."""
    from tesserocr import PSM

    if "osd" not in _installed_models():
        return 0
    engine = _engine("osd", _installed_models()["osd"])
    engine.SetPageSegMode(PSM.OSD_ONLY)
    engine.SetImage(image)
    found = engine.DetectOrientationScript()
    return found["orient_deg"] if found and found["orient_conf"] >= _MIN_ORIENTATION_CONFIDENCE else 0


@cache
def _installed_models() -> dict[str, Path]:
    models = [(path.stem, folder) for folder in tessdata() for path in sorted(folder.glob("*.traineddata"))]
    return dict(reversed(models))


def _model_for(tag: str) -> str:
    language, *rest = tag.lower().split("-")
    models = _TABLES["models"]
    special = filter(None, (models.get(f"{language}-{part}") for part in rest))
    return next(special, models.get(language, language))


@cache
def _engine(model: str, folder: Path) -> Any:
    os.environ["OMP_THREAD_LIMIT"] = "1"  # with more threads the result varies
    import tesserocr

    return tesserocr.PyTessBaseAPI(path=f"{folder}{os.sep}", lang=model)


def _prepare_image(image: Any) -> Any:
    from PIL import Image

    grey = image.convert("RGBA") if "A" in image.getbands() or "transparency" in image.info else image
    if grey.mode == "RGBA":
        grey = Image.alpha_composite(Image.new("RGBA", grey.size, "white"), grey)
    grey = grey.convert("L")
    factor = min(3, _MIN_HEIGHT // max(grey.size) + 1)
    return grey.resize((grey.width * factor, grey.height * factor), Image.Resampling.LANCZOS) if factor > 1 else grey


def _recognize_paragraphs(engine: Any, image: Any) -> tuple[list[str], int]:
    """Return the paragraphs in an image, and the number of characters in paragraphs with too little confidence."""
    from tesserocr import RIL, iterate_level

    engine.SetImage(image)
    engine.SetSourceResolution(150)
    paragraphs, doubtful = list[str](), 0
    try:
        engine.Recognize()
        iterator = engine.GetIterator()
        for part in iterate_level(iterator, RIL.PARA) if iterator else ():
            text = "" if part.Empty(RIL.PARA) else part.GetUTF8Text(RIL.PARA).strip()
            if part.Confidence(RIL.PARA) < _MIN_CONFIDENCE:
                doubtful += len(text)
            elif any(map(str.isalnum, text)):
                paragraphs.append(text)
    finally:
        engine.Clear()
    return paragraphs, doubtful
