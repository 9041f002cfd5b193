"""Reads and writes PowerPoint presentations (pptx)."""

from .read import read as read
from .write import write as write
