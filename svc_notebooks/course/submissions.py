"""Finds the hand-ins of students in a folder, in the layouts of schools' systems, and reads their notebooks."""

import json
import os
import re
import stat
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path, PurePosixPath

from . import archives

# The names of notebooks, with the suffixes that browsers and mail programs append.
_NOTEBOOK = re.compile(r".*\.ipynb(\.txt|\.json)?", re.IGNORECASE | re.DOTALL)

# The layouts by name: a pattern for the path of a file, which begins with the name of the folder of the class.
#
# `student` is the student's name, `number` the number in Canvas or Moodle, `exercise` the assignment, `time` the time
# of the hand-in, and `file` the path of the file in the hand-in. The first layout that fits a path counts, or the first
# one that names a student of the roster.
LAYOUTS: Mapping[str, str] = {
    "Moodle": r"[^/]+/(?P<student>[^/_]+)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?/?(?P<file>.*)",
    "Canvas": r"[^/]+/(?P<student>[^/_]+)_(?P<late>LATE_)?(?P<number>\d+)_(?:\d+_|(?=text\.|link\.))(?P<file>[^/]+)",
    "Canvas, anonymous": r"[^/]+/(?P<late>LATE_)?(?P<student>anon_(?P<number>\w{5}))_\d+_(?P<file>[^/]+)",
    "nbgrader inbound": r"[^/]+/(?P<student>[^/]+)\+(?P<exercise>[^/+]+)\+(?P<time>\d{4}-[^/+]+)(?:\+[^/+]*)?/"
    r"(?P<file>.*)",
    "nbgrader": r"submitted/(?P<student>[^/]+)/(?P<exercise>[^/]+)/(?P<file>.*)",
    "GitHub Classroom": r"(?P<exercise>[^/]+)-submissions/(?P=exercise)-(?P<student>[^/]+)/(?P<file>.*)",
    "folders": r"[^/]+/(?P<student>[^/]+)/(?P<file>.*)",
    "Google Classroom": r"[^/]+/(?P<student>[^/]+?) - (?P<file>[^/]+)",
    "Google Classroom, title first": r"[^/]+/(?P<file>(?P<exercise>[^/]+) - (?P<student>[^/]+?)(?:\.[A-Za-z0-9]+)*)",
    "files": r"[^/]+/(?P<file>(?P<student>[^/]+?)(?:(?:\.ipynb|\.tar)?\.[A-Za-z0-9]+)?)",
}

_TIME = re.compile(r"(\d{4})\D(\d\d)\D(\d\d)\D(\d\d)\D(\d\d)\D(\d\d)(?:\.\d+)?\s*(Z|UTC|UCT|[+-]\d\d:?\d\d)?\s*")
_TIMESTAMP, _TIMESTAMPED = "timestamp.txt", ("nbgrader inbound", "nbgrader", "folders")
# The suffixes of files that are those of the teacher, unless the roster has a student of their name.
_TEACHERS_SUFFIXES = (".csv", ".json", ".txt", ".md", ".log", ".xlsx", ".ods")

_HIDDEN = re.compile(r"(.*/)?(\.|~\$|__MACOSX|__pycache__|thumbs\.db|desktop\.ini).*", re.IGNORECASE | re.DOTALL)
_MAX_FILES = 100
_MAX_FILES_SIZE = 4 * 1024 * 1024
_MAX_NESTING = 2
_MAX_NAMES = 10


@dataclass(frozen=True, slots=True)
class Submission:
    """The hand-in of a student: the paths of its files, by their names in the hand-in.

    `number` is the student's number in Canvas or Moodle, and `late` is True if Canvas marked the hand-in as late.
    `time` is the one in its name or in nbgrader's timestamp.txt, else that of the newest file. `feedback` is the
    beginning of the names of feedback files that Canvas and Moodle take back, "" for other layouts. `certain` is False
    for a file that is probably one of the teacher. `problems` say why files are missing, by name, and `notes` name
    earlier hand-ins.
    """

    student: str
    files: Mapping[str, Path]
    number: str = ""
    late: bool = False
    time: datetime | None = None
    layout: str = "folders"
    feedback: str = ""
    certain: bool = True
    problems: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NotebookContent:
    """A notebook's name and code cells, which are () without an exercise. `problem` says why it is unreadable."""

    name: str
    cells: tuple[str, ...]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class SubmissionContent:
    """A hand-in that was read, with the SHA-256 digest of the contents of its notebooks and other files.

    `files` has the other files by path, in base64. `notes` are sentences about all files that are no notebooks.
    """

    student: str
    notebooks: tuple[NotebookContent, ...]
    digest: str
    files: dict[str, str]
    notes: tuple[str, ...] = ()


def names_pattern(text: str) -> str:
    """Return the pattern of a layout for the option `--names`, such as "{exercise}/{student}_{time}_{file}".

    The fields are student, exercise, time, number and file, and * stands for any text without a slash. Raises
    ValueError for another field, and for a text without {student}.

    >>> re.fullmatch(names_pattern("{student}-{file}"), "class/ada-e1.ipynb")["student"]
    'ada'
    """
    fields = {"student": "[^/]+?", "exercise": "[^/]+?", "time": "[^/]+?", "number": r"\w+?", "file": ".*"}
    pattern = ""
    for part in re.split(r"(\{\w*\}|\*)", text):
        name = part[1:-1] if part.startswith("{") else ""
        if part.startswith("{") and name not in fields:
            raise ValueError(f"--names has the fields {', '.join(f'{{{each}}}' for each in fields)}, not {part}")
        known = f"(?P={name})" if f"(?P<{name}>" in pattern else f"(?P<{name}>{fields.get(name)})"
        pattern += known if name else "[^/]*" if part == "*" else re.escape(part)
    if "(?P<student>" not in pattern:
        raise ValueError(f"--names {text!r} needs the field {{student}}, such as '{{student}}_{{file}}'")
    return f"[^/]+/{pattern}"


def submissions(
    folder: Path,
    *,
    names: str | None = None,
    is_student: Callable[[str], bool] = lambda name: False,
    exclude: Iterable[Path] = (),
    archive: str = "",
    left_out: Mapping[str, str] | None = None,
) -> tuple[list[Submission], list[str]]:
    """Return the hand-ins in a folder, in the order of their paths, and the names of files that fit no layout.

    No link is followed, because it could lead to another student's files; a link is a file that cannot be read.

    Args:
        folder: The folder of the class.
        names: The pattern of `names_pattern`, which replaces `LAYOUTS`.
        is_student: Whether the roster has a student of a name or number.
        exclude: Files and folders of the teacher, which are no hand-ins.
        archive: The name of the archive that was unpacked to the folder, without its suffix.
        left_out: Why files of the archive are not in the folder, by their names.
    """
    top = _class_folder(folder, archive, is_student)
    root, inner = top.name if top != folder else archive or top.resolve().name, top.relative_to(folder).as_posix()
    own = [path.absolute() for path in exclude]
    entries = [(name, path, "") for name, path in _walk(top) if not any(map(path.is_relative_to, own))]
    entries += [(name.removeprefix(f"{inner}/"), folder / name, why) for name, why in (left_out or {}).items()]
    handed_in: dict[tuple[str, str], list[_Entry]] = {}
    unplaced = []
    for name, path, problem in sorted(entries):
        if _HIDDEN.fullmatch(name.rstrip("/")) and "/" not in name.rstrip("/"):
            continue
        layouts = {"--names": names} if names else LAYOUTS
        matches = {layout: re.fullmatch(pattern, f"{root}/{name}", re.DOTALL) for layout, pattern in layouts.items()}
        fits = [_Entry(layout, match, path, problem) for layout, match in matches.items() if match]
        known = [each for each in fits if is_student(each.part("student")) or is_student(each.part("number"))]
        for each in [*known, *fits][:1]:
            handed_in.setdefault((each.part("student"), each.part("number")), []).append(each)
        unplaced += [] if fits else [name]
    students = [student for student, _ in handed_in]
    return [
        _submission(student if students.count(student) == 1 else f"{student} ({number})", number, entries)
        for (student, number), entries in handed_in.items()
    ], unplaced


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file in the folder of the class, with its layout and the match of its path. `problem`: why it is missing."""

    layout: str
    match: re.Match[str]
    path: Path
    problem: str

    def part(self, name: str) -> str:
        return self.match.groupdict().get(name) or ""

    @property
    def name(self) -> str:
        """The path of the file in the hand-in, which is "" for an empty folder."""
        path = self.match.string
        return self.part("file").lstrip("/") or ("" if path.endswith("/") else path.rpartition("/")[2])


def _submission(student: str, number: str, entries: list[_Entry]) -> Submission:
    """Return the hand-in of a student. The newest one of each exercise counts, if their names have times."""
    newest: dict[str, datetime] = {}
    for entry in entries:
        if time := parse_time(entry.part("time")):
            newest[entry.part("exercise")] = max(newest.get(entry.part("exercise"), time), time)
    files, problems, stamps, earlier = dict[str, Path](), dict[str, str](), list[datetime](), set[datetime]()
    several = len({entry.part("exercise") for entry in entries}) > 1
    for entry in entries:
        time = parse_time(entry.part("time"))
        if time and time != newest[entry.part("exercise")]:
            earlier.add(time)
            continue
        if stamp := _timestamp(entry):
            stamps.append(stamp)
            continue
        exercise = entry.part("exercise") if several and entry.name else ""
        name = f"{exercise}/{entry.name}" if exercise else entry.name
        name = f"{len(files)}/{name}" if name in files else name
        files[name] = entry.path
        if entry.problem:
            problems[name] = entry.problem
    return Submission(
        student,
        files,
        number,
        late=any(entry.part("late") for entry in entries),
        time=max(newest.values() or stamps, default=None) or _newest(files),
        layout=entries[0].layout,
        feedback=max(map(_feedback, entries), key=len),
        certain=any(entry.layout != "files" or not _is_teachers(entry.name) for entry in entries),
        problems=problems,
        notes=tuple(f"a later hand-in counts, and not that of {time:%Y-%m-%d %H:%M} UTC" for time in sorted(earlier)),
    )


def _timestamp(entry: _Entry) -> datetime | None:
    """Return the time in a timestamp.txt of nbgrader, or None for any other file."""
    if entry.layout in _TIMESTAMPED and entry.name.rpartition("/")[2] == _TIMESTAMP:
        with suppress(archives.UnreadableFileError):
            return parse_time(_read_file(entry.path)[:99].decode(errors="replace"))
    return None


def _is_teachers(name: str) -> bool:
    return name.lower().endswith(_TEACHERS_SUFFIXES) and not _NOTEBOOK.fullmatch(name)


def _feedback(entry: _Entry) -> str:
    """Return the beginning of the names of the feedback files that Canvas and Moodle assign to the student."""
    if entry.layout == "Moodle":
        return f"{entry.part('student')}_{entry.part('number')}_assignsubmission_file_"
    prefix = entry.match.string[: entry.match.start("file")] if entry.layout.startswith("Canvas") else ""
    return prefix.rpartition("/")[2]


def parse_time(text: str) -> datetime | None:
    """Return a time of nbgrader, in a file or a name, which is in UTC without an offset. None: it is not a time.

    >>> parse_time("2026-11-30 15:58:23.948203 UTC")
    datetime.datetime(2026, 11, 30, 15, 58, 23, tzinfo=datetime.timezone.utc)
    """
    match = _TIME.match(text.strip())
    if match is None:
        return None
    offset = match[7] if (match[7] or "")[:1] in ("+", "-") else "+00:00"
    with suppress(ValueError):
        return datetime.fromisoformat("{}-{}-{}T{}:{}:{}{}".format(*match.groups()[:6], offset)).astimezone(UTC)
    return None


def _newest(files: Mapping[str, Path]) -> datetime | None:
    """Return the time of the newest notebook, or of the newest file if there is no notebook."""
    times = []
    for path in [path for name, path in files.items() if _NOTEBOOK.fullmatch(name)] or files.values():
        with suppress(OSError):
            times.append(path.lstat().st_mtime)
    return datetime.fromtimestamp(max(times)).astimezone() if times else None


def _class_folder(folder: Path, archive: str, is_student: Callable[[str], bool]) -> Path:
    """Return the folder with the hand-ins: that of nbgrader's course or exchange, or the only one in the folder.

    The only folder of an archive is that of a class, unless its name is that of a student or its files are `e1-...`.
    """
    children = [path for path in folder.iterdir() if not _HIDDEN.fullmatch(path.name)]
    for path in children:
        if path.is_symlink() or not path.is_dir():
            continue
        if path.name in ("inbound", "submitted"):
            return path
        name = path.name.lower()
        is_class = (archive or folder.resolve().name).lower().startswith(name) or name.endswith("-submissions")
        if archive and not is_student(path.name) and not re.search(r"_assignsubmission_|\+", name):
            is_class |= not any(re.fullmatch(r"e\d[\w-]*\.ipynb", each.name, re.I) for each in path.iterdir())
        if is_class and len(children) == 1:
            return _class_folder(path, "", is_student)
    return folder


def _walk(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield each file and link below a folder with its name, and, with a / at its end, each empty or hidden folder."""
    waiting = [("", folder.absolute())]
    while waiting:
        prefix, folder = waiting.pop()
        children = []
        with suppress(OSError):
            children = list(folder.iterdir())
        if prefix and not children:
            yield prefix, folder
        for path in children:
            # A name that is not UTF-8 has lone surrogates.
            name = prefix + os.fsencode(path.name).decode(errors="backslashreplace")
            if path.is_symlink() or not path.is_dir():
                yield name, path
            elif _HIDDEN.fullmatch(path.name):
                yield f"{name}/", path
            else:
                waiting.append((f"{name}/", path))


class _SubmissionReader:
    """Reads the files of a hand-in one by one: notebooks, other files for the notebooks, and sentences about them."""

    def __init__(self) -> None:
        self.notebooks: list[NotebookContent] = []
        self.files: dict[str, str] = {}
        self.ignored: list[str] = []
        self.digest = sha256()
        self._limits, self._left, self._is_full = archives.ArchiveLimits(), _MAX_FILES_SIZE, False

    def add(self, name: str, read: Callable[[], bytes], place: str, nesting: int = 0) -> None:
        """Add a file. `place` is its path beside the notebooks, and `nesting` the number of archives around it."""
        try:
            if _NOTEBOOK.fullmatch(name):
                content = read()
                self.digest.update(b"%d %s" % (len(content), content))
                self.notebooks.append(NotebookContent(name, tuple(exercise_cells(content))))
            elif name.lower().endswith(archives.SUFFIXES):
                self._add_archive(name, read(), place, nesting)
            elif name.lower().endswith(archives.CLOSED_SUFFIXES):
                self.ignored.append(f"{name}, which is an archive that is not opened; hand in a .zip")
            else:
                self._add_file(place, read())
        except archives.UnreadableFileError as error:
            self.digest.update(f"{name} {error}".encode(errors="surrogatepass"))
            if _NOTEBOOK.fullmatch(name):
                self.notebooks.append(NotebookContent(name, (), str(error)))
            else:
                self.ignored.append(f"{name}, which {error}")

    def _add_archive(self, name: str, content: bytes, place: str, nesting: int) -> None:
        if nesting == _MAX_NESTING:
            raise archives.UnreadableFileError("is in too many other archives")
        self.digest.update(content)
        before, names, folder, files = len(self.notebooks), list[str](), place.rpartition("/")[0], dict(self.files)
        for member in archives.members(BytesIO(content), self._limits):
            if not _HIDDEN.fullmatch(member.name):
                names.append(member.name)
                self.add(f"{name}/{member.name}", member.read, str(PurePosixPath(folder, member.name)), nesting + 1)
        tops = {each.partition("/")[0] if "/" in each else "" for each in names}
        if len(tops) == 1:  # the files in the only folder of an archive are beside its notebooks
            top = str(PurePosixPath(folder, *tops)) + "/"
            moved = {key: str(PurePosixPath(folder, key[len(top) :])) for key in self.files if key.startswith(top)}
            self.files = {moved.get(key, key): text for key, text in self.files.items()}
        if len(self.notebooks) == before:
            self.files = files
            inside = f": {_listed(names)}" if names else " and is empty"
            raise archives.UnreadableFileError(f"has no notebook{inside}")

    def _add_file(self, place: str, content: bytes) -> None:
        self._left -= len(content)
        self._is_full |= self._left < 0 or len(self.files) == _MAX_FILES
        if not self._is_full:
            self.files[place] = b64encode(content).decode()
            self.digest.update(f"{place} {self.files[place]}".encode(errors="surrogatepass"))

    def notes(self, hidden: Sequence[str]) -> list[str]:
        """Return sentences about everything that is no notebook."""
        notes = [f"handed in {each}" for each in self.ignored]
        if self.notebooks and self.files:
            notes.append(f"also handed in {_listed(list(self.files))}, which the notebooks can read")
        elif not self.notebooks:
            for name in self.files:
                kind = "a Python script and not" if name.lower().endswith(".py") else "not"
                notes.append(f"handed in {name}, which is {kind} a notebook")
            notes += [f"handed in {name}, which is hidden" for name in hidden]
        if self._is_full:
            limits = f"{_MAX_FILES} files and {_MAX_FILES_SIZE // 1024**2} MiB"
            notes.append(f"some files were left out, because there are more than {limits} besides the notebooks")
        return notes or ([] if self.notebooks else ["handed in an empty folder"])


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(names[:_MAX_NAMES]) + more


def read_submission(submission: Submission) -> SubmissionContent:
    """Read all files of a hand-in, and return the cells of the notebooks with a digest of all bytes."""
    reader, hidden = _SubmissionReader(), []
    for name, path in submission.files.items():
        if _HIDDEN.fullmatch(name):
            hidden.append(name)
        elif name and not name.endswith("/"):
            problem = submission.problems.get(name)
            reader.add(name, archives.refusal(problem) if problem else partial(_read_file, path), name)
    notes = (*submission.notes, *reader.notes(hidden))
    digest, notebooks = reader.digest.hexdigest(), tuple(reader.notebooks)
    return SubmissionContent(submission.student, notebooks, digest, reader.files, notes)


def _read_file(path: Path) -> bytes:
    """Return the bytes of a file. Raises UnreadableFileError for a link, and for anything else that is not a file.

    A hard link can be another student's file. It is read only if a student owns both the file and its folder.
    """
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    if path.is_symlink():
        raise archives.UnreadableFileError("is a link, which is not followed; hand in the file itself")
    try:
        with open(path, "rb", opener=lambda name, mode: os.open(name, mode | flags)) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise archives.UnreadableFileError("is not a regular file")
            is_own = hasattr(os, "getuid") and status.st_uid == path.parent.stat().st_uid != os.getuid()
            if status.st_nlink > 1 and not is_own:
                raise archives.UnreadableFileError("is a hard link, and may be another student's file; hand in a copy")
            if status.st_size > archives.MAX_FILE_SIZE:
                raise archives.UnreadableFileError(archives.TOO_LARGE)
            return file.read(archives.MAX_FILE_SIZE)
    except OSError as error:
        raise archives.UnreadableFileError(f"is not readable: {error.strerror}"[:200]) from None


def exercise_cells(file_content: bytes) -> list[str]:
    """Return the code cells of a notebook, or [] without an exercise. Raises UnreadableFileError."""
    try:
        content = json.loads(file_content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise archives.UnreadableFileError(f"is not a notebook: {error}"[:200]) from None
    if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
        raise archives.UnreadableFileError("is not a notebook: the JSON has no list of cells")
    code = [cell for cell in content["cells"] if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    sources = [cell.get("source", "") for cell in code]
    if not all(isinstance(source, str | list) for source in sources):
        raise archives.UnreadableFileError("is not a notebook: the source of a cell is not text")
    cells = ["".join(map(str, source)) for source in sources]
    return cells if any("course" in cell for cell in cells) else []
