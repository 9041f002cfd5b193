"""Formulas.

address: cell addresses; tokens: tokens, safety, shifted references.
openformula: the notation of OpenDocument; calculate: values of formulas.
"""
