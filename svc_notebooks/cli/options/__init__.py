"""The options of the commands.

serve_options.py    the options of `serve`, with those for its operator, and of `migrate` and `sweep`
names_option.py     the option `--names`
option_types.py     the values of options
"""
