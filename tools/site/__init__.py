"""The docs site in build/docs, with README, docs/*.md, the notebooks and the public names (make docs).

markdown.py  Markdown as HTML, with tables, anchors like GitHub's, highlighted code and Mermaid
notebook.py  a notebook as HTML, with its outputs
api.py       the public names, from their docstrings
page.py      the frame of every page, with the list of pages and the style
links.py     the check that every link has a target, and that nothing is fetched from elsewhere
mermaid.py   the script that draws diagrams
build.py     the site
"""
