from contextlib import suppress

import pytest

from svc_notebooks.server.store.opening import open_database


@pytest.fixture
def database():
    opened = open_database(None, "process")
    yield opened
    opened.close()


def test_called_once_after_the_outermost_commit(database):
    calls = []

    def record():
        calls.append("in a transaction" if database.driver.in_transaction else "after it")

    with database.transaction():
        with database.transaction():
            database.after_commit(record)
        database.after_commit(record)
        assert calls == []

    assert calls == ["after it"]


def test_not_called_after_a_rollback(database):
    calls = []

    with suppress(ZeroDivisionError), database.transaction():
        database.after_commit(lambda: calls.append("rolled back"))
        raise ZeroDivisionError
    with database.transaction():
        pass

    assert calls == []


def test_called_at_once_without_a_transaction(database):
    calls = []

    database.after_commit(lambda: calls.append("now"))

    assert calls == ["now"]
