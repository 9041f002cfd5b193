"""What examples leave open: their reader's kernel ends with it, this process goes on."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ipywidgets import Widget

from svc_notebooks.client.session import make_current
from svc_notebooks.notebook.sandbox import sandbox_numbers as kernel
from svc_notebooks.server.notifications.delivery_worker import DeliveryWorker


@contextmanager
def closing() -> Iterator[None]:
    """At the end close every form, and every sandbox with its servers and receivers, whoever made it."""
    try:
        yield
    finally:
        Widget.close_all()
        for sandbox in list(kernel._open_sandboxes):
            sandbox.close()
        end_deliveries()  # of sandboxes that were collected before they were closed
        make_current(None)


def end_deliveries() -> None:
    """End the delivery thread of every sandbox. A sandbox begins another one when it has a message."""
    if any(thread.name == "svc-delivery" for thread in threading.enumerate()):
        for worker in [value for value in gc.get_objects() if type(value) is DeliveryWorker]:
            worker.close()
