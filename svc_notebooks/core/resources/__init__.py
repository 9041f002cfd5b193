"""The TypedDict types of the interface's resources and lists of resources.

files, calendars, errors     the storage interface, calendars with events, and error and token responses

No field is required, because a `fields` mask may omit any field. tests/unit/core/test_openapi.py compares each type
with its schema in docs/openapi.json.
"""
