"""The dashboard of a class, for the notebook of a teacher.

dashboard: the form, its refreshes and its actions.
views: the lists of students, steps, requests and backups, as calls and as tables.
sections: the controls for one student, for faults and for the clock.
"""
