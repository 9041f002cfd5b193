"""Dialogs before an action.

confirmation: a question that is confirmed or cancelled.
replace_question: the choice between replacing a file, keeping both files, and cancelling.
"""
