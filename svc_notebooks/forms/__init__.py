"""The forms for notebooks. The forms call functions of `notebook`, and consist of the controls in `widgets`.

file_browser: browse, search, preview, upload, download, move and change files.
upload, export_form: upload files or new content, export native documents.
event: create an event. recurrence: define the recurrence of an event, with a preview of the instances.
calendar_view: see and change the events of a month, a week or a day.
watch_panel: open notification channels and show their messages.
dashboard: show all forms as tabs, the HTTP exchanges, and the controls of a sandbox. class_dashboard: that of a class.
"""
