"""Tests uploads of one file object to several files."""

import io

import pytest

import svc_notebooks as svc

CONTENT = bytes(range(256)) * 4


@pytest.fixture
def files(lab):
    return svc.upload([b"old", b"old"], name=["a.bin", "b.bin"])


class Stream(io.RawIOBase):
    """A file object without seek."""

    def readable(self):
        return True

    def readinto(self, buffer):
        raise AssertionError("nothing may be read")


def test_several_files_get_the_whole_content_of_one_file_object(files):
    svc.update(files, io.BytesIO(CONTENT))

    assert [svc.read(file) for file in files["id"]] == [CONTENT, CONTENT]


def test_a_file_object_that_is_given_twice_is_uploaded_whole_twice(lab):
    source = io.BytesIO(b"head" + CONTENT)
    source.seek(4)

    files = svc.upload([source, source], name=["a.bin", "b.bin"])

    assert [svc.read(file) for file in files["id"]] == [CONTENT, CONTENT]


def test_a_stream_for_several_files_is_refused(files):
    stream = Stream()

    with pytest.raises(ValueError, match="source is a stream for several files, and can be read only once"):
        svc.update(files, stream)
    with pytest.raises(ValueError, match="source is a stream for several files, and can be read only once"):
        svc.upload([stream, stream])

    assert [svc.read(file) for file in files["id"]] == [b"old", b"old"]
