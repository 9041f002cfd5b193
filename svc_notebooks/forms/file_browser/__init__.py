"""The file browser.

browser: the form and its buttons.
actions: the actions on files; files that a person drops on the list, and their upload to the open folder.
listing: the list with its search, folders, pages and order, its requests, the metadata of a file as a row and as a
table, and the lists of recent files in other forms.
downloads: the dialog before an action; downloads, their results, the question about flagged files, and previews.
"""
