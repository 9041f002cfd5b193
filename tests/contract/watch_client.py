"""Words of the tests of push notifications."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.contract.conftest import Answer, Wire
from tests.receivers import Receiver, receiver

FOLDER = "application/vnd.svc-apps.folder"


class Watch:
    """Somebody who watches: a wire, and a receiver that its service knows."""

    def __init__(self, wire: Wire, receiver: Receiver) -> None:
        self.wire = wire
        self.receiver = receiver
        self._count = 0

    def request(self, **fields: Any) -> dict[str, Any]:
        """A watch request's body; None leaves a field out."""
        self._count += 1
        fields = {"id": f"channel-{self._count}", **fields}
        if isinstance(fields["id"], str) and 0 < len(fields["id"]) < 30:
            fields["id"] = self.wire.prefix + fields["id"]
        body = {"type": "web_hook", "address": self.receiver.address, **fields}
        return {name: value for name, value in body.items() if value is not None}

    def file(self, file_id: str, query: str = "", **fields: Any) -> Answer:
        return self.wire.post_json(f"/storage/v3/files/{file_id}/watch{query}", self.request(**fields))

    def changes(self, query: str = "", **fields: Any) -> Answer:
        return self.wire.post_json(f"/storage/v3/changes/watch{query}", self.request(**fields))

    def stop(self, channel: dict[str, Any], **options: Any) -> Answer:
        body = {"id": channel["id"], "resourceId": channel["resourceId"]}
        return self.wire.post_json("/storage/v3/channels/stop", body, **options)

    def patch(self, file_id: str, body: dict[str, Any], query: str = "", **options: Any) -> None:
        answer = self.wire.json_request("PATCH", f"/storage/v3/files/{file_id}{query}", body, **options)
        assert answer.status == 200, answer.body

    def folder(self, **metadata: Any) -> str:
        return self.made({"mimeType": FOLDER, **metadata})

    def made(self, metadata: dict[str, Any]) -> str:
        answer = self.wire.post_json("/storage/v3/files", metadata)
        assert answer.status == 200, answer.body
        return answer.json["id"]

    def messages(self) -> list[tuple[str | None, str | None, str | None]]:
        """What has come until now: channel, state, changed."""
        self.wire.service.deliver()
        return [
            (self.own_channel_id(notification.channel_id), notification.resource_state, notification.changed)
            for notification in self.receiver.requests
        ]

    def own_channel_id(self, channel_id: str | None) -> str | None:
        return channel_id and channel_id.removeprefix(self.wire.prefix)

    def new_messages(self) -> list[tuple[str | None, str | None, str | None]]:
        """What has come since it was asked last."""
        messages = self.messages()
        self.receiver.requests.clear()
        return messages

    def deliveries(self, *keys: str) -> list[Any]:
        rows = [row for row in self.wire.service.deliveries() if row["channel_id"].startswith(self.wire.prefix)]
        return [tuple(row[key] for key in keys) if len(keys) > 1 else row[keys[0]] for row in rows]


@contextmanager
def open_watch(wire: Wire, **options: Any) -> Iterator[Watch]:
    """A receiver on the standard library whose domain is registered and whose authority is trusted."""
    with receiver(**options) as webhook:
        yield Watch(wire, wire.register_receiver(webhook))
