"""The times of the event form.

start_and_end: the controls for start and end, and for an optional time.
time_zone: a text field that finds time zones.
local_times: converts local times to arguments and JSON, and back.
"""
