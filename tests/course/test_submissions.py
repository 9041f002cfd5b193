import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from svc_notebooks.course.archives import unpack
from svc_notebooks.course.submissions import Submission, SubmissionContent, names_pattern, read_submission, submissions
from tests.course.notebooks import notebook as book

CELL = "from svc_notebooks import course"


def write(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w", method) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return file.getvalue()


def tarred(files: dict[str, bytes], kind: str = "w:gz", **types: bytes) -> bytes:
    """A tar archive. `types` are the types of other members, such as a link to /etc/passwd, by their names."""
    with io.BytesIO() as file:
        with tarfile.open(fileobj=file, mode=kind) as archive:
            for name, content in files.items():
                info = tarfile.TarInfo(name)
                info.size, info.mtime = len(content), 1_800_000_000
                archive.addfile(info, io.BytesIO(content))
            for name, type_ in types.items():
                info = tarfile.TarInfo(f"{name}.ipynb")
                info.type, info.linkname = type_, "/etc/passwd"
                archive.addfile(info)
        return file.getvalue()


def zip_link(name: str) -> bytes:
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w") as archive:
            info = zipfile.ZipInfo(name)
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(info, "/etc/passwd")
        return file.getvalue()


def only(files: dict[str, bytes], folder: Path) -> SubmissionContent:
    paths = {name: write(folder / "ada" / name, content) for name, content in files.items()}
    return read_submission(Submission("ada", paths))


LAYOUTS = {
    "folders": "class/{s}/{f}",
    "files": "class/{s}{x}",
    "Canvas": "class/{s}_{n}_900{n}_{f}",
    "Canvas, late": "class/{s}_LATE_{n}_900{n}_{f}",
    "Moodle, folders": "class/{s}_{n}_assignsubmission_file_/{f}",
    "Moodle 4.1": "class/{s}_{n}_assignsubmission_file/{f}",
    "Moodle, files": "class/{s}_{n}_assignsubmission_file_{f}",
    "nbgrader": "submitted/{s}/ps1/{f}",
    "nbgrader inbound": "inbound/{s}+ps1+2026-11-30 15:58:23.948203 UTC+a1B2/{f}",
    "GitHub Classroom": "uploads-submissions/uploads-{s}/{f}",
    "Google Classroom": "class/{s} - {f}",
    "--names": "class/group 1/2026-11-30_{s}_{f}",
}
"""The path of a file of student s with the number n, the name f and the suffix x."""

WORK = {"work/e1.ipynb": book(CELL), "work/data.csv": b"1", "__MACOSX/work/._e1.ipynb": b"x"}
ODD: dict[str, tuple[str, bytes, int, str]] = {
    "Ann": ("e1.ipynb", book(CELL), 1, ""),
    "Ben": ("E1.IPYNB", book(CELL), 1, ""),
    "Cay": ("work.zip", zipped(WORK), 1, "also handed in data.csv, which the notebooks can read"),
    "Dan": ("work.zip", zipped({"report.pdf": b"%PDF"}), 0, "handed in {f}, which has no notebook: report.pdf"),
    "Eli": ("report.pdf", b"%PDF", 0, "handed in {f}, which is not a notebook"),
    "Fay": ("e1.py", b"1", 0, "handed in {f}, which is a Python script and not a notebook"),
    "Gus": ("work.rar", b"Rar!", 0, "handed in {f}, which is an archive that is not opened; hand in a .zip"),
    "Hal": ("work.zip", b"PK broken", 0, "handed in {f}, which cannot be opened as an archive"),
    "Ida": ("work.tar.gz", tarred({"e1.ipynb": book(CELL)}), 1, ""),
    "Jan": ("e1.ipynb.txt", book(CELL), 1, ""),
    "Kim": ("photo.HEIC", b"", 0, "handed in {f}, which is not a notebook"),
    "Lea": ("work.zip", zipped({"in.zip": zipped(WORK)}), 1, "also handed in data.csv"),
}
"""What students hand in: the name and content of the file, the number of its notebooks, and a part of the note."""


def path_in(layout: str, student: str) -> str:
    name = ODD[student][0]
    _, _, suffix = name.partition(".")
    return LAYOUTS[layout].format(s=student, n=[*ODD].index(student) + 101, f=name, x=f".{suffix}")


@pytest.mark.parametrize("packed", ["folder", "zip", "tar.gz"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_odd_hand_in_of_every_layout_belongs_to_its_student(tmp_path: Path, layout: str, packed: str) -> None:
    files = {path_in(layout, student): ODD[student][1] for student in ODD}
    names = names_pattern("*/{time}_{student}_{file}") if layout == "--names" else None
    if packed == "folder":
        for name, content in files.items():
            write(tmp_path / name, content)
        handed_in, unplaced = submissions(tmp_path / next(iter(files)).partition("/")[0], names=names)
    else:
        archive = write(tmp_path / f"hand-ins.{packed}", zipped(files) if packed == "zip" else tarred(files))
        left_out = unpack(archive, tmp_path / "unpacked")
        handed_in, unplaced = submissions(tmp_path / "unpacked", names=names, archive="hand-ins", left_out=left_out)

    assert (sorted(each.student for each in handed_in), unplaced) == (sorted(ODD), [])
    for each in handed_in:
        file, _, count, note = ODD[each.student]
        content = read_submission(each)
        name = next(iter(each.files))
        assert name == (path_in(layout, each.student).partition("/")[2] if layout == "files" else file)
        assert [bool(notebook.cells) for notebook in content.notebooks] == [True] * count
        assert note.format(f=name) in "; ".join(content.notes)
        assert each.late == (layout == "Canvas, late")
        if "inbound" in layout:
            assert each.time == datetime(2026, 11, 30, 15, 58, 23, tzinfo=UTC)


@pytest.mark.parametrize(
    "content, problem",
    [
        (lambda: zipped({f"{n}.txt": b"" for n in range(1100)}), "has too many files"),
        (lambda: zipped({"e1.ipynb": book(CELL), "big": bytes(70 * 2**20)}), "big, which has more than 64 MiB"),
        (lambda: zipped({f"e{n}.ipynb": bytes(50 * 2**20) for n in range(3)}), "has too many bytes"),
        (lambda: tarred({f"e{n}.ipynb": bytes(50 * 2**20) for n in range(3)}), "has too many bytes"),
        (lambda: zipped({"a.zip": zipped({"b.zip": zipped({"e": b""})})}), "is in too many other archives"),
        (lambda: zipped({"../../e1.ipynb": book(CELL)}), "has a name that leads outside of the archive"),
        (lambda: zipped({"/etc/e1.ipynb": book(CELL)}), "has a name that leads outside of the archive"),
        (lambda: zipped({"C:\\e1.ipynb": book(CELL)}), "has a name that leads outside of the archive"),
        (lambda: zip_link("e1.ipynb"), "is a link, which is not followed"),
        (lambda: tarred({}, eve=tarfile.SYMTYPE), "is a link, which is not followed"),
        (lambda: tarred({}, eve=tarfile.LNKTYPE), "is a link, which is not followed"),
        (lambda: tarred({}, eve=tarfile.CHRTYPE), "is not a regular file"),
        (lambda: zipped({"e1.ipynb": book(CELL)}, zipfile.ZIP_LZMA), "is compressed in a way that is not supported"),
        (lambda: zipped({"e1.ipynb": book(CELL)}, zipfile.ZIP_STORED).replace(b"course", b"C0URSE"), "is damaged"),
        (lambda: zipped({}), "has no notebook and is empty"),
    ],
)  # fmt: skip
def test_an_archive_is_opened_within_limits(tmp_path: Path, content: Callable[[], bytes], problem: str) -> None:
    archive = content()
    read = only({"work.zip" if archive[:2] == b"PK" else "work.tar.gz": archive}, tmp_path)

    problems = [f"{each.name} {each.problem}" for each in read.notebooks if each.problem]
    assert problem in "; ".join([*problems, *read.notes])


def test_a_class_archive_writes_nothing_outside_and_names_what_it_leaves_out(tmp_path: Path) -> None:
    files = {"../out.ipynb": b"x", "ada/e1.ipynb": book(CELL), "bob/../../e2.ipynb": b"x"}
    content = tarred(files, eve=tarfile.SYMTYPE)
    (tmp_path / "in").mkdir()

    left_out = unpack(write(tmp_path / "class.tar.gz", content), tmp_path / "in" / "unpacked")
    handed_in, _ = submissions(tmp_path / "in" / "unpacked", archive="class", left_out=left_out)

    assert [path for path in tmp_path.rglob("*.ipynb")] == [tmp_path / "in/unpacked/ada/e1.ipynb"]
    assert {each.student: read_submission(each).notebooks[0].problem for each in handed_in} == {
        "ada": None,
        "bob": "has a name that leads outside of the archive",
        "eve": "is a link, which is not followed",
        "out": "has a name that leads outside of the archive",
    }
    assert handed_in[0].time == datetime.fromtimestamp(1_800_000_000, UTC)


class TestTimes:
    def test_the_newest_hand_in_of_nbgrader_counts_and_the_earlier_one_is_named(self, tmp_path: Path) -> None:
        for day, size in ((29, 1), (30, 2), (28, 3)):
            write(tmp_path / "inbound" / f"ada+ps1+2026-11-{day} 10:00:00 UTC" / "e1.ipynb", book(CELL) + b" " * size)
        write(tmp_path / "inbound" / "ada+ps2+2026-11-27 10:00:00 UTC" / "e2.ipynb", book(CELL))

        [ada], _ = submissions(tmp_path / "inbound")

        assert ada.time == datetime(2026, 11, 30, 10, tzinfo=UTC)
        assert [path.parent.name[:18] for path in ada.files.values()] == ["ada+ps1+2026-11-30", "ada+ps2+2026-11-27"]
        assert len(ada.notes) == 2

    @pytest.mark.parametrize(
        "text, hour",
        [("2026-11-30 15:58:23.948203 UTC", 15), ("2026-11-30 15:58:23", 15), ("2026-11-30 15:58:23 +02:00", 13)],
    )
    @pytest.mark.parametrize("place", ["submitted/ada/ps1", "class/ada", "class/ada/ps1"])
    def test_the_timestamp_of_nbgrader_is_the_time(self, tmp_path: Path, place: str, text: str, hour: int) -> None:
        write(tmp_path / place / "e1.ipynb", book(CELL))
        write(tmp_path / place / "timestamp.txt", text)

        [ada], _ = submissions(tmp_path / place.partition("/")[0])

        assert ada.time == datetime(2026, 11, 30, hour, 58, 23, tzinfo=UTC)
        assert read_submission(ada).notes == ()


def written(folder: Path, *names: str) -> Path:
    for name in names:
        write(folder / name, book(CELL))
    return folder


class TestNames:
    def test_the_files_of_the_teacher_are_no_hand_ins_and_all_of_a_student_are_one(self, tmp_path: Path) -> None:
        of_ada = ("ada.ipynb", "ada.pdf", "ada/e2.ipynb")
        written(tmp_path, *of_ada, "roster.csv", "notes.txt", "pages/ada.html", ".git/config")

        handed_in, _ = submissions(tmp_path, exclude=[tmp_path / "pages", tmp_path / "roster.csv"])

        assert [(each.student, each.certain) for each in handed_in] == [("ada", True), ("notes", False)]
        assert len(read_submission(handed_in[0]).notebooks) == 2

    def test_hidden_and_other_files_are_named_if_there_is_nothing_else(self, tmp_path: Path) -> None:
        hidden = ".ipynb_checkpoints/e1.ipynb"
        written(tmp_path, f"ada/{hidden}", f"bob/{hidden}", "bob/e1.ipynb")
        (tmp_path / "eve").mkdir()
        write(tmp_path / "ivo" / "timestamp.txt", "soon")

        notes = {each.student: read_submission(each).notes for each in submissions(tmp_path)[0]}

        assert notes == {
            "ada": ("handed in .ipynb_checkpoints/, which is hidden",),
            "bob": (),
            "eve": ("handed in an empty folder",),
            "ivo": ("handed in timestamp.txt, which is not a notebook",),
        }

    @pytest.mark.parametrize(
        "names, is_student, students",
        [
            (["Uploads - Ada.ipynb", "Uploads - Bob.ipynb"], {"Ada", "Bob"}.__contains__, ["Ada", "Bob"]),
            ([f"smitheve_{n}_9001_e1.ipynb" for n in (201, 202)], None, ["smitheve (201)", "smitheve (202)"]),
        ],
        ids=["the roster says on which side Google has the student", "two of one name have their numbers"],
    )
    def test_students_are_told_apart(self, tmp_path: Path, names, is_student, students) -> None:
        handed_in, _ = submissions(written(tmp_path, *names), **({"is_student": is_student} if is_student else {}))

        assert [each.student for each in handed_in] == students

    @pytest.mark.parametrize("pattern", ["{file}", "{student}_{who}", "x"])
    def test_a_pattern_without_a_student_is_refused(self, pattern: str) -> None:
        with pytest.raises(ValueError, match="--names"):
            names_pattern(pattern)

    def test_files_that_fit_no_pattern_are_named(self, tmp_path: Path) -> None:
        pattern = names_pattern("{student}_{file}")

        assert submissions(written(tmp_path, "other.ipynb"), names=pattern) == ([], ["other.ipynb"])

    def test_names_that_are_not_utf_8_are_read_with_escapes(self, tmp_path: Path) -> None:
        folder = tmp_path / os.fsdecode(b"mia\xff")
        write(folder / os.fsdecode(b"data\xfe.txt"), "1")
        write(folder / "e1.ipynb", book(CELL))

        [mia], _ = submissions(tmp_path)

        assert mia.student == "mia\\xff"
        assert read_submission(mia).notes == ("also handed in data\\xfe.txt, which the notebooks can read",)


@pytest.mark.parametrize(
    "text, cells",
    [
        *((text, None) for text in ("", "[]", '{"worksheets": []}', "[" * 100_000, "\x00")),
        ('{"cells": [{"cell_type": "code", "source": 5}]}', None),
        ('{"cells": [null]}', ()),
        ('{"cells": [{"cell_type": "code"}]}', ()),
        ('{"cells": [{"cell_type": "code", "source": ["course", 1]}]}', ("course1",)),
    ],
    ids=["empty", "list", "old", "deep", "null", "number", "no cell", "no source", "list of sources"],
)
def test_an_unusual_notebook_is_read_or_has_a_problem(tmp_path: Path, text: str, cells: tuple[str, ...] | None) -> None:
    (notebook,) = only({"e1.ipynb": text.encode()}, tmp_path).notebooks

    assert (notebook.problem or "").startswith("is not a notebook") == (cells is None)
    assert notebook.cells == (cells or ())


LINKS: dict[str, Callable[[Path, Path, Path], object]] = {
    "to a notebook": lambda path, ada, outside: path.symlink_to(ada / "e1.ipynb"),
    "to a folder": lambda path, ada, outside: path.symlink_to(ada),
    "to a folder outside": lambda path, ada, outside: path.symlink_to(outside),
    "to a file outside": lambda path, ada, outside: path.symlink_to(outside / "e1.ipynb"),
    "to a relative path": lambda path, ada, outside: path.symlink_to(os.path.relpath(ada / "e1.ipynb", path.parent)),
    "to a device": lambda path, ada, outside: path.symlink_to("/dev/zero"),
    "to nothing": lambda path, ada, outside: path.symlink_to(ada / "missing.ipynb"),
    "to itself": lambda path, ada, outside: path.symlink_to(path.name),
    "to the folder above": lambda path, ada, outside: path.symlink_to(".."),
    "a hard link": lambda path, ada, outside: path.hardlink_to(ada / "e1.ipynb"),
    "a FIFO": lambda path, ada, outside: os.mkfifo(path),
}


@pytest.mark.parametrize("kind", LINKS)
@pytest.mark.parametrize("place", ["eve.ipynb", "eve", "eve/e1.ipynb", "eve/sub", "eve/helper.txt", "eve/sub/data.csv"])
def test_no_link_is_followed_anywhere(tmp_path: Path, place: str, kind: str):
    """The file of another student, or of the teacher, is neither run nor read."""
    folder, outside = tmp_path / "class", tmp_path / "secret"
    write(folder / "ada" / "e1.ipynb", book("ada_wrote_this"))
    (folder / "ada" / "data.csv").write_text("ada_wrote_this")
    write(outside / "e1.ipynb", book("secret_of_the_teacher"))
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "a hard link" and path.name in ("eve", "sub"):
        pytest.skip("a folder has no hard link")
    LINKS[kind](path, folder / "ada", outside)

    read = [read_submission(each) for each in submissions(folder)[0] if each.student == "eve"]

    for submission in read:
        assert [each for each in submission.notebooks if each.cells] == []
        assert submission.files == {}
        assert all("secret" not in (each.problem or "") for each in submission.notebooks)
    if place == "eve.ipynb":
        assert [each.problem is not None for each in read[0].notebooks] == [True]


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root makes files of others")
def test_a_student_whose_file_somebody_has_linked_is_graded(tmp_path: Path):
    original = write(tmp_path / "ada" / "e1.ipynb", book("1"))
    (tmp_path / "eve").mkdir()
    (tmp_path / "eve" / "e1.ipynb").hardlink_to(original)
    for path, user in ((tmp_path / "ada", 1001), (original, 1001), (tmp_path / "eve", 1002)):
        os.chown(path, user, user)

    ada, eve = (read_submission(each).notebooks[0] for each in submissions(tmp_path)[0])

    assert ada.problem is None
    assert eve.problem is not None


@pytest.mark.parametrize(
    "names, students",
    [
        (["7b/ada.ipynb", "7b/bob.pdf"], ["ada", "bob"]),
        (["7b/ada/e1.ipynb", "7b/bob/e1.ipynb"], ["ada", "bob"]),
        (["ada/e1-uploads.ipynb", "ada/e2-resumable.ipynb"], ["ada"]),
        (["Ada_71_assignsubmission_file/e1.ipynb"], ["Ada"]),
        (["7b/submitted/ada/ps1/e1.ipynb", "7b/source/ps1/e1.ipynb"], ["ada"]),
    ],
)
def test_the_only_folder_of_an_archive_is_the_class_or_a_student(tmp_path, names, students):
    handed_in, _ = submissions(written(tmp_path, *names), archive="hand-ins")

    assert [each.student for each in handed_in] == students
