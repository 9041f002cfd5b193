"""Exercises about sharing one file with one person, and about signing in with the narrowest scopes."""

from collections.abc import Callable
from random import Random

from ...client.files import file_permissions
from ..definition import ExerciseDefinition, Part, Value, quantity, require
from ..evidence import Evidence, RecordedRequest, require_any
from ..exercise_service import ExerciseService
from .content import put_file


def _set_up_share(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    session, year = exercise.session(), rng.randrange(2019, 2027)
    ids = {name: put_file(session, f"{name} {year}.txt", name.encode()) for name in ("plan", "plan draft", "budget")}
    user = rng.choice(("bob", "eve", "ivo", "lea"))
    return {"file_id": ids["plan"], "email": f"{user}{rng.randrange(10, 99)}@svc.example"}


_SHARING = ("permissions.create", "permissions.update")


def _shares(evidence: Evidence) -> list[RecordedRequest]:
    return require_any(evidence, evidence.succeeded(*_SHARING), "has shared a file. Use svc.share.")


def _require_narrow_grants(evidence: Evidence) -> str:
    email = evidence.values["email"]
    for request in _shares(evidence):
        body = request.request_json
        grantee_type, role, address = body.get("type", "user"), body.get("role"), str(body.get("emailAddress", email))
        message = f"A permission had the type {grantee_type!r}, so more than one person had access. Give the address of one person."
        require(grantee_type == "user", message)
        require(address.lower() == email, f"The file was shared with {address!r}, and not with given.email.")
        message = f"A permission had the role {role!r}, which allows changes of the file. Use a role that allows only comments."
        require(role in ("reader", "commenter"), message)
    return "One person can read and comment on one file, and at no time could anybody do more."


def _require_one_file(evidence: Evidence) -> None:
    others = [request for request in _shares(evidence) if f"/{evidence.values['file_id']}/" not in request.path]
    shared = [file for file in evidence.files if file.get("shared") and file["id"] != evidence.values["file_id"]]
    message = "A file other than given.file_id was shared, too. Look at the paths in svc.exchanges()."
    require(not others and not shared, message)


def _require_commenter(evidence: Evidence) -> None:
    permissions, email = file_permissions(evidence.state, evidence.values["file_id"]), evidence.values["email"]
    guests = [permission for permission in permissions if permission.get("role") != "owner"]
    require(guests, "Only the owner has access to the file given.file_id. Look at svc.permissions(given.file_id).")
    message = f"The file has {len(guests)} permissions besides the owner's instead of one. Look at svc.permissions(given.file_id)."
    require(len(guests) == 1, message)
    role, address = guests[0].get("role"), guests[0].get("emailAddress")
    require(address == email, f"The file is shared with {address!r}, and not with given.email.")
    message = f"The role of {email} is {role!r}, which is not the role for comments. The roles are reader, commenter and writer."
    require(role == "commenter", message)
    until = guests[0].get("expirationTime")
    require(not until, f"The permission ends at {until}. Share the file without an expirationTime.")


SHARE = ExerciseDefinition(
    name="share-with-one",
    set_up=_set_up_share,
    parts=(
        Part("nobody else had access, and nobody could change the file", _require_narrow_grants, 2, _SHARING),
        Part("no other file is shared", _require_one_file, 1, _SHARING),
        Part("given.email can comment", _require_commenter, 2, _SHARING),
    ),
    changes=("hasAugmentedPermissions", "permissionIds", "permissions", "shared"),
)


def _set_up_scope(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    session, number = exercise.session(), rng.randrange(2, 99)
    letters = {f"letter {n}.txt": f"The key is under stone {n}.".encode() for n in range(number, number + 3)}
    ids = [put_file(session, name, content) for name, content in letters.items()]
    exercise.check_data["names"] = set(letters)
    return {"file_id": ids[1]}


def _require_work(program: str) -> Callable[[Evidence], None]:
    def check(evidence: Evidence) -> None:
        requests = [request for request in evidence.requests if request.client == program]
        message = f"The service received no request of the program {program!r}. Use given.sign_in, and the session that it returns."
        require(requests, message)
        scope, work, has_worked = _PROGRAMS[program]
        for scopes in [scopes for client, scopes in evidence.sign_ins if client == program]:
            _require_narrow_scope(program, {name.rpartition("/")[2] for name in scopes}, scope)
        in_trash = program == "diary" and any(file["name"] == _DIARY and file.get("trashed") for file in evidence.files)
        last = " The file is in the trash." if in_trash else " Look at svc.exchanges(session=...)."
        last = f" Its last request was refused: {requests[-1].refusal}" if requests[-1].refused else last
        message = f"The program {program!r} has sent {quantity(len(requests), 'request')}, but neither the responses nor the files show that it {work}.{last}"
        require(has_worked([request for request in requests if request.succeeded], evidence), message)

    return check


def _require_narrow_scope(program: str, scopes: set[str], scope: str) -> None:
    message = f"The token of {program!r} has {quantity(len(scopes), 'scope')}: one is enough for its work."
    require(len(scopes) == 1, message)
    scope_names = " and ".join(sorted(scopes))
    message = f"A token of {program!r} has the scope {scope_names}: that is not the narrowest that does its work. See 07-identity-and-scopes for others."
    require(scope in scopes, message)


def _has_listed(requests: list[RecordedRequest], evidence: Evidence) -> bool:
    listed = [file for request in requests for file in request.response_json.get("files", [])]
    names: set[str] = evidence.check_data["names"]
    return names <= {file.get("name") for file in listed}


def _has_downloaded(requests: list[RecordedRequest], evidence: Evidence) -> bool:
    path = f"/{evidence.values['file_id']}"
    downloads = [request for request in requests if request.query.get("alt") == "media" and request.path.endswith(path)]
    return any(request.status == 200 and request.sent for request in downloads)


def _has_uploaded(requests: list[RecordedRequest], evidence: Evidence) -> bool:
    uploads = {request.response_json.get("id") for request in requests if request.upload_type}
    files = [file for file in evidence.live_files if file["name"] == _DIARY and ".svc-apps." not in file["mimeType"]]
    return any(file["id"] in uploads for file in files)


_DIARY = "diary.txt"
_PROGRAMS: dict[str, tuple[str, str, Callable[[list[RecordedRequest], Evidence], bool]]] = {
    "catalogue": ("storage.metadata.readonly", "listed the names of the files", _has_listed),
    "reader": ("storage.readonly", "downloaded the content of given.file_id", _has_downloaded),
    "diary": ("storage.file", "uploaded a file called diary.txt", _has_uploaded),
}


def _require_own_token_unused(evidence: Evidence) -> str:
    for client, scopes in evidence.sign_ins:
        message = f"given.sign_in({client!r}, ...) requested a token with {' and '.join(scopes)} for a program of another name."
        require(client in _PROGRAMS, message)
    known = [request for request in evidence.requests if request.operation is not None]
    others = [request for request in known if request.client not in _PROGRAMS]
    message = f"{quantity(len(others), 'request')} used your own token, which has all scopes. Pass the session of a program to each call as session=."
    require(not others, message)
    return "Each program could do its work, and nothing else."


SCOPE = ExerciseDefinition(
    name="the-narrowest-scope",
    set_up=_set_up_scope,
    parts=(
        *(Part(f"{program}: its work with its scope", _require_work(program), 2) for program in _PROGRAMS),
        Part("no other token is used", _require_own_token_unused),
    ),
    creates=1,
)

ALL = (SHARE, SCOPE)
