"""The SQL statements of the service, in one class for each group of tables, and the store that contains the classes.

store.py                                        the Store: all tables, transactions, clear and restore
files.py, contents.py, permissions.py           files, the parts of their contents, roles
search.py, file_pages.py                        queries as SQL, and the index for a page of files
upload_sessions.py, change_log.py               upload sessions, the change logs
calendars.py, events.py                         calendars, events and invitations
channels.py, message_queue.py, shared/          channels, queued messages, domains; state of several processes
users.py, oauth.py, deadlines.py                users, tokens, generated ids; OAuth clients and grants; expirations
dump.py, row_copy.py, user_rows.py              all tables row by row; copies of them; the rows of one user
"""

from ..database.engine import Database
from ..database.errors import SnapshotChanged
from ..database.opening import open_database
from .store import Store

__all__ = ["Database", "SnapshotChanged", "Store", "open_database"]
