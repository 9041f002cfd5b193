"""Native drawings: one page of SVG that runs nothing and fetches nothing."""

from .model import Drawing as Drawing
from .read import read as read
from .write import jpeg as jpeg, pdf as pdf, png as png, svg as svg
