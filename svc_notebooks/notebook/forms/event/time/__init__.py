"""The times of the event form.

start_and_end: the controls of start and end, and of an optional time.
time_zone, local_times: the choice of a time zone, and local times as arguments and JSON.
"""
