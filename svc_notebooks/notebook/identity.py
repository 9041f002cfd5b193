"""Describes the access token of a session, and obtains access tokens for service accounts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..client.session import SessionLike, session_or_current
from .frames.frames import frame
from .frames.schemas import TOKEN_INFO

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..client.service_account import AccountToken


def token_info(*, session: SessionLike = None) -> DataFrame:
    """Return the user, client, scopes and expiry time of the session's access token.

    The service's /tokeninfo endpoint supplies them. The result does not contain the token.

    Returns:
        One row: email (str), client (str, the OAuth client to which the token was issued), scopes (object: a list with
        the last path segment of each scope URI), expires (datetime64[ms, UTC], missing if the token never expires).

    Raises:
        NotSignedIn: The token is not valid, or has expired.

    See tests/rules.csv (T).

    >>> lab = svc.sandbox()
    >>> svc.token_info()["email"].tolist()
    ['ada@svc.example']
    """
    from ..client import service_account

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
    """Create a function that obtains access tokens for a service account, for `connect(base_url, token=...)`.

    The session calls the function when it needs the first token, and again when a token has expired.

    Args:
        key: The path of the key file, or its content as a dict.
        scopes: The requested scopes, as full URIs.
        subject: The user for whom the account acts. The account needs domain-wide delegation for this. None means
            the account itself.
        verify: The certificate check for the token endpoint: True, False or a file of certificates. None uses the
            environment's certificates.

    Returns:
        An AccountToken, a function without arguments that returns an access token (str).

    Raises:
        OSError: The key file cannot be read.
        TypeError, ValueError: The key is not valid. The message does not show the key.
        ImportError: PyJWT or cryptography is missing (`pip install 'svc-notebooks[identity]'`).

    See tests/rules.csv (T).

    >>> lab = svc.sandbox(clock="system")
    >>> url = lab.serve().base_url
    >>> key = lab.service_account("robot").key
    >>> session = svc.connect(url, svc.service_account_token(key, ["https://svc.example/auth/storage"]))
    >>> svc.token_info()["email"].tolist()
    ['robot@notebooks.iam.svc.example']
    """
    from ..client.service_account import AccountToken, account_key, token_session

    if isinstance(scopes, str):
        raise TypeError("scopes must be a list of full URIs, not a str")
    account = account_key(Path(key) if isinstance(key, os.PathLike) else key)
    return AccountToken(account, scopes, subject=subject, session=token_session(account["token_uri"], verify=verify))
