"""What the service remembers, in a database: the one room that knows SQLAlchemy.

schema.py     the tables
database.py   a connection, short transactions, statements compiled once
people.py     users, tokens, generated ids
oauth.py      OAuth clients, service accounts and what was granted
files.py      files and their tree
contents.py   which parts a content is made of
sessions.py   upload sessions
permissions.py who has which role
channels.py   who watches what
outbox.py     messages that wait to be delivered
changes.py    each user's change log
calendars.py  calendars and who sees them
events.py     events and invitations
ends.py       what ends or is sent by itself, and when
meaning.py    what values mean beyond their types
whole.py      all tables, row by row
trusted.py    domains and authorities that deliveries trust
search.py     queries and orders as SQL
words.py      texts as they are compared
"""

from ..database.engine import Database, open_database
from .store import Store

__all__ = ["Database", "Store", "open_database"]
