"""Questions that a form asks before it acts.

confirmation: a question that is confirmed or cancelled.
replace_question: what to do where a path has other content: replace, keep both, or cancel.
"""
