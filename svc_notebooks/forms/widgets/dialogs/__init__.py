"""Dialogs that a form shows before an action.

confirmation: a question with a button that confirms and a Cancel button.
replace_question: the choice between replacing a file, keeping both files, and cancelling.
"""
