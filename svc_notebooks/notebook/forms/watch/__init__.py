"""The notification panel.

panel: the panel, which opens and stops channels and shows their messages.
controls: the controls for the properties of a channel.
"""
