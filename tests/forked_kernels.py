"""Lets the kernels of nbval be forks, as those of `svc-notebooks run`: python -m pytest -p tests.forked_kernels --nbval

They need half of the processor time of kernels that start from the beginning, which nbval uses in `make check-wheel`.
Their outputs must be the same.
"""

import pytest
from jupyter_client.manager import KernelManager

from svc_notebooks.cli.forked_kernels import forked_kernels
from svc_notebooks.cli.notebook_files import skip_address_parsers


def pytest_configure(config: pytest.Config) -> None:
    """Start the fork server."""
    skip_address_parsers()
    KernelManager.transport_encryption.default_value = "auto"  # otherwise each kernel warns on the standard error
    kernels = forked_kernels({})
    kernels.__enter__()
    config.add_cleanup(lambda: kernels.__exit__(None, None, None))
