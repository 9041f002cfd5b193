"""The parts of killed processes in a folder and in a bucket: `svc-notebooks sweep` deletes them, and nothing else."""

import time

import pytest

from svc_notebooks.server.service import open_service
from svc_notebooks.server.store.migration import sweep
from tests.contract.wire import InProcess
from tests.scale.conftest import Place
from tests.scale.test_bucket import bucket_of, names, written

pytestmark = pytest.mark.scale


def test_parts_that_no_row_names_are_swept(each_place: Place) -> None:
    with each_place.opened() as service:
        wire = InProcess(service, "http://svc.test")
        file = wire.create(b"kept")
        stray = written(service._context.content.parts, b"stray").key
        with pytest.raises(OSError, match="in use by another service"):
            sweep(each_place.address, str(each_place.content), min_age=0, now=time.time(), delete=True)
    now = time.time() + 7200

    def swept(*, min_age: float, delete: bool) -> tuple[list[str], set[str], int]:
        done = sweep(each_place.address, str(each_place.content), min_age=min_age, now=now, delete=delete)
        return [part.key for part in done.old], done.deleted, done.younger

    assert swept(min_age=86_400, delete=True) == ([], set(), 1)
    assert swept(min_age=3600, delete=False) == ([stray], set(), 0)
    assert swept(min_age=3600, delete=True) == ([stray], {stray}, 0)
    assert swept(min_age=0, delete=True) == ([], set(), 0)
    with each_place.opened() as service:
        again = InProcess(service, "http://svc.test")
        again.token = wire.token
        assert again.send("GET", f"/storage/v3/files/{file['id']}?alt=media").body == b"kept"


def test_objects_of_others_are_not_swept(address: str, bucket: str) -> None:
    open_service(address, content=bucket).close()
    store = bucket_of(bucket)
    for name in ("parts/notes.txt", f"parts/ab/{'0' * 32}", "0" * 32):
        store.create(name, b"mine")
    before = names(bucket)

    sweep(address, bucket, min_age=0, now=time.time() + 60, delete=True)
    assert names(bucket) == before
