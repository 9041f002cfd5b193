"""Starts the kernels of `svc-notebooks run` from a fork server, which has imported what most notebooks import.

A kernel that starts from the beginning needs more than a second of processor time for its imports, and a fork of this
server a few milliseconds. The standard library has the fork server, and jupyter_client the interface for other ways to
start a kernel. Systems other than Linux start kernels as usual.
"""

import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from typing import Any

from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from ..course.submission_process import start_fork_server
from ..course.supervisor import PRELOADED_MODULES

# The modules that most kernels import. A kernel starts with these modules loaded.
KERNEL_MODULES = (
    "ipykernel.ipkernel", "ipykernel.kernelapp", "ipykernel.zmqshell", "ipywidgets", "matplotlib_inline.backend_inline",
    "svc_notebooks.notebook.sandbox.sandbox", "svc_notebooks.server.service", *PRELOADED_MODULES,
)  # fmt: skip

_NAME = "svc-notebooks-fork"
_LAUNCHER = "ipykernel_launcher"


@contextmanager
def forked_kernels(environment: Mapping[str, str]) -> Iterator[None]:
    """Start kernels of this Python as forks during a `with` block. `environment` are variables of the fork server."""
    if sys.platform != "linux":
        yield
        return
    factory = KernelProvisionerFactory.instance()
    value = f"{ForkedProvisioner.__module__}:{ForkedProvisioner.__qualname__}"
    factory.provisioners[_NAME] = EntryPoint(_NAME, value, KernelProvisionerFactory.GROUP_NAME)
    default, factory.default_provisioner_name = factory.default_provisioner_name, _NAME
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        start_fork_server(KERNEL_MODULES)
    finally:
        os.environ.clear()
        os.environ.update(before)
    try:
        yield
    finally:
        factory.default_provisioner_name = default


class ForkedProvisioner(LocalProvisioner):
    """Starts a kernel as a fork, if it is a kernel of this Python, else as a process."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        if cmd[0] != sys.executable or _LAUNCHER not in cmd:
            return await super().launch_kernel(cmd, **kwargs)
        arguments = cmd[cmd.index(_LAUNCHER) + 1 :]
        process: Any = _ForkedKernel(arguments, kwargs["env"], kwargs.get("cwd"))
        self.process, self.pid, self.pgid = process, process.pid, process.pid
        return self.connection_info


class _ForkedKernel:
    """The process of a kernel, with the attributes of subprocess.Popen that LocalProvisioner uses."""

    stdin = stdout = stderr = None

    def __init__(self, arguments: list[str], environment: Mapping[str, str], folder: str | None) -> None:
        context = get_context("forkserver")
        self._process: BaseProcess = context.Process(target=_run_kernel, args=(arguments, dict(environment), folder))
        self._process.start()
        self.pid, self.kill, self.terminate = self._process.pid, self._process.kill, self._process.terminate

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.pid is not None and self.poll() is None:
            os.kill(self.pid, number)


def _run_kernel(arguments: list[str], environment: Mapping[str, str], folder: str | None) -> None:
    """Become a kernel with a process group, variables and a working folder of its own."""
    from ipykernel.kernelapp import launch_new_instance

    from ..notebook.frontend import use_columns_of_kernel

    os.setsid()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    if folder:
        os.chdir(folder)
    use_columns_of_kernel()
    sys.argv = [_LAUNCHER, *arguments]
    # The variable JPY_PARENT_PID is too late, because ipykernel has read it. A kernel ends after its parent.
    launch_new_instance(argv=[*arguments, f"--IPKernelApp.parent_handle={os.getppid()}"])
