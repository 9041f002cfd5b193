"""Progress bars for notebooks.

progress_bar      the bar of a form, and that of a call with a Cancel button
cancel_button     the button, which interrupts the kernel
"""
