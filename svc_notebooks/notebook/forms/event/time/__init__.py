"""The times of the event form.

start_and_end, optional_time: the controls of start and end, and of a time that may be left out.
time_zone, local_times: the choice of a time zone, and local times as arguments and JSON.
"""
