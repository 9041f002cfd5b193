"""Signs the page tokens and the sync tokens of lists, and reads them (X-01)."""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

from ...core.api.operations import Operation
from ...core.errors.catalogue import ApiError, refuse
from ...core.http.messages import Query
from ..store.ids import SHARD

_SIGNATURE_SIZE = 16
_PAGING = ("pageToken", "maxResults")


def encode_page_token(keys: tuple[Any, ...], listing: tuple[str, ...], secret: str) -> str:
    """Return a signed token with the sort keys at which the next page begins. `listing` identifies the listing."""
    text = json.dumps(keys, ensure_ascii=False).encode()
    return f"{SHARD}." + urlsafe_b64encode(_signature(text, listing, secret) + text).decode().rstrip("=")


def decode_page_token(token: str, listing: tuple[str, ...], width: int, secret: str) -> tuple[Any, ...]:
    """Return the `width` sort keys in a page token. Raises ApiError (400) for a token of another listing or service."""
    shard, _, token = token.rpartition(".")
    if shard not in ("", str(SHARD)):  # tokens of older versions have none
        raise _wrong()
    try:
        raw = urlsafe_b64decode(token.encode("ascii") + b"=" * (-len(token) % 4))
    except ValueError:
        raise _wrong() from None
    signature, text = raw[:_SIGNATURE_SIZE], raw[_SIGNATURE_SIZE:]
    if not hmac.compare_digest(signature, _signature(text, listing, secret)):
        raise _wrong()
    keys = tuple(json.loads(text))
    if len(keys) != width:
        raise _wrong()
    return keys


def decode_sync_token(token: str, listing: tuple[str, ...], width: int, secret: str) -> tuple[Any, ...]:
    """Return the `width` values in a sync token. Raises ApiError (410) for a token of another listing or service."""
    try:
        return decode_page_token(token, listing, width, secret)
    except ApiError:
        raise refuse("fullSyncRequired") from None


def selecting_parameters(query: Query, operation: Operation) -> str:
    """Return the query parameters that must be the same in the requests for all pages of a list, as one text.

    These are the parameters of the operation. Unknown parameters, and those of the response format, may differ.
    """
    names = {parameter.name for parameter in operation.parameters}.difference(_PAGING)
    return str(sorted(pair for pair in query.pairs if pair[0] in names))


def _signature(text: bytes, listing: tuple[str, ...], secret: str) -> bytes:
    signed = json.dumps(listing).encode() + b"\n" + text
    return hmac.digest(secret.encode(), signed, "sha256")[:_SIGNATURE_SIZE]


def _wrong() -> ApiError:
    return refuse(
        "invalidValue",
        name="pageToken",
        message="this token does not belong to this list; start again without pageToken.",
    )
