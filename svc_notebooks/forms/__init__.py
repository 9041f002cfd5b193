"""The forms for notebooks, one folder for each form. The forms call functions of the package and use `widgets`.

file_browser: browse, search, preview, upload, download, move and change files.
upload, export: upload files or new content, export native documents.
event: create an event.
recurrence: define the recurrence of an event, with a preview of the instances.
watch: open notification channels and show their messages.
dashboard: show all forms as tabs, the HTTP exchanges, and the controls of a sandbox.
"""
