"""The widgets that the forms consist of. No widget depends on a particular form.

form, background_task: the base class of every form, long tasks, closing widget trees.
field, month_table: labelled controls, rows of controls, month tables.
file_picker, file_upload, upload_buffer: selection of files from the browser or the notebook folder.
file_download, download_widget, preview: sending results to the browser, and previewing results.
row_list, grid: lists of selectable rows. form_scripts: keyboard handling, and the message of a form without a kernel.
styles: style sheets (`*.css`). A `*.js` file is the browser code of a widget.
dialogs/: questions to a person before data is replaced or deleted.
"""
