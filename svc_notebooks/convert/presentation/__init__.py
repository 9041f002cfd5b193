"""Reads and writes presentations through a native model, in which slides contain shapes.

model, clean: the model and the code that readers and writers share.
pptx: PowerPoint; odp: OpenDocument; pages: writers of PDF and plain text.
"""
