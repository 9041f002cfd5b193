"""What a person sees: DataFrames, forms, progress, and the sandbox that starts it all.

pandas and the widgets are imported inside the functions that need them, so that a script which only
uploads pays for neither.
"""
