"""Check of BCP 47 language tags, such as the value of ocrLanguage (A5-03)."""

from __future__ import annotations

import re

_TAG = re.compile(
    r"(?P<language>[a-z]{2,3})(?:-(?P<extlang>[a-z]{3}(?:-[a-z]{3}){0,2}))?"
    r"(?:-(?P<script>[a-z]{4}))?"
    r"(?:-(?P<region>[a-z]{2}|[0-9]{3}))?"
    r"(?P<variants>(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*)"
    r"(?P<extensions>(?:-[0-9a-wy-z](?:-[a-z0-9]{2,8})+)*)"
    r"(?P<private>-x(?:-[a-z0-9]{1,8})+)?",
    re.IGNORECASE,
)

# ISO 639-1, then the codes of ISO 639-2 and 639-3 that are used in text recognition or in general
LANGUAGES = frozenset(
    """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en
    eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv
    ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne
    ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st
    su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
    afr amh ara arz asm ast aze bel ben bho bod bos bre bul cat ceb ces cmn cos cym dan deu div dsb dzo ell eng enm
    epo est eus fao fas fil fin fra frk frm fry gla gle glg grc gsw guj hat haw heb hin hmn hrv hsb hun hye iku ind
    isl ita jav jpn kan kat kaz khm kir kmr kor lao lat lav lij lit ltz mal mar mkd mlt mnw mon mri msa mya nan nds
    nep nld nob nno nor oci ori pan pap pes pol por pus que ron rus san sat scn sco sin slk slv snd spa sqi srp sun
    swa swe syr szl tam tat tel tgk tha tir ton tur uig ukr und urd uzb vec vie wuu yid yor yue zho zul
    """.split()  # noqa: SIM905  a list literal would have a line for each
)
_MACRO = {"iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro", "sh": "sr"}
"""Maps obsolete language codes to their replacements."""
_GRANDFATHERED = {
    "i-klingon": "tlh", "i-lux": "lb", "i-navajo": "nv", "i-hak": "hak", "zh-min-nan": "nan", "zh-xiang": "hsn",
    "zh-guoyu": "cmn", "zh-hakka": "hak", "art-lojban": "jbo", "no-bok": "nb", "no-nyn": "nn", "sgn-de": "gsg",
}  # fmt: skip
"""Maps tags that are older than BCP 47 to their replacements."""


def check_tag(text: str) -> str:
    """Return a language tag in standard spelling without obsolete codes. Raises ValueError if invalid or unknown.

    >>> check_tag("PT-br"), check_tag("zh-hant-tw"), check_tag("iw")
    ('pt-BR', 'zh-Hant-TW', 'he')
    """
    if text.lower() in _GRANDFATHERED:
        return _GRANDFATHERED[text.lower()]
    match = _TAG.fullmatch(text) if text.isascii() else None
    if match is None:
        raise ValueError(f"{text[:40]!r} is not a language tag; expected a BCP 47 tag, such as de, pt-BR or zh-Hant.")
    language = _MACRO.get(match["language"].lower(), match["language"].lower())
    if language not in LANGUAGES:
        raise ValueError(f"{text[:40]!r}: unknown language {language!r}; expected an ISO 639 code, such as de.")
    spellings = (("extlang", str.lower), ("script", str.title), ("region", str.upper))
    parts = [language, *(spell(match[name]) for name, spell in spellings if match[name])]
    parts += [match[name].lower().strip("-") for name in ("variants", "extensions", "private") if match[name]]
    return "-".join(parts)
