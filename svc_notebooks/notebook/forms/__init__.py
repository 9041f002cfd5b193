"""The forms of a notebook, one folder for each; they call the functions of the package and build on `widgets`.

file_browser: browse, search, preview, download and change files.
upload, export: upload files or new content, export native documents.
event, recurrence: create an event; how it repeats, with a preview of its instances.
watch: open notification channels and see their messages.
dashboard: all forms as tabs, the list of HTTP exchanges, and the controls of a sandbox.
"""
