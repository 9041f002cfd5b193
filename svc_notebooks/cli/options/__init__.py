"""The options of the commands.

serve_options.py, operation_options.py   the options of `serve`; those for the operator of a service
option_types.py                          the values of options
"""
