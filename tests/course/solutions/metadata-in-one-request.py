svc.upload(
    given.content,
    name=given.name,
    upload_type="multipart",
    metadata={"description": given.description, "starred": True},
)
