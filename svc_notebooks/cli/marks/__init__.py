"""The marks of a class: the saved results of `svc-notebooks grade`, and the table that the command prints.

saved_marks    writes the results as JSON after each submission, and reads them for `--resume`
roster         students, points, the submission of each student, and late submissions
gradebook      the table of the class as text and as CSV, the files for Canvas, Moodle and nbgrader, the pages of the
               class and of each student, and students with the same code
"""
