"""The marks of a class: the saved results of `svc-notebooks grade`, and the table that the command prints.

roster         students, points, the submission of each student, and late submissions
gradebook      the table of the class as text and as CSV, the files for Canvas, Moodle and nbgrader, the pages of the
               class and of each student, students with the same code, and the results as JSON, which are written after
               each submission and read for `--resume`
"""
