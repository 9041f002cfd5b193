"""The upload form.

form: the form, and the question before content is replaced.
controls, destination, conversion, options: its controls.
queue: runs the uploads one after the other.

form, queue: the form, and the uploads that run one after the other and can be cancelled.
controls, destination, conversion, options: the controls.
confirm_replacement: the question before the content of an existing file is replaced.
"""
