"""The forms of a notebook, one folder for each. They call the functions of the package and use `widgets`.

file_browser: browse, search, preview, download and change files.
upload, export: upload files or new content, export native documents.
event, recurrence: create an event; its recurrence, with a preview of the instances.
watch: open notification channels and show their messages.
dashboard: all forms as tabs, the list of HTTP exchanges, and the controls of a sandbox.
"""
