import io

import pytest

import svc_notebooks as svc

CONTENT = bytes(range(256)) * 4


@pytest.fixture
def files(lab):
    return svc.upload([b"old", b"old"], name=["a.bin", "b.bin"])


class Stream(io.RawIOBase):
    def readable(self):
        return True

    def readinto(self, buffer):
        raise AssertionError("nothing may be read")


def test_a_file_object_may_be_given_twice_and_a_stream_for_several_files_is_refused(files):
    stream = Stream()
    for call in (lambda: svc.update(files, stream), lambda: svc.upload([stream, stream])):
        with pytest.raises(ValueError, match="source is a stream for several files, and can be read only once"):
            call()
    assert [svc.read(file) for file in files["id"]] == [b"old", b"old"]

    source = io.BytesIO(b"head" + CONTENT)
    source.seek(4)
    files = svc.upload([source, source], name=["a.bin", "b.bin"])
    assert [svc.read(file) for file in files["id"]] == [CONTENT, CONTENT]


def chosen(name, media_type="", content=b"a,b\n"):
    """A file in the value of a FileUpload of ipywidgets 8."""
    return {"name": name, "type": media_type, "size": len(content), "content": memoryview(content)}


def test_the_value_of_a_file_upload_has_names_and_media_types(lab):
    rest = (chosen("b", "application/x-own"), chosen("c.txt"))
    for value in ((chosen("a.csv", "text/csv"), *rest), [chosen("a.csv"), *rest]):
        files = svc.upload(value)
        assert files["name"].tolist() == ["a.csv", "b", "c.txt"]
        assert files["mime_type"].tolist() == ["text/csv", "application/x-own", "text/plain"]
        assert svc.read(files["id"][0]) == b"a,b\n"
        assert svc.upload(value, name=["x.pdf", "y", "z"])["name"].tolist() == ["x.pdf", "y", "z"]


def test_a_chosen_file_is_new_content_and_starts_an_upload(files):
    file = chosen("new.csv", "text/csv")

    updated = svc.update(files, file)
    assert updated[["name", "mime_type"]].values.tolist() == [["a.bin", "text/csv"], ["b.bin", "text/csv"]]
    assert svc.start_upload(file).run()["name"].tolist() == ["new.csv"]
    assert svc.upload(file, mime_type="text/plain")["mime_type"].tolist() == ["text/plain"]
