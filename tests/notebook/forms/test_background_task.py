"""Requests of which only the latest matters."""

import asyncio
import threading

from svc_notebooks.forms.widgets.background_task import LatestTask


def test_a_late_result_does_not_replace_a_newer_one():
    release, shown, errors = threading.Event(), [], []

    def late():
        release.wait()
        return "late"

    async def scene():
        task = LatestTask(errors.append)
        task.begin(late, shown.append, in_thread=True)
        task.begin(lambda: "newer", shown.append, in_thread=True)
        while task.busy:
            await asyncio.sleep(0.01)
        release.set()
        await asyncio.get_running_loop().shutdown_default_executor()

    asyncio.run(scene())

    assert (shown, errors) == (["newer"], [])


def test_an_error_is_reported_in_a_thread_and_after_a_delay_and_without_a_loop_nothing_is_delayed():
    errors, shown = [], []

    async def scene():
        for options in ({"in_thread": True}, {"in_thread": False, "delay": 0.001}):
            task = LatestTask(lambda error: errors.append(type(error)))
            task.begin(lambda: 1 / 0, print, **options)
            while task.busy:
                await asyncio.sleep(0.01)

    asyncio.run(scene())
    assert errors == [ZeroDivisionError] * 2
    LatestTask(print).begin(lambda: "now", shown.append, in_thread=True, delay=60)
    assert shown == ["now"]
