"""The functions that a notebook calls, which return DataFrames, and the forms.

arguments, batch, times, byte_sizes: checks of arguments, one call for each row, times and sizes in words.
current_session, frontend, doctor: the session that calls use, the front end, the state of the installation.
frames: the columns of every DataFrame. files, events, notifications, exchanges, sandbox: the public functions by topic.
widgets, forms: the parts of the forms, and the forms.
pandas and the widgets are imported inside the functions that need them, so that a script that only uploads starts fast.
"""
