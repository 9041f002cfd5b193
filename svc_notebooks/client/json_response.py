"""Reads the JSON object of a response."""

import json

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
