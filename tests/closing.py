"""What examples leave open: their reader's kernel ends with it, this process goes on."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from ipywidgets import Widget

import svc_notebooks as svc
from svc_notebooks.notebook.current import make_current
from svc_notebooks.server.carrier import Carrier


@contextmanager
def closing() -> Iterator[None]:
    """At the end close every form, and every sandbox with its servers and receivers, whoever made it."""
    try:
        yield
    finally:
        Widget.close_all()
        for left in [one for one in gc.get_objects() if type(one) in (svc.Sandbox, Carrier)]:
            left.close()  # a carrier may be left of a sandbox that is gone already
        make_current(None)
