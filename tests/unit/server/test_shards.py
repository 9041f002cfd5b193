import re

import pytest

from svc_notebooks.core.errors.catalogue import ApiError
from svc_notebooks.server.dispatch.page_tokens import decode_page_token, decode_sync_token, encode_page_token
from svc_notebooks.server.store.ids import Ids


@pytest.mark.parametrize(
    "kind, without, with_field",
    [
        ("blob", r"1[\w-]{32}", r"2AA[\w-]{30}"),
        ("native", r"1[\w-]{43}", r"2AA[\w-]{41}"),
        ("root", r"0A[\w-]{16}Uk9PVA", r"0BAA[\w-]{14}Uk9PVA"),
        ("upload", r"AE[\w-]{64}", r"AFAA[\w-]{62}"),
    ],
)
def test_only_ids_without_a_seed_have_the_field(kind, without, with_field):
    assert re.fullmatch(without, getattr(Ids(seed=0), kind)(), re.ASCII)
    assert re.fullmatch(with_field, getattr(Ids(), kind)(), re.ASCII)
    assert len({getattr(Ids(), kind)() for _ in range(100)}) == 100


def test_tokens_of_older_versions_stay_valid_and_those_of_another_database_are_refused():
    about, secret = ("ada", "q"), "s"
    token = encode_page_token((3, "x"), about, secret)
    field, _, old = token.partition(".")

    assert field == "0"
    assert decode_page_token(token, about, 2, secret) == decode_page_token(old, about, 2, secret) == (3, "x")
    for other in (f"1.{old}", f"00.{old}", f"0.0.{old}", f"x.{old}"):
        with pytest.raises(ApiError) as wrong:
            decode_page_token(other, about, 2, secret)
        assert wrong.value.status == 400
        with pytest.raises(ApiError) as gone:
            decode_sync_token(other, about, 2, secret)
        assert gone.value.status == 410
