"""Rewrites Word documents (docx) with the elements that pandoc reads, so that no word is lost.

package.py reads parts, rewrite.py puts them together and rewrites graphics,
tables and the numbers of lists, body.py rewrites their paragraphs, runs.py the content of
paragraphs, and styles.py resolves styles.
"""
