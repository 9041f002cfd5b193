"""What the TypedDict of a resource says of a field beside its type, and the list of the fields of a resource.

The checks, the JSON Schemas, the shapes of `fields` masks, the columns of frames, the event form and the documentation
read the TypedDicts of this package, so that a field is described once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from enum import Enum
from functools import cache
from typing import Annotated, Any, Final, Literal, Required, get_args, get_origin, get_type_hints, is_typeddict


class Write(Enum):
    """The operations in which a client may set a field of a file."""

    NEVER = "never"
    CREATE = "on create"
    ALWAYS = "on create and update"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a resource.

    `type` is a type name of the checks, by default that of the annotation, and `values` are the allowed values.
    `required` fields are required in request bodies, and `default` is the value of an absent field. `note` is a short
    text of the interface's rule, and `decided_by` the decision behind an error that the interface does not define.
    Fields with `extension` are not in the interface.

    Of events: `max_length` (characters or entries) applies only with `event_limits="family"`. The service ignores
    values of fields that are not `writable`, because clients send back whole resources.

    Of files: `write` says when a client may set the field. Only files with binary content have a `binary` field. The
    service keeps a client's value of a `stored` field, and never sets a `never_set` field.

    `schema_keywords` are further keywords of the JSON Schema.

    `path` is the path in the resource, such as `attendees[].email`, and `members` the member names of an object.
    """

    type: str = ""
    _: KW_ONLY
    note: str = ""
    required: bool = False
    default: bool | int | str | None = None
    values: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    max_length: int | None = None
    decided_by: str | None = None
    writable: bool = True
    extension: bool = False
    write: Write = Write.NEVER
    binary: bool = False
    stored: bool = False
    never_set: bool = False
    schema_keywords: Mapping[str, Any] = field(default_factory=dict)
    path: str = ""
    members: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]


PLAIN: Final = Field()
TIME: Final = Field("time")
READ_ONLY: Final = Field(writable=False)
EXTENSION: Final = Field(extension=True)
ABSENT: Final = Field(never_set=True)

_TYPES: Mapping[Any, str] = {str: "string", bool: "boolean", int: "integer", list: "list"}


@cache
def hints(resource: Any) -> Mapping[str, Any]:
    """Return the annotations of a TypedDict of this package by field name."""
    return get_type_hints(resource, localns={"JSON": Any, "JSONObject": dict[str, Any]}, include_extras=True)


def split(annotation: Any) -> tuple[Any, Field]:
    """Return the type of an annotation, and its `Field` with the type name and the allowed values."""
    if get_origin(annotation) is Required:
        annotation = get_args(annotation)[0]
    described = get_args(annotation) if get_origin(annotation) is Annotated else (annotation, PLAIN)
    value, facts = described
    if get_origin(value) is Literal:
        return str, replace(facts, type="enum", values=get_args(value))
    name = facts.type or ("enum" if facts.values else _TYPES.get(get_origin(value) or value, "object"))
    if not facts.type and get_origin(value) is dict and get_args(value)[1] is not Any:
        name = "map"
    return value, replace(facts, type=name)


def fields_of(resource: Any, path: str = "", *, extension: bool = False) -> Iterator[Field]:
    """Yield the fields of a resource and below each field its members. `extension`: the parent is an extension.

    >>> from .calendars import AclRule
    >>> [field.path for field in fields_of(AclRule)]
    ['kind', 'etag', 'id', 'scope', 'scope.type', 'scope.value', 'role']
    """
    for name, annotation in hints(resource).items():
        value, facts = split(annotation)
        is_list = get_origin(value) is list
        entry = get_args(value)[0] if is_list else value
        entry_path = f"{path}{name}{'[]' if is_list else ''}"
        members = tuple(hints(entry)) if is_typeddict(entry) else ()
        own = replace(facts, path=path + name, members=members, extension=facts.extension or extension)
        yield own
        if members and own.type != "person":
            yield from fields_of(entry, f"{entry_path}.", extension=own.extension)
        elif is_list and entry is str:
            yield Field("string", path=entry_path)
