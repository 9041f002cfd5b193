"""Calls a function for each row of a list or DataFrame, in threads or on an executor.

batch.py        the result of all rows: the columns, the order, the errors
workers.py      the calls of the rows, one after another, in threads, or on an executor
resume.py       a call that continues after an interruption, with a ledger of the rows that are done
row_call.py     the call of one row, and its outcome
progress.py     when and how progress is shown: a widget in notebooks, tqdm in terminals, lines in logs
progress_bar.py the progress bar for notebooks
cancel_button.py  its button that interrupts the kernel
counts.py       the rows, bytes and failures so far, as a line of text
"""
