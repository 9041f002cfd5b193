"""Reads, cleans and writes native drawings. A drawing is one page of SVG without scripts or external references."""

from .model import Drawing as Drawing, jpeg as jpeg, pdf as pdf, png as png, svg as svg
from .read import read as read
