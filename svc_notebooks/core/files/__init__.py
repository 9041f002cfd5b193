"""The fields, search queries and permissions of files.

fields             the table of the File resource and its checks
query              the query language of `q` and `orderBy`
permissions        roles, and the checks of a permission
"""
