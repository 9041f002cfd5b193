"""Code that a form shows, on one line: a form shows a long call with a line for each argument."""

from ast import parse, unparse


def one_line(code: str) -> str:
    return unparse(parse(code))
