svc.resume_upload(given.session_uri, given.content).run()
