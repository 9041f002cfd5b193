"""Grants, revokes and lists permissions on files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from ...client.files import file_permissions, get_file, share_file, unshare_file
from ...client.session import Session, SessionLike, session_or_current
from ...core.errors.errors import NotAllowed, SvcError, warn_caller
from ..arguments import Column, File, files_at, is_frame, people, roles_of
from ..batch.batch import ROW_ERRORS, Batch, Errors, Executor, Progress, Report, Resumable, Resume, RowOperation, run
from ..frames import PERMISSIONS, Record, frame

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...core.resources.files import Permission

_ROLES = ("reader", "commenter", "writer")
_ANYONE = "anyone"
# Words for everyone, which are not addresses, and for which an error message names "anyone".
_EVERYONE = frozenset({"all", "anybody", "everybody", "everyone", "link", "public", "world"})
_DOMAIN = "domain:"


def share(
    file: File,
    with_: str | Iterable[str] | Mapping[str, str] | DataFrame,
    *,
    role: Column[str] | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    resume: Resume = None,
    progress: Progress = None,
    session: SessionLike = None,
) -> DataFrame:
    """Give users, domains or everyone access to files. `role` replaces the role that a grantee already has.

    Args:
        file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
            A folder is shared with all files in it.
        with_: An e-mail address, "anyone" (everyone who has the file's id; a request still needs a token),
            "domain:example.com" (every user of this domain), or several of these: in a list, a column, a dict from
            them to roles, a DataFrame with a column email or email_address, or one text with commas or semicolons
            between them. A name may stand before an address: "Ann Lee <ann@x.example>".
        role: "reader", "commenter" or "writer", or a list or Series with a role for each grantee. None: the column role
            of a DataFrame of grantees, or else "reader". Then a higher role stays, with a UserWarning.
        workers, executor, errors: The threads or the executor, and what happens with an error, as for `upload`.
        resume: The name of a ledger, with which the same call again does only the other rows.
        progress: None shows a bar for long calls, True always, False never. A function gets (rows done, rows).

    Returns:
        One row for each file and grantee: file_id (str), id (str, the id of the permission), type (str: user, domain
        or anyone), role, email_address, domain (str; missing if not of this type), outcome, error (str), attempts
        (Int64), seconds (Float64).

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        NotAllowed: This user may not share the file.
        NotFound: The file does not exist, or this user may not see it.

    Notification channels on the file get `add`, `update` and `remove` messages: see tests/rules.csv (N-06b).

    >>> lab = svc.sandbox()
    >>> file = svc.upload(b"plan", name="plan.txt")
    >>> svc.share(file, ["bob@svc.example", "anyone"])[["type", "role"]].values.tolist()
    [['user', 'reader'], ['anyone', 'reader']]
    """
    session = session_or_current(session)
    if isinstance(with_, Mapping) and role is None and all("@" in key or key == _ANYONE for key in with_):
        role, with_ = [*with_.values()], [*with_]
    listed = grantees("with_", with_)
    roles = roles_of(with_, role, len(listed), _ROLES)
    keeps = role is None and not (is_frame(with_) and "role" in with_)
    bodies = [*map(_body, listed, roles)]
    pairs = list(product(files_at(session, file), bodies))
    common = {"role": roles[0] if len({*roles}) == 1 else "by row"}
    resumable: Resumable[tuple[str, Permission]] = Resumable("share", common, identity=list)
    call = partial(_share_row, keeps=keeps)
    operation = RowOperation(PERMISSIONS, call, _known, resumable=resumable, title="Share", unit="permissions")
    return run(operation, pairs, session, Batch(workers, executor, errors, resume, progress))


def _share_row(session: Session, pair: tuple[str, Permission], report: Report, *, keeps: bool) -> Record:
    """Share a file, and return the record of the permission. If `keeps`, a grantee with a higher role keeps it."""
    file_id, body = pair
    for permission in file_permissions(session, file_id) if keeps else ():
        if _grantee(permission).lower() == _grantee(body).lower() and permission["role"] in _ROLES[1:]:
            role = permission["role"]
            warn_caller(f"{_grantee(body)} keeps the role {role}; role='reader' lowers it")
            return _record(file_id, permission)
    return _record(pair[0], share_file(session, *pair))


def _known(pair: tuple[str, object]) -> Record:
    return {"file_id": pair[0]}


def grantees(argument: str, value: object) -> list[str]:
    """Return the grantees in a text, a list or a column: e-mail addresses, "anyone" and "domain:example.com".

    Raises TypeError for another type, and ValueError for any other text. The message contains the name in `argument`.

    >>> grantees("With", "Bob <bob@svc.example>, anyone")
    ['bob@svc.example', 'anyone']
    """
    listed = _emails(argument, value)
    for grantee in listed:
        if grantee != _ANYONE and not grantee.startswith(_DOMAIN) and "@" not in grantee:
            hint = '; "anyone" means everyone who has the link' if grantee.lower() in _EVERYONE else ""
            expected = 'an e-mail address, "anyone" or "domain:example.com"'
            raise ValueError(f"{argument} has {grantee!r}; give {expected}{hint}")
    return listed


def _emails(argument: str, value: object) -> list[str]:
    return [str(person.get("email", "")) for person in people(argument, value)]


def _body(grantee: str, role: Any) -> Permission:
    if grantee == _ANYONE:
        return {"type": "anyone", "role": role}
    if grantee.startswith(_DOMAIN):
        return {"type": "domain", "role": role, "domain": grantee.removeprefix(_DOMAIN)}
    return {"type": "user", "role": role, "emailAddress": grantee}


def unshare(
    file: File,
    with_: str | Iterable[str],
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    resume: Resume = None,
    progress: Progress = None,
    session: SessionLike = None,
) -> DataFrame:
    """Remove the permissions of grantees on files. Users without another permission lose access.

    Args:
        file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
        with_: The grantees, as for `share`: an e-mail address, "anyone", "domain:example.com", or a list of these. The
            function also accepts the id of a permission, as in `permissions(file)`.
        workers, executor, errors: The threads or the executor, and what happens with an error, as for `upload`.
        resume: The name of a ledger, with which the same call again does only the other rows.
        progress: None shows a bar for long calls, True always, False never. A function gets (rows done, rows).

    Returns:
        One row for each removed permission, with the columns of `share`.

    Raises:
        ValueError: A file is not shared with one of the grantees.
        NotAllowed: This user may not change the permissions, or the file inherits the permission from a folder.

    >>> lab = svc.sandbox()
    >>> file = svc.upload(b"plan", name="plan.txt")
    >>> given = svc.share(file, "bob@svc.example")
    >>> svc.unshare(file, "bob@svc.example")["email_address"].tolist()
    ['bob@svc.example']
    """
    session = session_or_current(session)
    pairs = list(product(files_at(session, file), _emails("with_", with_)))
    repeat = partial(_unshare_row, repeated=True)
    resumable: Resumable[tuple[str, str]] = Resumable("unshare", identity=list, repeat=repeat)
    operation = RowOperation(
        PERMISSIONS,
        _unshare_row,
        known=_known,
        row_errors=(*ROW_ERRORS, ValueError),
        resumable=resumable,
        title="Unshare",
        unit="permissions",
    )
    return run(operation, pairs, session, Batch(workers, executor, errors, resume, progress))


def _unshare_row(session: Session, pair: tuple[str, str], report: Report, *, repeated: bool = False) -> Record:
    """Remove a permission. If `repeated`, an earlier call may have done so and was stopped before it recorded this."""
    file_id, grantee = pair
    for permission in file_permissions(session, file_id):
        if grantee == permission["id"] or grantee.lower() == _grantee(permission).lower():
            try:
                unshare_file(session, file_id, permission["id"])
            except NotAllowed as error:
                error.advice = _inheritance(session, file_id, permission) or error.advice
                raise
            return _record(file_id, permission)
    if repeated:
        return _record(file_id, _body(grantee, ""))
    raise ValueError(f"file {file_id!r} is not shared with {grantee!r}; permissions(file) lists its grantees")


def _inheritance(session: Session, file_id: str, permission: Permission) -> str:
    """Return the advice to unshare the nearest folder above a file that has its permission, or "" without one."""
    if permission["role"] == "owner":
        return ""
    with suppress(SvcError):
        for parent in get_file(session, file_id, fields="parents").get("parents") or ():
            if permission["id"] in [inherited["id"] for inherited in file_permissions(session, parent)]:
                folder = f"{get_file(session, parent, fields='name')['name']!r}"
                return (
                    f"The permission is inherited from the folder {folder}; unshare that folder, whose id is {parent}."
                )
    return ""


def _grantee(permission: Permission) -> str:
    """Return the grantee of a permission in the form that `share` accepts, like "domain:example.com"."""
    if permission.get("domain"):
        return f"{_DOMAIN}{permission['domain']}"
    return str(permission.get("emailAddress") or permission["type"])


def permissions(file: File, *, session: SessionLike = None) -> DataFrame:
    """List the permissions on files, including permissions inherited from folders. The owner comes first.

    Returns:
        One row for each permission: file_id (str), id (str), type (str), role (str, "owner" for the owner),
        email_address, domain (str; missing if not of this type), display_name (str).

    Raises:
        NotAllowed: This user may not write to the file. Only writers may see its permissions.

    >>> lab = svc.sandbox()
    >>> svc.permissions(svc.upload(b"mine"))["role"].tolist()
    ['owner']
    """

    session = session_or_current(session)
    pairs = [(file_id, each) for file_id in files_at(session, file) for each in file_permissions(session, file_id)]
    return frame(PERMISSIONS, [_record(*pair) for pair in pairs])


def _record(file_id: str, permission: Permission) -> Record:
    return {"file_id": file_id, **permission}
