"""The docs site, build/docs: README, docs/*.md, the notebooks with their outputs, and the public names (make docs).

markdown.py  Markdown as HTML: tables, anchors as GitHub has them, highlighted code, Mermaid
notebook.py  a notebook as HTML, with its outputs
api.py       the public names, from their docstrings
page.py      what every page has around it: the list of pages, and the look
links.py     every link leads somewhere, and nothing is fetched from elsewhere
mermaid.py   the program that draws diagrams, beside the pages
build.py     all of it together
"""
