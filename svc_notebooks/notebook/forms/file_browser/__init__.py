"""The file browser.

browser, actions: the form, and the actions on files.
search, recent_files: the search controls and the query, and the requests that list files.
details, preview: the metadata of a file as a row and as a table, and a preview of the content.
dialogs, dialog_inputs: the dialog before an action, and two controls of the dialog.
downloads, download_results, abuse_question: downloads, their results, and the question about flagged files.
"""
