"""Starts an S3 server (moto) that keeps its objects in memory, for the tests of `make scale`."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ENDPOINT = "SVC_TEST_S3"
"""The environment variable with the endpoint of a server that has the bucket `tests`."""

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "tests", "AWS_SECRET_ACCESS_KEY": "hush-hush"}
"""The environment variables with which the server is used. It accepts all credentials."""

PYTHON = Path(__file__).parents[1] / "build" / "s3-env" / "bin" / "python"

_SERVER = """
import sys
import boto3
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
endpoint = "http://{}:{}".format(*server.get_host_and_port())
options = dict(region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
boto3.client("s3", endpoint_url=endpoint, **options).create_bucket(Bucket="tests")
print(endpoint, flush=True)
sys.stdin.read()
"""


class NoS3Server(Exception):
    """Raised if the server cannot be started. The message has the reason."""


@contextmanager
def running_s3() -> Iterator[str]:
    """Run a server with the bucket `tests` during a `with` block, and return its endpoint. Raises NoS3Server."""
    if not PYTHON.exists():
        raise NoS3Server("there is no environment with an S3 server: make s3-env")
    command = [str(PYTHON), "-c", _SERVER]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout
        endpoint = process.stdout.readline().strip()
        if not endpoint:
            raise NoS3Server(f"the S3 server has ended with status {process.wait()}")
        try:
            yield endpoint
        finally:
            process.kill()


@contextmanager
def s3_endpoint() -> Iterator[str]:
    """Return the endpoint of the server that `make scale` has started, or else of a new one, and set credentials."""
    previous = {name: os.environ.get(name) for name in CREDENTIALS}
    os.environ.update(CREDENTIALS)
    try:
        if endpoint := os.environ.get(ENDPOINT):
            yield endpoint
        else:
            with running_s3() as endpoint:
                yield endpoint
    finally:
        for name, value in previous.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def address_of(endpoint: str, prefix: str) -> str:
    """Return the address of a prefix in the bucket `tests`."""
    return f"s3://tests/{prefix}?endpoint={endpoint}"
