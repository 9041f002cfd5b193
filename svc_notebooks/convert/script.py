"""Reads and writes native script projects, which are files with a name, a type and source text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from .input import native_package
from .input.charset import decode
from .job import ConversionError, Job, TooLarge

TYPES = ("server_js", "html", "json")  # server scripts, HTML pages and the project's manifest

_MAX_FILES = 1_000
_MAX_NAME = 200
_PROJECT_KEYS = frozenset({"files", "scriptId"})
_PROJECT_FORM = '{"files": [{"name": ..., "type": "server_js", "html" or "json", "source": ...}]}'


@dataclass(frozen=True, slots=True)
class ScriptFile:
    """A file of a script project. `others` has the unknown fields of the file's JSON object."""

    name: str
    type: str
    source: str
    others: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScriptProject:
    """A script project. `others` has the unknown fields of the project's JSON object.

    >>> ScriptProject.unpack(ScriptProject().pack()) == ScriptProject()
    True
    """

    files: tuple[ScriptFile, ...] = ()
    others: Mapping[str, Any] = field(default_factory=dict)

    def pack(self) -> bytes:
        """Serialize the project to the bytes that the service stores."""
        return native_package.pack(_project_to_json(self), {})

    @classmethod
    def unpack(cls, body: bytes) -> ScriptProject:
        """Restore the project from the bytes that `pack` returned."""
        value, _ = native_package.unpack(body)
        return _project_from_json(value)


def read_text(source: bytes, job: Job) -> ScriptProject:
    """Read plain text as a project with one server script, which is named "Code" (A5-01, the special type)."""
    return ScriptProject((ScriptFile("Code", "server_js", _normalize_newlines(decode(source, job))),))


def read_json(source: bytes, job: Job) -> ScriptProject:
    """Read JSON as a script project. Other JSON becomes the only file of the project. Raises ConversionError."""
    text = decode(source, job)
    value = _parse_json(text)
    if isinstance(value, dict) and _PROJECT_KEYS & value.keys():
        return _parse_project(value)
    name = (job.name.removesuffix(".json") or "data")[:_MAX_NAME]
    job.note("the JSON is not a script project; a new project with the JSON as its only file was created.")
    return ScriptProject((ScriptFile(name, "json", _normalize_newlines(text)),))


def write_json(project: ScriptProject, job: Job) -> bytes:
    """Serialize a project as JSON in UTF-8 with an indentation of two spaces."""
    text = json.dumps(_project_to_json(project), ensure_ascii=False, indent=2)
    return text.encode("utf-8", "replace") + b"\n"


def _normalize_newlines(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _project_to_json(project: ScriptProject) -> dict[str, Any]:
    files = [{"name": it.name, "type": it.type, "source": it.source} | dict(it.others) for it in project.files]
    return {**project.others, "files": files}


def _project_from_json(value: Mapping[str, Any]) -> ScriptProject:
    files = []
    for file in value["files"]:
        others = {key: other for key, other in file.items() if key not in ("name", "type", "source")}
        files.append(ScriptFile(file["name"], file["type"], file["source"], others))
    return ScriptProject(tuple(files), {key: other for key, other in value.items() if key != "files"})


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text.removeprefix("\ufeff"), parse_constant=_reject_constant, parse_float=_parse_finite)
    except json.JSONDecodeError as error:
        position = f"line {error.lineno}, column {error.colno}"
        raise ConversionError(f"the file is not valid JSON: {error.msg} at {position}.") from error
    except RecursionError as error:
        raise TooLarge("the JSON is nested too deeply.") from error
    except ValueError as error:  # an integer with more digits than Python parses
        raise ConversionError(f"the file is not valid JSON: {error}") from error


def _reject_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number.")


def _parse_finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"the number {digits[:40]} is too large.")
    return value


def _parse_project(value: dict[str, Any]) -> ScriptProject:
    """Parse the JSON object of a project. Raises ConversionError with up to five problems if a file is not valid."""
    files = value.get("files")
    if not isinstance(files, list):
        raise ConversionError(f"files: expected a list, as in {_PROJECT_FORM}.")
    if len(files) > _MAX_FILES:
        raise TooLarge(f"files: a project has at most {_MAX_FILES} files.")
    problems = [problem for n, file in enumerate(files) for problem in _problems(file, f"files[{n}]")]
    names = [file.get("name") for file in files if isinstance(file, dict)]
    duplicates = sorted({name for name in names if isinstance(name, str) and names.count(name) > 1})
    problems += [f"files: the name {name!r} occurs more than once" for name in duplicates]
    if problems:
        raise ConversionError("; ".join(problems[:5]) + f". A project has the form {_PROJECT_FORM}.")
    return _project_from_json(value)


def _problems(file: Any, path: str) -> list[str]:
    if not isinstance(file, dict):
        return [f"{path}: expected an object"]
    problems = []
    if not isinstance(file.get("name"), str) or not 0 < len(file["name"]) <= _MAX_NAME:
        problems.append(f"{path}.name: expected text of 1 to {_MAX_NAME} characters")
    if file.get("type") not in TYPES:
        problems.append(f"{path}.type: expected one of {', '.join(TYPES)}")
    if not isinstance(file.get("source"), str):
        problems.append(f"{path}.source: expected text")
    return problems
