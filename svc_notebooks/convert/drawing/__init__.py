"""Reads, cleans and writes native drawings. A drawing is one page of SVG without scripts or external references."""
