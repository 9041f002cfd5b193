"""The file browser.

browser, actions: the form, its buttons, and the actions on files. dialogs: the dialog before an action.
listing: the list with its search, folders, pages and order, and its requests.
details: the metadata of a file as a row and as a table, and the lists of recent files in other forms.
uploads: files that a person drops on the list, and their upload to the open folder.
downloads: downloads, their results, the question about flagged files, and previews.
"""
