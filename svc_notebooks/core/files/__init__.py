"""The fields, search queries and permissions of files.

file_names         the forms in which names are compared, searched and sorted
fields             the table of the File resource and its checks
query              the query language of `q` and `orderBy`
permissions        roles, and the checks of a permission
"""
