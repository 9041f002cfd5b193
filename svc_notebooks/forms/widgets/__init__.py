"""The widgets that the forms consist of. No widget depends on a particular form.

form, background_task: the base class of every form, long tasks, closing widget trees.
ui: labelled controls, fields, rows of controls, style sheets (`*.css`).
file_picker, preview: files from and to the browser, and previews.
grid: a list of selectable rows. dialogs: questions to a person before data is replaced or deleted.
A `*.js` file is the browser code of a widget.
"""
