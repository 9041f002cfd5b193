"""Reads and writes native script projects: files with a name, a type and source text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from .input import native_package
from .input.charset import decode
from .job import ConversionError, Job, TooLarge

TYPES = ("server_js", "html", "json")
"""What a file of a project may be: a script, a page, or the project's manifest."""

_MAX_FILES = 1_000
_MAX_NAME = 200
_PROJECT_KEYS = frozenset({"files", "scriptId"})
_PROJECT_FORM = '{"files": [{"name": ..., "type": "server_js", "html" or "json", "source": ...}]}'


@dataclass(frozen=True, slots=True)
class ScriptFile:
    """One file; `others`: fields beside these three, kept as they came."""

    name: str
    type: str
    source: str
    others: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Project:
    """A script project; without arguments one of no files. `others`: fields beside the files, kept as they came.

    >>> Project.unpack(Project().pack()) == Project()
    True
    """

    files: tuple[ScriptFile, ...] = ()
    others: Mapping[str, Any] = field(default_factory=dict)

    def pack(self) -> bytes:
        """The bytes to store."""
        return native_package.pack(_project_to_json(self), {})

    @classmethod
    def unpack(cls, body: bytes) -> Project:
        """The project that `pack` stored."""
        value, _ = native_package.unpack(body)
        return _project_from_json(value)


def read_text(source: bytes, job: Job) -> Project:
    """A project of one script, "Code", out of plain text (A5-01, the special type)."""
    return Project((ScriptFile("Code", "server_js", _normalize_newlines(decode(source, job.charset))),))


def read_json(source: bytes, job: Job) -> Project:
    """A project out of JSON: of the form of a project, or any other as the one file that it is.

    Raises:
        ConversionError: it is no JSON, or says that it is a project and is not of that form.
    """
    text = decode(source, job.charset)
    value = _parse_json(text)
    if isinstance(value, dict) and _PROJECT_KEYS & value.keys():
        return _parse_project(value)
    name = (job.name.removesuffix(".json") or "data")[:_MAX_NAME]
    job.note("the JSON is not of the form of a script project; it became the one file of a new one.")
    return Project((ScriptFile(name, "json", _normalize_newlines(text)),))


def write_json(project: Project, job: Job) -> bytes:
    """The form of a project, UTF-8, indented by two."""
    text = json.dumps(_project_to_json(project), ensure_ascii=False, indent=2)
    return text.encode("utf-8", "replace") + b"\n"


def _normalize_newlines(text: str) -> str:
    """Text with the line ends of scripts, and without a mark at its beginning."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _project_to_json(project: Project) -> dict[str, Any]:
    files = [{"name": it.name, "type": it.type, "source": it.source} | dict(it.others) for it in project.files]
    return {**project.others, "files": files}


def _project_from_json(value: Mapping[str, Any]) -> Project:
    files = tuple(_file_from_json(file) for file in value["files"])
    return Project(files, {key: field_value for key, field_value in value.items() if key != "files"})


def _file_from_json(file: Mapping[str, Any]) -> ScriptFile:
    others = {key: field_value for key, field_value in file.items() if key not in ("name", "type", "source")}
    return ScriptFile(file["name"], file["type"], file["source"], others)


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text.removeprefix("\ufeff"), parse_constant=_reject_constant, parse_float=_parse_finite)
    except json.JSONDecodeError as error:
        position = f"line {error.lineno}, column {error.colno}"
        raise ConversionError(f"the file is no valid JSON: {error.msg} at {position}.") from error
    except RecursionError as error:
        raise TooLarge("the JSON is nested too deeply.") from error
    except ValueError as error:  # a whole number of more digits than Python reads
        raise ConversionError(f"the file is no valid JSON: {error}") from error


def _reject_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number in JSON.")


def _parse_finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"{digits[:40]} is too large a number.")
    return value


def _parse_project(value: dict[str, Any]) -> Project:
    """A project whose every file is in order, or all that is wrong with it."""
    files = value.get("files")
    if not isinstance(files, list):
        raise ConversionError(f"files: expected a list, as in {_PROJECT_FORM}.")
    if len(files) > _MAX_FILES:
        raise TooLarge(f"files: a project has at most {_MAX_FILES} files.")
    problems = [problem for n, file in enumerate(files) for problem in _problems(file, f"files[{n}]")]
    names = [file.get("name") for file in files if isinstance(file, dict)]
    duplicates = sorted({name for name in names if isinstance(name, str) and names.count(name) > 1})
    problems += [f"files: the name {name!r} is there more than once" for name in duplicates]
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
