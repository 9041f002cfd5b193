"""The upload form.

form: the form, and the question before content is replaced, and the queue of uploads.
controls: the controls of the form.
"""
