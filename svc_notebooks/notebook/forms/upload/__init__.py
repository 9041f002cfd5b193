"""The upload form.

form: the form, and the question before content is replaced.
controls, destination, conversion, options: the controls of the form.
queue: runs the uploads one after the other.
"""
