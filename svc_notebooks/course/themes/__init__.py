"""The definitions of the exercises, with a module for each theme. A theme has one notebook.

uploads, resumable, content       files: uploads, resumable uploads, downloads and search
people, messages                  permissions and scopes; notifications
events                            events and recurrence
errors                            retries and rate limits (the theme "trouble")
shared_checks                     requirements that several exercise checks share
"""
