import pickle
import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import pytest

import svc_notebooks as svc
from svc_notebooks.core.errors.errors import NotFound, ServiceFailed, warn_caller
from svc_notebooks.notebook.batch.batch import Batch, RowOperation, run
from svc_notebooks.notebook.frames import schema

COUNTS = schema("id text, n count")


def number(session, row, report):
    """Return the record of a row. Negative numbers fail, and zero is an error that concerns all rows."""
    if row == 0:
        raise ServiceFailed("The service failed.", status=503)
    if row < 0:
        raise NotFound(f"No file {row}.", status=404)
    return {"id": str(row), "n": row}


class PicklingExecutor(Executor):
    """Calls a function at once, with copies of the function, of its arguments and of its result."""

    def submit(self, function, /, *args):
        function, args = pickle.loads(pickle.dumps((function, args)))
        future = Future()
        future.set_result(pickle.loads(pickle.dumps(function(*args))))
        return future


@pytest.fixture
def served(lab):
    with lab.serve() as server, svc.connect(server.base_url, lab.service.sign_in(), verify=server.ca) as session:
        yield session


def test_an_error_of_all_rows_stops_the_batch(lab):
    called = []

    def call(session, row, report):
        called.append(row)
        return number(session, row, report)

    with pytest.raises(ServiceFailed) as caught:
        run(RowOperation(COUNTS, call), [1, 2, 0, *range(3, 1000)], lab.session, Batch(workers=2))

    assert {"1", "2"} >= set(caught.value.result["id"].tolist()[:2])
    assert len(called) < 100
    assert any("of 1000 succeeded" in note for note in caught.value.__notes__)


def test_an_interrupt_stops_the_transfers_in_threads(lab):
    begun, interrupted = threading.Event(), threading.Event()

    def call(session, row, report):
        if row == 1:
            begun.wait(10)
            raise KeyboardInterrupt
        begun.set()
        while not interrupted.is_set():  # a transfer that reports its progress until the report stops it
            try:
                report(1, 2)
            except BaseException:
                interrupted.set()
                raise
        return {"id": "x", "n": 1}

    with pytest.raises(KeyboardInterrupt) as caught:
        run(RowOperation(COUNTS, call), [1, 2], lab.session, Batch(workers=2))

    assert interrupted.is_set()
    assert caught.value.result.empty


def test_threads_and_executors_return_the_same_frame(served, lab):
    files = svc.upload([b"1", b"2", b"3"], name=["a", "b", "c"], session=lab)
    svc.delete(files.iloc[1], session=lab)
    expected = [["a", "done", True], ["failed"], ["c", "done", True]]

    with ThreadPoolExecutor(2) as pool:
        for ways in ({"workers": 2}, {"executor": pool}, {"executor": PicklingExecutor()}):
            with pytest.warns(UserWarning, match="1 of 3 rows failed"):
                trashed = svc.trash(files, session=served, **ways)
            shown = [[row["name"], row["outcome"], row["trashed"]] for _, row in trashed.iterrows()]
            assert [row if row[1] == "done" else ["failed"] for row in shown] == expected
            assert trashed["id"].tolist() == files["id"].tolist()


def warn(session, row, report):
    warn_caller(f"row {row} is unusual")
    return number(session, row, report)


@pytest.mark.parametrize(
    "ways", [{"workers": 1}, {"workers": 2}, {"executor": PicklingExecutor()}], ids=["one", "threads", "process"]
)
def test_the_warnings_of_rows_are_shown_at_the_line_of_the_user(served, ways):
    with pytest.warns(UserWarning, match="row") as shown:
        run(RowOperation(COUNTS, warn, label=lambda n, row: f"row {n}"), [1, -2], served, Batch(**ways))

    own, failed = [str(warning.message) for warning in shown[:2]], str(shown[-1].message)
    assert sorted(own) == ["row -2 is unusual", "row 1 is unusual"]
    assert failed.startswith("1 of 2 rows failed")
    assert {warning.filename for warning in shown} == {__file__}


def test_a_repeated_request_is_counted_in_attempts_and_a_sandbox_stays_in_its_process(lab):
    files = svc.upload([b"1", b"2"], name=["a", "b"])
    with pytest.raises(TypeError, match="a sandbox cannot be pickled or moved to another process: use threads"):
        svc.trash(files, executor=PicklingExecutor())
    lab.session.fault("status=503")
    assert svc.trash(files)["attempts"].tolist() == [2, 1]


@pytest.mark.parametrize(
    "arguments, kind, words",
    [
        ({"workers": 0}, ValueError, "workers is 0; it must be between 1 and 64"),
        ({"workers": "4"}, TypeError, "workers must be a whole number"),
        ({"executor": 4}, TypeError, "executor must have a method submit"),
        ({"workers": 2, "executor": PicklingExecutor()}, ValueError, "workers and executor are both given"),
        ({"errors": "ignore"}, ValueError, "errors is 'ignore'; it must be one of raise, return"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_sent(lab, arguments, kind, words):
    files = svc.upload([b"1", b"2"], name=["a", "b"])

    with pytest.raises(kind, match=words):
        svc.delete(files, **arguments)

    assert len(svc.files()) == 2
