"""Reads and writes presentations through a native model, in which slides contain shapes.

model, paragraphs, image_store, clean: the model and the code that readers and writers share.
pptx, ppt: PowerPoint; odp: OpenDocument.
pdf, text: writers of PDF and plain text.
"""
