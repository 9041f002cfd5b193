"""The exercises themselves: one module for each notebook of them."""
