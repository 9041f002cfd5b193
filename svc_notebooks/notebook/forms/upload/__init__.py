"""The upload form.

form: the form, and the question before content is replaced.
controls, destination, conversion, options: its controls.
queue: runs the uploads one after the other.
"""
