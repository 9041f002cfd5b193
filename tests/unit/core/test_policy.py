import pytest

from svc_notebooks import Policy


@pytest.mark.parametrize(
    "wrong",
    [
        {"part_size": 0},
        {"chunk_quantum": 1.5},
        {"page_size": True},
        {"chunk_rule": "loose"},
        {"durability": "fsync"},
        {"session_lifetime": -1.0},
        {"takeover_after": float("nan")},
        {"trust_forwarded": "yes"},
        {"update_verbs": ("POST",)},
        {"first_user": ""},
        {"channel_lifetime": 0},
        {"channel_lifetime": "1h"},
        {"channel_types": ()},
        {"channel_types": ("web_hook", "pigeon")},
        {"verified_domains": "example.com"},
        {"change_state": "update"},
        {"retry_jitter": 0.26},
        {"delivery_attempts": 0},
        {"host_names": "files.example"},
        {"host_names": ("files.example:80",)},
        {"host_names": ("http://files.example",)},
        {"allowed_origins": "*"},
        {"allowed_origins": ("https://app.example/",)},
        {"allowed_origins": ("https://App.example",)},
        {"allowed_origins": ("https://app.example:443",)},
        {"allowed_origins": ("null",)},
        {"fault_header": "nobody"},
        {"import_formats": "list"},
        {"event_scopes": "all"},
    ],
)
def test_an_invalid_value_is_refused_by_its_name(wrong):
    (field,) = wrong
    with pytest.raises(ValueError, match=rf"^{field} is .*; it must be "):
        Policy(**wrong)
