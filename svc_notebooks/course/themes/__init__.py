"""The definitions of the exercises, with a module for each theme. A theme has one notebook.

uploads, resumable, content       files: uploads, resumable uploads, downloads and search
people                            permissions and scopes
messages                          notifications
change_log                        the change log (the theme "messages")
events                            events and recurrence; two programs that change one event (the theme "events")
errors                            retries and rate limits (the theme "trouble")
capstone                          a program that uses six rules of the other themes
"""
