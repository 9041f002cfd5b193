"""Translates the API family's upload protocol with commands in headers (an extension) to upload sessions, and back.

`X-Svc-Upload-Protocol: resumable` with `X-Svc-Upload-Command: start` opens a session. The commands `upload`, `query`,
`finalize`, `cancel` and "upload, finalize" are then sent to the address in X-Svc-Upload-URL. The protocols `raw` and
`multipart` are other names of simple and multipart uploads.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from ...core.errors.catalogue import refuse
from ...core.http.messages import Headers, Query, Request, Response
from ...core.http.ranges import parse_stored
from ..dispatch.requests_and_responses import content_length
from ..dispatch.service_context import ServiceContext

_UPLOAD_TYPES = {"raw": "media", "multipart": "multipart", "resumable": "resumable"}
_COMMANDS = ({"upload"}, {"upload", "finalize"}, {"finalize"}, {"query"}, {"cancel"})


def command_headers(context: ServiceContext) -> frozenset[str]:
    """Return the headers of which each upload request with commands has one, in lower case. Without extensions none."""
    names = ("Upload-Protocol", "Upload-Command") if context.policy.extensions else ()
    return frozenset(context.names.header(name).lower() for name in names)


def session_request(request: Request, context: ServiceContext) -> Request:
    """Return the request of the interface that has the same meaning. Raises ApiError (400) for a malformed command."""
    headers, url, query = request.headers, urlsplit(request.url), request.query
    if "upload_id" in query:
        return _session_command(request, query, context)
    name = context.names.header("Upload-Protocol")
    upload_type = _UPLOAD_TYPES.get(headers.get(name, "").lower())
    if upload_type is None:
        raise refuse("invalidHeader", name=name, message=f"expected one of {', '.join(_UPLOAD_TYPES)}.")
    others = [(key, value) for key, value in query.pairs if key != "uploadType"]
    about_content = "" if upload_type == "media" else "X-Upload-"
    added = [
        (about_content + field, headers[context.names.header(f"Upload-Header-{field}")])
        for field in ("Content-Type", *(["Content-Length"] if about_content else []))
        if context.names.header(f"Upload-Header-{field}") in headers
    ]
    url = url._replace(query=str(Query([("uploadType", upload_type), *others])))
    return replace(request, url=url.geturl(), headers=_interface_headers(headers, context).plus(*added))


def _session_command(request: Request, query: Query, context: ServiceContext) -> Request:
    name, headers = context.names.header("Upload-Command"), request.headers
    commands = {command.strip().lower() for command in headers.get(name, "").split(",")}
    if commands not in _COMMANDS:
        raise refuse("invalidHeader", name=name, message="expected upload, finalize, query or cancel.")
    if "cancel" in commands:
        return replace(request, method="DELETE", headers=_interface_headers(headers, context))
    content_range = _content_range(request, commands, query.get("upload_id") or "", context)
    headers = _interface_headers(headers, context).plus(("Content-Range", f"bytes {content_range}"))
    return replace(request, method="PUT", headers=headers)


def _content_range(request: Request, commands: set[str], session_id: str, context: ServiceContext) -> str:
    if "upload" not in commands:
        row = context.store.upload_sessions.get(session_id) if "finalize" in commands else None
        return f"*/{row.stored if row else '*'}"
    start, size = _offset(request.headers, context.names.header("Upload-Offset")), content_length(request)
    is_last = "finalize" in commands
    if size is None:
        if not is_last:
            raise refuse("lengthRequired")
        return f"{start}-*/*"
    total = start + size if is_last else "*"
    return f"{start}-{start + size - 1}/{total}" if size else f"*/{total}"


def _interface_headers(headers: Headers, context: ServiceContext) -> Headers:
    """Return the headers without those of the protocol with commands."""
    prefix = context.names.header("Upload-").lower()
    return Headers([pair for pair in headers.pairs if not pair[0].lower().startswith(prefix)])


def _offset(headers: Headers, name: str) -> int:
    text = headers.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise refuse("invalidHeader", name=name, message="expected the number of bytes before this body.")
    return int(text)


def command_response(response: Response, context: ServiceContext) -> Response:
    """Return the response of the protocol with commands. Refusals stay as they are."""
    header, headers = context.names.header, response.headers
    if response.status == 308:
        stored = parse_stored(headers.get("Range"))
        added = [(header("Upload-Status"), "active"), (header("Upload-Size-Received"), str(stored))]
    elif "Location" in headers:
        added = [
            (header("Upload-Status"), "active"),
            (header("Upload-URL"), headers["Location"]),
            (header("Upload-Chunk-Granularity"), str(context.policy.chunk_quantum)),
        ]
    elif response.status in (200, 499):
        added = [(header("Upload-Status"), "final" if response.status == 200 else "cancelled")]
    else:
        return response
    return Response(200, headers.plus(*added), response.body)
