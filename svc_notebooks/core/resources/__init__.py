"""The TypedDict types of the interface's resources and lists of resources.

files, events, calendars     the resources of the interface
errors                       error and token responses
field                        what is true of a field beside its type

No field is required, because a `fields` mask may omit any field. tests/unit/core/test_openapi.py compares each type
with its schema in docs/openapi.json.
"""
