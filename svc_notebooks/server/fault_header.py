"""A fault that a request asks for in a header of its own: for this request alone."""

from __future__ import annotations

from ..core.catalogue import refuse
from ..core.faults import Action
from ..core.wire import Request
from .house import House


def asked_for(request: Request, house: House, *, signed_in: bool) -> list[Action]:
    """The faults that this request asks for. Raises ApiError (400) for what is none.

    Without a valid access token the header is ignored, unless the policy lets anyone ask. A thread is held no longer
    than by a body that does not come: longer delays are for plans.
    """
    name, allowed = house.names.header("Fault"), house.policy.fault_header
    if not allowed or (allowed != "anyone" and not signed_in):
        return []
    try:
        found = [Action.short(text) for text in request.headers.all(name)]
    except ValueError as error:
        raise refuse("invalidHeader", name=name, message=f"{error}.") from None
    if any(action.kind == "delay" and action.number > house.policy.body_timeout for action in found):
        message = f"a request may wait {house.policy.body_timeout:g} seconds at most."
        raise refuse("invalidHeader", name=name, message=message)
    return found
