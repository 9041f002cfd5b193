"""The widgets of which the forms consist, independent of any form.

form, background_task, progress_bar, dispose: the base class of every form, long work, closing a widget tree.
field, editable_rows, more_options, copy_restriction, month_table: controls with a label and a note, rows of controls.
file_picker, file_upload, upload_buffer: files from the browser or the notebook folder.
file_download, download_widget, preview: results to the browser, and previews of them.
row_list, grid, keyboard: rows to select from, and the keyboard in a form.
html, styles: escaped HTML and the style sheets (`*.css`); a `*.js` file is the browser's part of a widget.
dialogs/: questions before something is replaced or deleted.
"""
