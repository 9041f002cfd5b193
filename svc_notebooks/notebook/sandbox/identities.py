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
    """An account that is nobody: it signs in with a key. `lab.sign_in(account)` does; so do stock libraries.

    `email` is its address, `key` the key file as a dict (`google.oauth2.service_account` and others take it).
    The key is never shown; who has it is the account.

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
        """The account's address: share files with it as with anybody."""
        return str(self._key["client_email"])

    @property
    def key(self) -> dict[str, Any]:
        """What the key file holds, the private key among it."""
        return dict(self._key)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the key file, for its owner's eyes alone. Raises OSError; PathExists where there is other content."""
        return _save(Path(path), self._key, overwrite=overwrite)


class OAuthClient:
    """An application that people let act for them. `settings` is what its makers configure it with.

    The secret is never shown.

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
        """What it calls itself at the service; `lab.sign_in(user, client=...)` takes the object too."""
        return str(self._settings["client_id"])

    @property
    def client_secret(self) -> str | None:
        """What proves it; None for a public client."""
        return self._settings.get("client_secret")

    @property
    def settings(self) -> dict[str, Any]:
        """client_id, client_secret, auth_uri, token_uri, redirect_uris, project_id."""
        return dict(self._settings)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the file that libraries read as client secrets, for its owner's eyes alone.

        Raises OSError; PathExists where there is other content.
        """
        return _save(Path(path), {"web": self._settings}, overwrite=overwrite)


def _save(path: Path, value: Mapping[str, Any], *, overwrite: bool) -> Path:
    from ...local.saving import save_bytes

    content = json.dumps(value, indent=2).encode()
    return save_bytes(path.expanduser(), content, overwrite=overwrite, mode=0o600).path


class Identities:
    """What a sandbox does about people."""

    service: Service
    served: str
    """Where others find the service."""
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
        """A session of another user, or of the same one with fewer scopes; the current one stays.

        Args:
            user: An e-mail address; who is unknown is created. None is the sandbox's own user. A service account
                signs in with its key: an assertion goes to the token endpoint, and `exchanges()` of the session
                shows it.
            scopes: Last segments of scopes, like "storage.readonly", or full URIs; None grants them all.
            client: The OAuth client that the user signs in with.
            expires_in: Seconds on the sandbox's clock after which the token is no longer good.
            service_account: The user is a service account, and this the short way in, without a key.
            subject: A user for whom the service account acts, as far as that was delegated to it.

        Raises:
            ValueError: A scope that does not exist, a user who is no e-mail address, or an argument that a service
                account has no use for.
            NotSignedIn: The service account may not act for this user.

        >>> lab = svc.sandbox()
        >>> reader = lab.sign_in("bob@svc.example", scopes=["storage.readonly"])
        >>> svc.token_info(session=reader)[["email", "scopes"]].values.tolist()
        [['bob@svc.example', ['storage.readonly']]]
        """
        if isinstance(user, ServiceAccount):
            return self._sign_in_account(user, scopes, expires_in, subject)
        if subject is not None:
            raise ValueError("subject is for a service account: give lab.service_account(...) as the user")
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
            raise ValueError("expires_in is not for a service account: its tokens are good for an hour")
        anonymous = self._session(None)
        key = {**account.key, "token_uri": f"{anonymous.base_url}/token"}
        scope_uris = [self._scope_uri(scope) for scope in (ALL_SCOPES if scopes is None else _scopes(scopes))]
        made = self._session(AccountToken(key, scope_uris, subject=subject, session=anonymous), anonymous.exchanges)
        made.renew()
        return made

    def _scope_uri(self, scope: str) -> str:
        base = self.service.policy.auth_scope_base
        return scope if scope.startswith(f"{base}/") else f"{base}/{scope}"

    def service_account(self, name: str, *, delegation: Iterable[str] = (), client: str = "notebook") -> ServiceAccount:
        """A service account with a new key.

        Args:
            name: What its address begins with: a to z, digits and -.
            delegation: Scopes in which it may act for users (`subject=`).
            client: The OAuth client that it belongs to: any user of that client may stop its channels (A10-02).

        Raises:
            ValueError: A name or a scope that is none.
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
        """Register an application that asks people to let it act for them.

        Args:
            name: What the page of consent calls it.
            redirect_uris: Where browsers go with a code; a loopback address may have any port.
            public: It has no secret, and must use PKCE.

        Raises:
            ValueError: A redirect URI that is none.

        >>> lab = svc.sandbox()
        >>> photos = lab.oauth_client("Photo album")
        >>> session = lab.sign_in("bob@svc.example", client=photos, scopes=["storage.file"])
        """
        settings = self.service.oauth_client(name, list(redirect_uris), public=public, base_url=self.served)
        return OAuthClient(name, settings)

    def open_with(self, file: File, client: str | OAuthClient) -> None:
        """Open files with an application, as a person does who picks them there: its file scope then reaches them.

        Raises:
            ValueError: There is no such file.
        """
        name = client.client_id if isinstance(client, OAuthClient) else client
        for file_id in file_ids(file):
            if not self.service.open_with(file_id, name):
                raise ValueError(f"there is no file {file_id!r} in this sandbox")

    def flag(self, file: File, *, abusive: bool = True) -> None:
        """Mark files as malware or spam, or take the mark away: only the owner can download them, and knowingly.

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
    """A single text is a mistake that would be taken for its letters."""
    if isinstance(scopes, str):
        raise TypeError(f'scopes is a str; give a list, like ["{scopes}"]')
    return list(scopes)
