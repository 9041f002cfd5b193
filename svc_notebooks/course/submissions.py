"""Finds the submissions of students in a folder, and reads the code cells of their notebooks."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from base64 import b64encode
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path

_SUFFIX = ".ipynb"
_CANVAS = re.compile(r"(?P<student>[^_]+)_(?P<late>LATE_)?(?P<number>\d+)_\d+_.+\.ipynb")
"""The names of Canvas' download: student, LATE if it was late, number of the student, number of the file, file name."""

_MOODLE = re.compile(r"(?P<student>[^_]+)_(?P<number>\d+)_assignsubmission_file_?.*")
"""The names of Moodle's download: a folder for each student, or the files side by side."""

_MAX_SIZE = 64 * 1024 * 1024
_MAX_FILES = 100
_MAX_FILES_SIZE = 4 * 1024 * 1024


class UnreadableNotebookError(Exception):
    """Raised for a file that cannot be read as a notebook. The message has the reason."""


@dataclass(frozen=True, slots=True)
class Submission:
    """The student's name, the paths of the submitted notebooks, and the student's number in Canvas or Moodle.

    `folder` is the student's own folder, None for notebooks side by side. `late` is True if Canvas marked it as late.
    `modified` is the time of the newest notebook.
    """

    student: str
    notebooks: tuple[Path, ...]
    number: str = ""
    folder: Path | None = None
    late: bool = False
    modified: datetime | None = None


@dataclass(frozen=True, slots=True)
class NotebookContent:
    """A notebook's file name and code cells, which are () without an exercise. `problem` says why it is unreadable."""

    name: str
    cells: tuple[str, ...]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class SubmissionContent:
    """A submission that was read, with the SHA-256 digest of the contents of its notebooks and other files.

    `files` has the other files in the student's folder, in base64 by path. `problem` says why some were left out.
    """

    student: str
    notebooks: tuple[NotebookContent, ...]
    digest: str
    files: dict[str, str]
    problem: str = ""


def submissions(folder: Path) -> list[Submission]:
    """Return the submissions in a folder, sorted by path.

    A submission is a direct subfolder with all of its notebooks, or a notebook directly in the folder. Its name is the
    student's name. The names of Canvas' and Moodle's downloads, which have several files of a student side by side, are
    understood. Hidden folders and notebooks are left out. A link is a notebook that cannot be read, because no link is
    followed: it could lead to another student's submission. Raises ValueError if two submissions have the same name.
    """
    notebooks: dict[tuple[str, str], list[Path]] = {}
    folders: dict[tuple[str, str], Path] = {}
    late: set[tuple[str, str]] = set()
    whole: list[str] = []
    for path in sorted(folder.iterdir()):
        is_folder = path.is_dir() and not path.is_symlink()
        if path.name.startswith(".") or not (is_folder or path.is_symlink() or path.suffix == _SUFFIX):
            continue
        name = os.fsencode(path.name).decode(errors="backslashreplace")  # a name that is not UTF-8 has lone surrogates
        match = _CANVAS.fullmatch(name) or _MOODLE.fullmatch(name)
        key = (match["student"], match["number"]) if match else (name if is_folder else Path(name).stem, "")
        whole += [] if match else [key[0]]
        if is_folder:
            folders[key] = path
        if match and match.groupdict().get("late"):
            late.add(key)
        notebooks.setdefault(key, []).extend(_notebooks(path) if is_folder else [path])
    if duplicates := sorted({name for name in whole if whole.count(name) > 1}):
        raise ValueError(f"{duplicates[0]!r} is both a folder and a notebook; rename one of them")
    names = [name for name, _ in notebooks]
    return [
        Submission(
            name if names.count(name) == 1 else f"{name} ({number})",
            tuple(paths),
            number,
            folders.get((name, number)),
            (name, number) in late,
            _newest(paths),
        )
        for (name, number), paths in notebooks.items()
    ]


def _newest(paths: list[Path]) -> datetime | None:
    times = []
    for path in paths:
        with suppress(OSError):
            times.append(path.lstat().st_mtime)
    return datetime.fromtimestamp(max(times)).astimezone() if times else None


def _notebooks(folder: Path) -> list[Path]:
    return [path for path in _files(folder) if path.suffix == _SUFFIX]


def _files(folder: Path) -> list[Path]:
    """Return the files below a folder, without hidden ones, links and files below linked folders."""
    return sorted(
        path
        for path in folder.rglob("*")
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and stat.S_ISREG(path.lstat().st_mode)
        and not any((folder / above).is_symlink() for above in path.relative_to(folder).parents if above.name)
    )


def read_submission(submission: Submission) -> SubmissionContent:
    """Read all notebooks of a submission, and return their cells with a digest of all bytes."""
    digest, notebooks = sha256(), list[NotebookContent]()
    for path in submission.notebooks:
        try:
            content = _read(path)
            digest.update(b"%d %s" % (len(content), content))
            notebooks.append(NotebookContent(path.name, tuple(_exercise_cells(content))))
        except UnreadableNotebookError as error:
            digest.update(str(error).encode(errors="surrogatepass"))
            notebooks.append(NotebookContent(path.name, (), str(error)))
    files, problem = _read_other_files(submission)
    for name, text in files.items():
        digest.update(f"{name} {text}".encode(errors="surrogatepass"))
    return SubmissionContent(submission.student, tuple(notebooks), digest.hexdigest(), files, problem)


def _read_other_files(submission: Submission) -> tuple[dict[str, str], str]:
    """Read the files of a submission that are no notebooks, such as modules and tables. Return them, and a problem."""
    files: dict[str, str] = {}
    paths = [path for path in _files(submission.folder) if path.suffix != _SUFFIX] if submission.folder else []
    left = _MAX_FILES_SIZE
    for path in paths[:_MAX_FILES]:
        with suppress(OSError):
            left -= path.lstat().st_size
            if left >= 0:
                files[path.relative_to(submission.folder or path).as_posix()] = b64encode(_read_file(path)).decode()
    if left < 0 or len(paths) > _MAX_FILES:
        limits = f"{_MAX_FILES} files and {_MAX_FILES_SIZE // 1024**2} MiB"
        return files, f"some files were left out, because the folder has more than {limits} besides the notebooks"
    return files, ""


def exercise_cells(path: Path) -> list[str]:
    """Return the code cells of a notebook, or [] without an exercise. Raises UnreadableNotebookError."""
    return _exercise_cells(_read(path))


def _read(path: Path) -> bytes:
    try:
        return _read_file(path)
    except OSError as error:
        raise UnreadableNotebookError(f"the file is not a notebook: {error.strerror}"[:200]) from None


def _read_file(path: Path) -> bytes:
    """Return the bytes of a file. Raises OSError for a link, and for anything else that is not a file.

    A hard link can be another student's file. It is read only if a student owns both the file and its folder.
    """
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    if path.is_symlink():
        raise OSError(errno.ELOOP, "it is a link, which is not followed; hand in the file itself")
    with open(path, "rb", opener=lambda name, mode: os.open(name, mode | flags)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        is_own = hasattr(os, "getuid") and status.st_uid == path.parent.stat().st_uid != os.getuid()
        if status.st_nlink > 1 and not is_own:
            raise OSError(errno.EMLINK, "it is a hard link, and may be another student's file; hand in a copy")
        if status.st_size > _MAX_SIZE:
            raise OSError(errno.EFBIG, f"it has more than {_MAX_SIZE // 1024**2} MiB")
        return file.read(_MAX_SIZE)


def _exercise_cells(file_content: bytes) -> list[str]:
    try:
        content = json.loads(file_content.decode())
    except (ValueError, RecursionError) as error:
        raise UnreadableNotebookError(f"the file is not a notebook: {error}"[:200]) from None
    if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
        raise UnreadableNotebookError("the JSON has no list of cells")
    code = [cell for cell in content["cells"] if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    sources = [cell.get("source", "") for cell in code]
    if not all(isinstance(source, str | list) for source in sources):
        raise UnreadableNotebookError("the source of a cell is not text")
    cells = ["".join(map(str, source)) for source in sources]
    return cells if any("course" in cell for cell in cells) else []
