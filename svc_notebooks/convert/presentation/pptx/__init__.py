"""Slides of PowerPoint 2007 and later."""

from .read import read as read
from .write import write as write
