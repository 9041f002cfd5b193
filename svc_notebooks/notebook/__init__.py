"""The public functions that return DataFrames.

arguments, batch, times, byte_sizes: argument checks, one call for each row, conversion of times, sizes as text.
people: e-mail addresses as people write them.
current_session, frontend, doctor: the default session, detection of the front end, checks of the installation.
frames: the columns of every DataFrame. files, events, notifications, exchanges, sandbox: the public functions by topic.
html: HTML that escapes its text.
pandas and the widgets are imported inside the functions that need them, so that a script that only uploads starts fast.
"""
