"""The file browser.

browser, actions: the form, its buttons, and the actions on files.
listing, search: the list with its folders, pages, filters and order, and its requests.
recent_files: the lists of recent files in other forms.
details, preview: the metadata of a file as a row and as a table, and a preview of the content.
dialogs: the dialog before an action.
uploads: files that a person drops on the list, and their upload to the open folder.
downloads: downloads, their results, and the question about flagged files.
"""
