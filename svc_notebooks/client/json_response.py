"""Reads the JSON object of a response, and refuses the objects of another program, such as a network's sign-in."""

import json
import re
from collections.abc import Collection

from ..core.errors.errors import ServiceFailed
from ..core.http.messages import JSONObject, Response
from ..core.printable_text import printable


def read_object(response: Response) -> JSONObject:
    """Return a response's JSON object, or {} if empty. Raises ServiceFailed for any other content."""
    content = response.content()
    if not content:
        return {}
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        media_type = printable(response.headers.get("Content-Type") or "content without a type", 60)
        page = " (perhaps the error page of a proxy or the sign-in page of a network; check base_url)"
        hint = page if "html" in media_type.lower() else ""
        raise ServiceFailed(f"The service returned {media_type}{hint}, not a JSON object.", status=response.status)
    return parsed


def check_fields(answer: JSONObject, names: Collection[str]) -> JSONObject:
    """Return the JSON object of a response unchanged. Raises ServiceFailed if it has none of the fields in `names`."""
    if any(answer.get(name) is not None for name in names):
        return answer
    keys = printable(", ".join(map(repr, answer)) or "no fields", 60)
    raise ServiceFailed(
        f"The response is not an answer of this service: it has {keys}, but not {' or '.join(names)}.",
        advice="Check base_url, and whether the network requires a sign-in. The request may have had no effect.",
    )


def check_resource(answer: JSONObject, fields: object = None) -> JSONObject:
    """Return a resource unchanged. Raises ServiceFailed if it has no id, or none of the fields in the mask `fields`.

    A service may leave out a requested field, or ignore a mask.

    >>> check_resource({"size": "5"}, "size,md5Checksum")
    {'size': '5'}
    """
    mask = str(fields or "*")
    if {"id", "*"}.intersection(mask.partition("(")[0].split(",")):
        return check_fields(answer, ["id"])
    return check_fields(answer, [*re.findall(r"\w+", mask), "id", "kind"]) if answer else answer
