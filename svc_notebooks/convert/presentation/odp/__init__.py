"""Slides as OpenDocument has them."""

from .read import read as read
from .write import write as write
