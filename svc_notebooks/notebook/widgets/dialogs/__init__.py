"""Dialogs before an action.

confirmation: a question that is confirmed or cancelled.
replace_question: the choice between replacing a file, keeping both files, and cancelling.

confirmation: a question that is confirmed or cancelled.
replace_question: what to do where a path has other content: replace, keep both, or cancel.
"""
