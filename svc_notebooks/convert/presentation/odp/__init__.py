"""Reads and writes OpenDocument presentations (odp)."""

from .read import read as read
from .write import write as write
