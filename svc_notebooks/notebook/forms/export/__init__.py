"""The export form.

form: the form, which previews or saves an export.
controls: the controls, and the list of native documents.
"""
