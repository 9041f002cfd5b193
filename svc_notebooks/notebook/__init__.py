"""The functions that a notebook calls, and the forms: everything that gives a DataFrame or a widget.

arguments, batch, times, byte_sizes: checking arguments, one call for each row, times and sizes as people write them.
current_session, frontend, doctor: the session that calls use, the front end, the state of the installation.
frames: the columns of every DataFrame. files, events, notifications, exchanges, sandbox: the public functions by topic.
widgets, forms: the parts of the forms, and the forms.
pandas and the widgets are imported inside the functions that need them: a script that only uploads pays for neither.
"""
