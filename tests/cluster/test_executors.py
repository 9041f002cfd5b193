import re
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import svc_notebooks as svc

pytestmark = pytest.mark.cluster

PAGE = Path(__file__).parents[2] / "docs" / "bulk.md"
INTRODUCTION, *SECTIONS = re.split("^### ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
RECIPES = {section.partition("\n")[0]: section for section in SECTIONS if "```python" in section}

NAMES = [f"{n}.csv" for n in range(5)]
CHANGING = ["id", "created_time", "modified_time", "web_view_link", "seconds"]


@pytest.fixture(scope="module")
def service() -> Iterator[svc.Session]:
    """A session of a sandbox behind a socket. Its token is sent to the workers."""
    with svc.sandbox() as lab, lab.serve() as server, svc.connect(server.base_url, lab.service.sign_in()) as session:
        yield session


@contextmanager
def python_processes() -> Iterator[Any]:
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        yield pool


@contextmanager
def loky() -> Iterator[Any]:
    from loky import ProcessPoolExecutor

    with ProcessPoolExecutor(2) as pool:
        yield pool


@contextmanager
def dask_cluster(*, processes: bool) -> Iterator[Any]:
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=2, processes=processes, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client.get_executor()


@contextmanager
def ipyparallel() -> Iterator[Any]:
    from ipyparallel import Cluster

    with Cluster(n=2) as engines:
        yield engines.load_balanced_view().executor


EXECUTORS: dict[str, Callable[[], Any]] = {
    "processes": python_processes,
    "loky": loky,
    "dask threads": lambda: dask_cluster(processes=False),
    "dask processes": lambda: dask_cluster(processes=True),
    "ipyparallel": ipyparallel,
}


@pytest.fixture(scope="module", params=EXECUTORS)
def executor(request: pytest.FixtureRequest, service: svc.Session) -> Iterator[Any]:
    with EXECUTORS[request.param]() as started:
        yield started


@pytest.fixture
def stored(service: svc.Session) -> pd.DataFrame:
    """Five files, the fourth of which is deleted."""
    files = svc.upload([name.encode() for name in NAMES], name=NAMES, session=service)
    svc.delete(files.iloc[3], session=service)
    return files


def same_but_for_the_run(frame: pd.DataFrame, files: pd.DataFrame) -> pd.DataFrame:
    """Return a frame without the columns that differ in each call, and without the ids in error messages."""
    steady = frame.drop(columns=CHANGING, errors="ignore")
    for n, file_id in enumerate(files["id"]):
        steady["error"] = steady["error"].str.replace(file_id, f"<id {n}>", regex=False)
    return steady


@pytest.mark.parametrize(
    "call",
    [
        lambda files, **ways: svc.update(files, starred=True, **ways),
        lambda files, **ways: svc.copy(files, **ways),
        lambda files, **ways: svc.share(files, "anyone", **ways),
        lambda files, **ways: svc.trash(files, **ways),
    ],
    ids=["update", "copy", "share", "trash"],
)
def test_a_call_returns_the_same_frame_as_with_threads(service, stored, executor, call) -> None:
    with pytest.warns(UserWarning, match="1 of 5 rows failed"):
        in_threads = call(stored, workers=2, session=service)
    with pytest.warns(UserWarning, match="1 of 5 rows failed"):
        on_executor = call(stored, executor=executor, session=service)

    assert on_executor["outcome"].tolist() == ["done", "done", "done", "failed", "done"]
    assert_frame_equal(same_but_for_the_run(on_executor, stored), same_but_for_the_run(in_threads, stored))


def test_paths_are_uploaded_as_with_threads(service, executor, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # the folder of the workers is another one
    for name in NAMES:
        Path(name).write_text(name)

    in_threads = svc.upload(NAMES, workers=2, session=service)
    on_executor = svc.upload(NAMES, executor=executor, session=service)

    assert [svc.read(file, session=service).decode() for file in on_executor["id"]] == NAMES
    assert_frame_equal(same_but_for_the_run(on_executor, in_threads), same_but_for_the_run(in_threads, in_threads))


@pytest.mark.parametrize("export", [False, True], ids=["download", "export"])
def test_files_are_saved_as_with_threads(service, executor, tmp_path, monkeypatch, export: bool) -> None:
    monkeypatch.chdir(tmp_path)  # the folder of the workers is another one
    convert_to = "spreadsheet" if export else None
    stored = svc.upload([name.encode() for name in NAMES], name=NAMES, convert_to=convert_to, session=service)
    svc.delete(stored.iloc[3], session=service)

    def save(to: str, **ways: Any) -> pd.DataFrame:
        call = partial(svc.export, format="csv") if export else svc.download
        with pytest.warns(UserWarning, match="1 of 5 rows failed"):
            return call(stored, to=to, session=service, **ways)

    in_threads = save(f"{tmp_path}/threads", workers=2)
    on_executor = save("executor", executor=executor)

    on_executor["path"] = on_executor["path"].str.replace(f"{tmp_path}/executor", f"{tmp_path}/threads")
    assert_frame_equal(same_but_for_the_run(on_executor, stored), same_but_for_the_run(in_threads, stored))
    contents = [Path("executor", name).read_bytes() for name in NAMES if name != NAMES[3]]
    assert contents == [Path("threads", name).read_bytes() for name in NAMES if name != NAMES[3]]


def test_events_are_created_as_with_threads(service, executor) -> None:
    starts = pd.date_range("2026-11-02 08:00", periods=5, freq="D", tz="UTC")
    rows = pd.DataFrame({"summary": NAMES, "start": starts, "end": starts + pd.Timedelta(hours=1)})
    rows.loc[3, "end"] = starts[0]  # before its start

    frames = []
    for ways in ({"workers": 2}, {"executor": executor}):
        with pytest.warns(UserWarning, match="1 of 5 rows failed"):
            frames.append(svc.create_events(rows, session=service, **ways))

    in_threads, on_executor = frames
    assert on_executor["outcome"].tolist() == ["done", "done", "done", "failed", "done"]
    columns = ["summary", "start", "end", "outcome", "error", "attempts"]
    assert_frame_equal(on_executor[columns], in_threads[columns])


def test_a_repeated_call_with_resume_sends_only_what_failed(service, executor, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in NAMES:
        Path(name).write_text(name)
    prefix = str(id(executor))
    names = [f"{prefix}-{name}" for name in NAMES]

    first = svc.upload(NAMES[:3], name=names[:3], resume="survey", executor=executor, session=service)
    both = svc.upload(NAMES, name=names, resume="survey", executor=executor, session=service)

    assert both["outcome"].tolist() == ["skipped"] * 3 + ["done"] * 2
    assert both["id"].tolist()[:3] == first["id"].tolist()
    assert len(svc.files(f"name contains '{prefix}'", session=service)) == 5


def test_an_error_for_all_rows_ends_the_call(service, stored, executor) -> None:
    with svc.connect(service.base_url, "wrong") as session, pytest.raises(svc.NotSignedIn):
        svc.trash(stored, executor=executor, session=session)

    assert not svc.file(stored.iloc[0], session=service)["trashed"].item()


@contextmanager
def configured_cluster() -> Iterator[None]:
    """A cluster of Dask whose address is in Dask's configuration."""
    import dask
    from dask.distributed import LocalCluster

    with (
        LocalCluster(n_workers=2, dashboard_address=None) as cluster,
        dask.config.set(scheduler_address=cluster.scheduler_address),
    ):
        yield


@pytest.mark.parametrize("title", RECIPES)
def test_each_recipe_of_the_page_runs(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", INTRODUCTION + RECIPES[title], re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"__name__": "__main__"}  # functions of cells are pickled by value
    with svc.sandbox() as lab, lab.serve() as server:
        monkeypatch.setenv("SVC_BASE_URL", server.base_url)
        monkeypatch.setenv("SVC_TOKEN", lab.service.sign_in())
        svc.upload([b"1\n" * n for n in range(len(NAMES))], name=NAMES)
        with configured_cluster() if title == "Dask on a cluster" else nullcontext():
            for block in blocks:
                exec(compile(block, PAGE.name, "exec"), names)

    result = names["result"]
    assert result["outcome"].tolist() == ["done"] * len(NAMES)
    assert result["id"].tolist() == names["files"]["id"].tolist()
    assert result["starred"].all()
    if "lines" in names:
        assert sorted(names["lines"]) == list(range(len(NAMES)))
