"""The dashboard of a class, for the notebook of a teacher.

dashboard: the form, its refreshes and its actions, and the controls for one student, for faults and for the clock.
"""
