"""Converts formulas between the notation of xlsx, which the model uses, and OpenFormula, the notation of OpenDocument.

The xlsx formula "SUM(A1:B2,'My data'!C3)" is "of:=SUM([.A1:.B2];[$'My data'.C3])" in OpenFormula.
"""

from __future__ import annotations

import re

from .tokens import name_set, tokens

_MICROSOFT_FUNCTIONS = name_set(
    """
    CONCAT TEXTJOIN IFS SWITCH MAXIFS MINIFS BETA.DIST BETA.INV BINOM.DIST BINOM.INV CEILING.MATH CEILING.PRECISE
    CHISQ.DIST CHISQ.DIST.RT CHISQ.INV CHISQ.INV.RT CHISQ.TEST CONFIDENCE.NORM CONFIDENCE.T COVARIANCE.P COVARIANCE.S
    EXPON.DIST F.DIST F.DIST.RT F.INV F.INV.RT F.TEST FILTER FLOOR.MATH FLOOR.PRECISE FORECAST.ETS.ADD FORECAST.LINEAR
    GAMMA.DIST GAMMA.INV GAMMALN.PRECISE HYPGEOM.DIST ISO.CEILING LET LOGNORM.DIST LOGNORM.INV MODE.MULT MODE.SNGL
    NEGBINOM.DIST NETWORKDAYS.INTL NORM.DIST NORM.INV NORM.S.DIST NORM.S.INV PERCENTILE.EXC PERCENTILE.INC
    PERCENTRANK.EXC PERCENTRANK.INC POISSON.DIST QUARTILE.EXC QUARTILE.INC RANDARRAY RANK.AVG RANK.EQ SEQUENCE SORT
    SORTBY STDEV.P STDEV.S T.DIST T.DIST.2T T.DIST.RT T.INV T.INV.2T T.TEST UNIQUE VAR.P VAR.S WEIBULL.DIST WORKDAY.INTL
    XLOOKUP XMATCH Z.TEST
    """
)
"""Functions that OpenFormula does not define. In OpenDocument files, their names begin with "COM.MICROSOFT."."""

_WITHOUT_PREFIX = frozenset({"NETWORKDAYS.INTL", "WORKDAY.INTL"})
_PREFIXED_IN_XLSX = name_set(
    """
    XOR IFNA DAYS ISOWEEKNUM GAMMA GAUSS PHI PERMUTATIONA PDURATION RRI BITAND BITOR BITXOR BITLSHIFT BITRSHIFT UNICODE
    UNICHAR SHEET SHEETS ARABIC BASE DECIMAL COMBINA ACOT ACOTH COT COTH CSC CSCH SEC SECH FORMULA NUMBERVALUE MUNIT
    SKEWP IMCOSH IMCOT IMCSC IMCSCH IMSEC IMSECH IMSINH IMTAN
    """
)

_OPEN_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"]|"")*+")
    |(?P<outside>'[^']*'\#)
    |(?P<reference>\[(?:'(?:[^']|'')*+'|[^\]'])*+\])
    |(?P<name>[^\W\d][\w.]*)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_OPEN_CORNER = re.compile(r"(?P<sheet>\$?(?:'(?:[^']|'')*'|[^.':]*))\.(?P<cell>[^:]+)")


def to_openformula(formula: str) -> str:
    """Convert a formula from the notation of xlsx to the notation of OpenDocument.

    >>> to_openformula("SUM(A1:B2,'My data'!C3)")
    "of:=SUM([.A1:.B2];[$'My data'.C3])"
    """
    text, sheet, braces = "", "", 0
    for kind, piece in tokens(formula):
        if kind == "sheet":
            sheet = f"${piece[:-1]}"
            continue
        braces += (piece == "{") - (piece == "}")
        text += _to_openformula_token(kind, piece, sheet, braces > 0)
        sheet = ""
    return f"of:={text}"


def _to_openformula_token(kind: str, piece: str, sheet: str, in_braces: bool) -> str:
    if kind == "range":
        first, *last = piece.split(":")
        return f"[{sheet}.{first}{''.join(f':.{corner}' for corner in last)}]"
    if kind == "function":
        plain = re.sub(r"(?:_xlfn\.|_xlws\.)+", "", piece, flags=re.IGNORECASE)
        return f"COM.MICROSOFT.{plain.upper()}" if plain.upper() in _MICROSOFT_FUNCTIONS else plain
    if kind == "name":
        return f"{piece.upper()}()" if piece.upper() in ("TRUE", "FALSE") else piece
    if piece == ",":
        return ";"
    return "|" if piece == ";" and in_braces else piece


def from_openformula(formula: str) -> str | None:
    """Convert a formula from OpenDocument to xlsx, or return None for other languages and external references.

    >>> from_openformula("of:=SUM([.A1:.B2];[$'My data'.C3])")
    "SUM(A1:B2,'My data'!C3)"
    """
    prefix, equals, rest = formula.partition("=")
    if not equals or prefix not in ("of:", "oooc:", "msoxl:", ""):
        return None
    if prefix == "msoxl:":
        return rest
    text, braces = "", 0
    for match in _OPEN_TOKEN.finditer(rest):
        kind, piece = match.lastgroup or "other", match.group()
        braces += (piece == "{") - (piece == "}")
        converted: str | None = piece
        if kind == "outside":
            return None
        if kind == "reference":
            converted = _reference(piece)
        elif kind == "name":
            plain = re.sub(r"^COM\.MICROSOFT\.", "", piece, flags=re.IGNORECASE).upper()
            later = plain in _MICROSOFT_FUNCTIONS - _WITHOUT_PREFIX or plain in _PREFIXED_IN_XLSX
            converted = f"_xlfn.{plain}" if later else piece
        elif piece == "|" and braces > 0:
            converted = ";"
        elif piece in (";", "~"):
            converted = ","
        if converted is None:
            return None
        text += converted
    return text


def _reference(piece: str) -> str | None:
    corners = [_OPEN_CORNER.fullmatch(corner) for corner in re.findall(r"(?:'(?:[^']|'')*+'|[^':])++", piece[1:-1])]
    matched = [corner for corner in corners if corner]
    if len(matched) != len(corners) or not matched:
        return "#REF!" if "#REF!" in piece else None
    if any("#" in corner["cell"] for corner in matched):
        return "#REF!"
    sheet = matched[0]["sheet"].lstrip("$")
    return (f"{sheet}!" if sheet else "") + ":".join(corner["cell"] for corner in matched)
