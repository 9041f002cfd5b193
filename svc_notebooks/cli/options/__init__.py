"""The options of the commands.

option_types.py        the values of options
operation_options.py   the options for the operator of a service
"""
