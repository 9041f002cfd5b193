"""The file browser.

browser, actions: the form, and what it can do to files.
search, recent_files: the query with its controls, and the requests that list files.
details, preview: a file as a table row, its details, and a preview of its content.
dialogs, dialog_inputs: the dialog before an action, and two of its controls.
downloads, download_results, abuse_question: downloads, their results, and the question about flagged files.
"""
