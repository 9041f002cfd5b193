"""Signs users and service accounts in to a sandbox, and registers OAuth clients."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..arguments import file_ids

if TYPE_CHECKING:
    from ...client.session import Session
    from ...server.service import Service
    from ..arguments import File


class ServiceAccount:
    """A service account, which signs in with a key, by `lab.sign_in(account)` or any OAuth library.

    `email` is its address, `key` the key file as a dict (for `google.oauth2.service_account` and others).
    The key is never displayed, because its owner can act as the account.

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
        """The account's address, with which files can be shared."""
        return str(self._key["client_email"])

    @property
    def key(self) -> dict[str, Any]:
        """The content of the key file, including the private key."""
        return dict(self._key)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the key file, readable by its owner only. Raises OSError, or PathExists for other content there."""
        return _save(Path(path), self._key, overwrite=overwrite)


class OAuthClient:
    """An application that acts for users with their consent. `settings` are those of its configuration file.

    The secret is never displayed.

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
        """The client's id at the service. `lab.sign_in(user, client=...)` takes the object, too."""
        return str(self._settings["client_id"])

    @property
    def client_secret(self) -> str | None:
        """The client's secret, None for a public client."""
        return self._settings.get("client_secret")

    @property
    def settings(self) -> dict[str, Any]:
        """The client_id, client_secret, auth_uri, token_uri, redirect_uris and project_id."""
        return dict(self._settings)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write a client secrets file for OAuth libraries, readable by its owner only.

        Raises OSError, or PathExists for other content there.
        """
        return _save(Path(path), {"web": self._settings}, overwrite=overwrite)


def _save(path: Path, value: Mapping[str, Any], *, overwrite: bool) -> Path:
    from ...local.saving import save_bytes

    content = json.dumps(value, indent=2).encode()
    return save_bytes(path.expanduser(), content, overwrite=overwrite, mode=0o600).path


class Identities:
    """The methods of a sandbox for users, service accounts and clients."""

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
        expires_in: float | None = None,
        service_account: bool = False,
        subject: str | None = None,
    ) -> Session:
        """Return a session of another user, or of the same one with fewer scopes. It does not become the current one.

        Args:
            user: An e-mail address; an unknown user is created. None is the sandbox's own user. A service account
                signs in with its key by an assertion to the token endpoint, which `exchanges()` of the session has.
            scopes: Last segments of scopes, like "storage.readonly", or full URIs; None grants them all.
            client: The OAuth client of the user.
            expires_in: Seconds on the sandbox's clock after which the token expires.
            service_account: The user is a service account, which signs in without its key.
            subject: The user for whom the service account acts, if that was delegated to it.

        Raises:
            ValueError: A scope does not exist, the user is not an e-mail address, or an argument does not apply to a
                service account.
            NotSignedIn: The service account may not act for this user.

        >>> lab = svc.sandbox()
        >>> reader = lab.sign_in("bob@svc.example", scopes=["storage.readonly"])
        >>> svc.token_info(session=reader)[["email", "scopes"]].values.tolist()
        [['bob@svc.example', ['storage.readonly']]]
        """
        if isinstance(user, ServiceAccount):
            return self._sign_in_account(user, scopes, expires_in, subject)
        if subject is not None:
            raise ValueError("subject needs a service account; give lab.service_account(...) as the user")
        token = self.service.sign_in(
            user,
            scopes=None if scopes is None else _scopes(scopes),
            client=client.client_id if isinstance(client, OAuthClient) else client,
            expires_in=expires_in,
            service_account=service_account,
        )
        return self._session(token)

    def _sign_in_account(
        self, account: ServiceAccount, scopes: Iterable[str] | None, expires_in: float | None, subject: str | None
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
        """Create a service account with a key.

        Args:
            name: The first part of its address, of a to z, digits and -.
            delegation: Scopes in which it may act for users (`subject=`).
            client: The OAuth client of the account; any user of that client may stop its channels (A10-02).

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
        """Register an application that acts for users with their consent.

        Args:
            name: Its name on the consent page.
            redirect_uris: The addresses to which browsers bring a code; a loopback address may have any port.
            public: The application has no secret, and must use PKCE.

        Raises:
            ValueError: A redirect URI is not valid.

        >>> lab = svc.sandbox()
        >>> photos = lab.oauth_client("Photo album")
        >>> session = lab.sign_in("bob@svc.example", client=photos, scopes=["storage.file"])
        """
        settings = self.service.oauth_client(name, list(redirect_uris), public=public, base_url=self.served)
        return OAuthClient(name, settings)

    def open_with(self, file: File, client: str | OAuthClient) -> None:
        """Open files with an application, as a user does in a file picker, so that its file scope includes them.

        Raises:
            ValueError: There is no such file.
        """
        name = client.client_id if isinstance(client, OAuthClient) else client
        for file_id in file_ids(file):
            if not self.service.open_with(file_id, name):
                raise ValueError(f"there is no file {file_id!r} in this sandbox")

    def flag(self, file: File, *, abusive: bool = True) -> None:
        """Flag files as malware or spam, or remove the flag. Only the owner can download them, with an acknowledgement.

        Raises:
            ValueError: There is no such file.

        >>> lab = svc.sandbox()
        >>> file = svc.upload(b"not what it seems", name="gift.bin")
        >>> lab.flag(file)
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore", category=svc.AbusiveFileWarning):
        ...     svc.read(file, acknowledge_abuse=True)
        b'not what it seems'
        """
        for file_id in file_ids(file):
            if not self.service.flag(file_id, abusive=abusive):
                raise ValueError(f"there is no file {file_id!r} in this sandbox")


def _scopes(scopes: Iterable[str]) -> list[str]:
    """Return the scopes as a list. Raises TypeError for a str, whose letters would be read as scopes."""
    if isinstance(scopes, str):
        raise TypeError(f'scopes must be a list, such as ["{scopes}"], not a str')
    return list(scopes)
