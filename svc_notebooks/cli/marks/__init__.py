"""The marks of a class: the saved results of `svc-notebooks grade`, and the table that the command prints.

saved_marks    writes the results as JSON after each submission, and reads them for `--resume`
table          the table of the class as text and as CSV
deadlines      late submissions, and the points that they keep
options        the options of the command
roster         students, points, and the submission of each student
formats        the files for Canvas, Moodle and nbgrader, and pages in HTML
gradebook      writes the files that the options ask for
"""
