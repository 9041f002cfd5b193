"""Reads and writes PowerPoint presentations (pptx)."""

from .read import read as read, read_ppt as read_ppt
from .write import write as write
