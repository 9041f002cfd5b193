"""The export form.

form: the form, which previews or saves an export.
controls: the controls, and the list of native documents.

form: the form: preview an export or save it.
controls, document_choice: the controls, and the list of native documents.
"""
