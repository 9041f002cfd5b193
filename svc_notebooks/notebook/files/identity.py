"""Describes the token of a session and makes tokens of service accounts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..current_session import session_or_current
from ..frames.frames import frame
from ..frames.schemas import TOKEN_INFO

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.service_account import AccountToken
    from ...client.session import Session


def token_info(*, session: Session | None = None) -> DataFrame:
    """Show the user, client, scopes and expiry of the session's token, from /tokeninfo, without the token itself.

    Returns:
        One row: email, client (str, the OAuth client it was given to), scopes (object: a list of last segments),
        expires (datetime64[ms, UTC], missing for a token without an end).

    Raises:
        NotSignedIn: The token is not valid any more.

    See docs/rules.md#t-tokens-and-scopes (T).

    >>> lab = svc.sandbox()
    >>> svc.token_info()["email"].tolist()
    ['ada@svc.example']
    """
    from ...client import service_account

    info = service_account.token_info(session_or_current(session))
    expires = info.get("exp")
    row = {
        "email": info.get("email"),
        "client": info.get("azp"),
        "scopes": [scope.rpartition("/")[2] for scope in str(info.get("scope") or "").split()],
        "expires": datetime.fromtimestamp(expires, UTC) if isinstance(expires, int | float) else None,
    }
    return frame(TOKEN_INFO, [row])


def service_account_token(
    key: Mapping[str, Any] | str | os.PathLike[str],
    scopes: Iterable[str],
    *,
    subject: str | None = None,
    verify: bool | str | Path | None = None,
) -> AccountToken:
    """Make a token function of a service account, for `connect(base_url, token=...)`.

    Nothing is sent before a token is needed. When one has expired, the session gets the next.

    Args:
        key: The key file's path, or its content as a dict.
        scopes: Full URIs of scopes.
        subject: A user on whose behalf the account acts, where it has domain-wide delegation.
        verify: As for `connect`, for the token endpoint in the key.

    Raises:
        OSError: The file cannot be read.
        TypeError, ValueError: The key is not valid; the message does not show it.
        ImportError: PyJWT or cryptography is missing (`pip install 'svc-notebooks[identity]'`).

    See docs/rules.md#t-tokens-and-scopes (T).

    >>> lab = svc.sandbox(clock="system")
    >>> url = lab.serve().base_url
    >>> key = lab.service_account("robot").key
    >>> session = svc.connect(url, svc.service_account_token(key, ["https://svc.example/auth/storage"]))
    >>> svc.token_info()["email"].tolist()
    ['robot@notebooks.iam.svc.example']
    """
    from ...client.service_account import AccountToken, account_key, token_session

    if isinstance(scopes, str):
        raise TypeError("scopes is a str; give a list of full URIs")
    account = account_key(Path(key) if isinstance(key, os.PathLike) else key)
    return AccountToken(account, scopes, subject=subject, session=token_session(account["token_uri"], verify=verify))
