"""Parses, checks, converts and calculates the formulas of spreadsheets.

address: cell addresses; tokens: tokens, safety checks, shifted references.
openformula: the notation of OpenDocument; calculate: calculation of formulas, and which results are right.
"""
