"""Progress bars for notebooks.

progress_bar      the bar of a form
batch_bar         the bar of a call, with a Cancel button
cancel_button     the button, which interrupts the kernel
"""
