svc.share(given.file_id, given.email, role="commenter")
