"""The upload form.

form, queue: the form, and the uploads that run one after the other and can be cancelled.
controls, destination, conversion, options: the controls.
confirm_replacement: the question before the content of an existing file is replaced.
"""
