"""Rewrites Word documents (docx) with the elements that pandoc reads, so that no word is lost.

package.py reads parts, rewrite.py puts them together, body.py rewrites their paragraphs, runs.py the content of
paragraphs, tables.py and graphics.py what their names say, and styles.py resolves styles.
"""
