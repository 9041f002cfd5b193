"""Reads and writes native presentations, which are slides of shapes.

model, paragraphs, image_store, clean: the model and what readers and writers share.
pptx, ppt: PowerPoint; odp: OpenDocument.
pdf, text: writers of PDF and plain text.
"""
