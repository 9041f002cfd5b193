"""The fields of the panel of HTTP exchanges that select the listed exchanges by method, status and path."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ...exchanges.exchange_filter import ExchangeFilter
from ...widgets.field import describe, on_change, text_field
from .exchange_editor import METHODS

if TYPE_CHECKING:
    from ....client.transport.recorder import Exchange

_STATUSES = ("2xx", "3xx", "308", "4xx", "404", "5xx", "-")


class ExchangeFilterFields(widgets.HBox):  # type: ignore[misc]
    """The fields `method`, `status` and `path`. `changed` is called when a person changes one of them.

    >>> fields = ExchangeFilterFields(lambda: None)
    >>> fields.status.value = "4xx, 308"; fields.code()
    "svc.exchanges(status=['4xx', '308'])"
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self.method = widgets.Dropdown(
            options=[("All", ""), *((method, method) for method in METHODS)],
            **describe("Method", "List only exchanges with this method"),
        )
        self.status = widgets.Combobox(
            options=_STATUSES,
            placeholder="404, 4xx, - for no response",
            continuous_update=False,
            **describe("Status", "List only exchanges with one of these statuses"),
        )
        self.path = text_field("Path", "List only exchanges whose path or query contains this text", style={})
        self.path.continuous_update = True
        super().__init__([self.method, self.status, self.path])
        self.add_class("svc-filters")
        on_change(changed, self.method, self.status, self.path)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `exchanges` for the fields that are not empty."""
        statuses = self.status.value.replace(",", " ").split()
        arguments = {
            "method": self.method.value,
            "status": statuses[0] if len(statuses) == 1 else statuses,
            "path": self.path.value.strip(),
        }
        return {name: value for name, value in arguments.items() if value}

    def select(self, recorded: Iterable[Exchange]) -> list[Exchange]:
        """Return the exchanges that match the fields. Raises ValueError for an invalid status."""
        conditions = ExchangeFilter.read(**{"method": None, "status": None, "path": None} | self.arguments())
        return [exchange for exchange in recorded if conditions.matches(exchange)]

    def code(self) -> str:
        """Return the call that lists the selected exchanges."""
        return f"svc.exchanges({', '.join(f'{name}={value!r}' for name, value in self.arguments().items())})"

    def clear(self) -> None:
        """Empty all fields."""
        for field in (self.method, self.status, self.path):
            field.value = ""

    def __repr__(self) -> str:
        return f"<ExchangeFilterFields: {self.arguments() or 'all exchanges'}>"
