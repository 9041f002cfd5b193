"""Methods of a sandbox that sign in users and service accounts, register OAuth clients and flag files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core.errors.public_calls import public_methods
from ..arguments import file_ids

if TYPE_CHECKING:
    from ...client.session import Session
    from ...core.durations import Duration
    from ...server.service import Service
    from ..arguments import File


@public_methods
class ServiceAccount:
    """A service account of a sandbox, which signs in with a private key.

    `lab.sign_in(account)` or any OAuth library signs the account in. `email` is the address of the account. `key` is
    the content of the key file as a dict, for example for `google.oauth2.service_account`. The key is never displayed,
    because everyone who has the key can act as the account.

    >>> lab = svc.sandbox()
    >>> robot = lab.service_account("robot")
    >>> robot.email, sorted(robot.key)[:2]
    ('robot@notebooks.iam.svc.example', ['auth_uri', 'client_email'])
    """

    def __init__(self, key: Mapping[str, Any]) -> None:
        self._key = dict(key)

    def __repr__(self) -> str:
        return f"<ServiceAccount {self.email}>"

    @property
    def email(self) -> str:
        """The e-mail address of the account. Files can be shared with this address."""
        return str(self._key["client_email"])

    @property
    def key(self) -> dict[str, Any]:
        """The content of the key file as a new dict, including the private key."""
        return dict(self._key)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the key file so that only its owner can read the file, and return its path.

        Raises PathExists if a file with other content exists and `overwrite` is False, and OSError if the file cannot
        be written.
        """
        return _save(Path(path), self._key, overwrite=overwrite)


@public_methods
class OAuthClient:
    """An OAuth client, which is an application that acts for users with their consent.

    `settings` is the content of the application's client secrets file. The secret is never displayed.

    >>> lab = svc.sandbox()
    >>> lab.oauth_client("Photo album", public=True).client_secret is None
    True
    """

    def __init__(self, name: str, settings: Mapping[str, Any]) -> None:
        self.name = name
        self._settings = dict(settings)

    def __repr__(self) -> str:
        return f"<OAuthClient {self.name}: {self.client_id}>"

    @property
    def client_id(self) -> str:
        """The id of the client at the service (str)."""
        return str(self._settings["client_id"])

    @property
    def client_secret(self) -> str | None:
        """The secret of the client. None for a public client, which has no secret."""
        return self._settings.get("client_secret")

    @property
    def settings(self) -> dict[str, Any]:
        """A dict with client_id, client_secret, auth_uri, token_uri, redirect_uris and project_id."""
        return dict(self._settings)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write a client secrets file for OAuth libraries, and return its path. Only the owner can read the file.

        Raises PathExists if a file with other content exists and `overwrite` is False, and OSError if the file cannot
        be written.
        """
        return _save(Path(path), {"web": self._settings}, overwrite=overwrite)


def _save(path: Path, value: Mapping[str, Any], *, overwrite: bool) -> Path:
    from ...local.saving import save_bytes

    content = json.dumps(value, indent=2).encode()
    return save_bytes(path.expanduser(), content, overwrite=overwrite, mode=0o600).path


@public_methods
class Identities:
    """The methods of a sandbox for users, service accounts, OAuth clients and flagged files."""

    service: Service
    served: str
    """The base URL of the service for programs outside this kernel."""
    _session: Callable[..., Session]

    def sign_in(
        self,
        user: str | ServiceAccount | None = None,
        *,
        scopes: Iterable[str] | None = None,
        client: str | OAuthClient = "notebook",
        expires_in: Duration | None = None,
        service_account: bool = False,
        subject: str | None = None,
    ) -> Session:
        """Sign in a user or a service account, and return a new session. The current session does not change.

        Args:
            user: An e-mail address. If no user has this address, a new user is created. None: the sandbox's own user.
                A `ServiceAccount` signs in with its key at the token endpoint, and `exchanges()` of the new session
                shows the request.
            scopes: Scopes as last segments such as "storage.readonly", or as full URIs. None: all scopes.
            client: The OAuth client with which the user signs in, as an id or an `OAuthClient`.
            expires_in: The time on the sandbox's clock after which the token expires, as a timedelta, seconds or a
                text such as "1h". None: never.
            service_account: If True, `user` is the address of a service account that signs in without its key.
            subject: The user for whom the service account acts. The account needs a delegation.

        Returns:
            A `Session` for the `session` argument of other functions.

        Raises:
            ValueError: A scope does not exist, the user is not an e-mail address, or an argument does not apply to a
                service account.
            NotSignedIn: The service account has no delegation to act for the subject.

        >>> lab = svc.sandbox()
        >>> reader = lab.sign_in("bob@svc.example", scopes=["storage.readonly"])
        >>> svc.token_info(session=reader)[["email", "scopes"]].values.tolist()
        [['bob@svc.example', ['storage.readonly']]]
        """
        if isinstance(user, ServiceAccount):
            return self._sign_in_account(user, scopes, expires_in, subject)
        if subject is not None:
            raise ValueError("subject needs a service account; give lab.service_account(...) as the user")
        session = self._session(self._token(user, scopes, client, expires_in, service_account=service_account))
        session.user = str(user)
        return session

    def create_access_token(
        self,
        user: str | None = None,
        *,
        scopes: Iterable[str] | None = None,
        client: str | OAuthClient = "notebook",
        expires_in: Duration | None = None,
    ) -> str:
        """Create an access token for a program outside this kernel. `lab.access_token` is the token of the own user.

        Args:
            user: An e-mail address. If no user has this address, a new user is created. None: the sandbox's own user.
            scopes: Scopes as last segments such as "storage.readonly", or as full URIs. None: all scopes.
            client: The OAuth client of the token, as an id or an `OAuthClient`.
            expires_in: The time on the sandbox's clock after which the token expires, as for `sign_in`. None: never.

        Returns:
            The token (str), for the header `Authorization: Bearer TOKEN`.

        Raises:
            ValueError: A scope does not exist, the user is not an e-mail address, or the duration is invalid.

        >>> import requests
        >>> lab = svc.sandbox()
        >>> server, token = lab.serve(), lab.create_access_token("bob@svc.example", scopes=["storage.readonly"])
        >>> response = requests.get(f"{server.base_url}/storage/v3/files", headers={"Authorization": f"Bearer {token}"})
        >>> response.json()["files"]
        []
        """
        return self._token(user, scopes, client, expires_in)

    def _token(
        self,
        user: str | None,
        scopes: Iterable[str] | None,
        client: str | OAuthClient,
        expires_in: Duration | None,
        *,
        service_account: bool = False,
    ) -> str:
        name, listed = _client_id(client), None if scopes is None else _scopes(scopes)
        return self.service.sign_in(
            user, scopes=listed, client=name, expires_in=expires_in, service_account=service_account
        )

    def _sign_in_account(
        self, account: ServiceAccount, scopes: Iterable[str] | None, expires_in: Duration | None, subject: str | None
    ) -> Session:
        from ...client.service_account import AccountToken
        from ...core.api.operations import ALL_SCOPES

        if expires_in is not None:
            raise ValueError("expires_in does not apply to a service account, whose tokens are valid for an hour")
        anonymous, base = self._session(None), self.service.policy.auth_scope_base
        key = {**account.key, "token_uri": f"{anonymous.base_url}/token"}
        scope_uris = [
            scope if scope.startswith(f"{base}/") else f"{base}/{scope}"
            for scope in (ALL_SCOPES if scopes is None else _scopes(scopes))
        ]
        session = self._session(AccountToken(key, scope_uris, subject=subject, session=anonymous), anonymous.exchanges)
        session.renew()
        return session

    def service_account(self, name: str, *, delegation: Iterable[str] = (), client: str = "notebook") -> ServiceAccount:
        """Create a service account with a private key.

        Args:
            name: The first part of the account's e-mail address, which consists of a to z, digits and "-".
            delegation: Scopes with which the account may act for users (`sign_in(account, subject=...)`).
            client: The id of the account's OAuth client. Any user of the same client may stop the notification channels
                of the account (A10-02).

        Returns:
            A `ServiceAccount` with the attributes `email` and `key`.

        Raises:
            ValueError: The name or a scope is not valid.
            ImportError: PyJWT or cryptography is missing (`pip install 'svc-notebooks[identity]'`).

        >>> lab = svc.sandbox()
        >>> robot = lab.service_account("robot")
        >>> robot
        <ServiceAccount robot@notebooks.iam.svc.example>
        >>> svc.files(session=lab.sign_in(robot)).shape[0]
        0
        """
        key = self.service.service_account(name, delegation=_scopes(delegation), client=client, base_url=self.served)
        return ServiceAccount(key)

    def oauth_client(self, name: str, *, redirect_uris: Sequence[str] = (), public: bool = False) -> OAuthClient:
        """Register an OAuth client, which is an application that acts for users with their consent.

        Args:
            name: The application's name on the consent page.
            redirect_uris: The addresses that receive authorization codes. A loopback address matches every port.
            public: If True, the application has no secret, and must use PKCE.

        Returns:
            An `OAuthClient` with the attributes `client_id` and `client_secret`.

        Raises:
            ValueError: A redirect URI is not valid.

        >>> lab = svc.sandbox()
        >>> photos = lab.oauth_client("Photo album")
        >>> session = lab.sign_in("bob@svc.example", client=photos, scopes=["storage.file"])
        """
        settings = self.service.oauth_client(name, list(redirect_uris), public=public, base_url=self.served)
        return OAuthClient(name, settings)

    def open_with(self, file: File, client: str | OAuthClient) -> None:
        """Open files with an application, as a user does in a file picker.

        An application with the scope "storage.file" then has access to these files.

        Args:
            file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
            client: The application, as an OAuth client id or an `OAuthClient`.

        Raises:
            ValueError: The sandbox has no file with this id.
        """
        _for_each(file, lambda file_id: self.service.open_with(file_id, _client_id(client)))

    def flag(self, file: File, *, abusive: bool = True) -> None:
        """Flag files as malware or spam, or remove the flag.

        Only the owner can download a flagged file, and only with `acknowledge_abuse=True`.

        Args:
            file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
            abusive: True sets the flag, and False removes the flag.

        Raises:
            ValueError: The sandbox has no file with this id.

        >>> lab = svc.sandbox()
        >>> file = svc.upload(b"not what it seems", name="gift.bin")
        >>> lab.flag(file)
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore", category=svc.AbusiveFileWarning):
        ...     svc.read(file, acknowledge_abuse=True)
        b'not what it seems'
        """
        _for_each(file, lambda file_id: self.service.flag(file_id, abusive=abusive))


def _client_id(client: str | OAuthClient) -> str:
    return client.client_id if isinstance(client, OAuthClient) else client


def _for_each(file: File, call: Callable[[str], bool]) -> None:
    """Call a function of the service for each file. Raises ValueError if it returns False, because there is none."""
    for file_id in file_ids(file):
        if not call(file_id):
            raise ValueError(f"there is no file {file_id!r} in this sandbox")


def _scopes(scopes: Iterable[str]) -> list[str]:
    """Return scopes as a list. Raises TypeError for a str, because a str would be read as a list of letters."""
    if isinstance(scopes, str):
        raise TypeError(f'scopes must be a list, such as ["{scopes}"], not a str')
    return list(scopes)
