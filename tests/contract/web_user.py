"""A person with a browser: cookies, links, forms as they stand on the page. No script runs."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.contract.conftest import Answer, Wire


@dataclass
class Form:
    """A form: where it goes, what is filled in already, and its buttons as (name, value, text)."""

    method: str
    action: str
    filled: list[tuple[str, str]] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)
    buttons: list[tuple[str, str, str]] = field(default_factory=list)


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._button: tuple[str, str] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, pairs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in pairs}
        if tag == "form":
            self.forms.append(Form(attributes.get("method", "get").upper(), attributes.get("action", "")))
        elif tag == "button" and self.forms:
            self._button = (attributes.get("name", ""), attributes.get("value", ""))
        elif tag == "input" and self.forms and "name" in attributes:
            self.forms[-1].fields.append(attributes["name"])
            ticked = attributes.get("type") not in ("checkbox", "radio") or "checked" in dict(pairs)
            if ticked and ("value" in attributes or attributes.get("type") == "checkbox"):
                self.forms[-1].filled.append((attributes["name"], attributes.get("value", "on")))

    def handle_data(self, text: str) -> None:
        if self._button:
            self.forms[-1].buttons.append((*self._button, text.strip()))
            self._button = None


class WebUser:
    """Somebody who looks at the service's pages, signed in by a token of theirs."""

    def __init__(self, wire: Wire, token: str | None = None) -> None:
        self.wire = wire
        self.cookies: dict[str, str] = {}
        if token:
            self.sign_in(token)

    def send(self, method: str, target: str, body: bytes | None = None, **headers: str) -> Answer:
        """One request of the browser; it says that it wants pages, and keeps what cookies it is given."""
        sent = {"Accept": "text/html", **{name.replace("_", "-"): value for name, value in headers.items()}}
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        answer = self.wire.send(method, target, body, sent, token=None)
        for cookie in answer.headers.all("Set-Cookie"):
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name.strip()] = value.strip()
        return answer

    def open(self, target: str) -> Answer:
        return self.send("GET", target)

    def press(self, page: Answer, text: str, /, untick: tuple[str, ...] = (), **typed: str) -> Answer:
        """Fill in the form that has this button, and press it."""
        for form in Page(page.body.decode()).forms:
            for name, value, label in form.buttons:
                if text.lower() in label.lower() and set(typed) <= set(form.fields):
                    pairs = [pair for pair in form.filled if not pair[0].endswith(untick)]
                    pairs += [*typed.items(), *([(name, value)] if name else [])]
                    return self._submit(form, pairs)
        raise AssertionError(f"there is no button {text!r} on this page: {page.body.decode()[:2000]}")

    def _submit(self, form: Form, pairs: list[tuple[str, str]]) -> Answer:
        if form.method == "POST":
            media_type = "application/x-www-form-urlencoded"
            return self.send("POST", form.action, urlencode(pairs).encode(), Content_Type=media_type)
        return self.open(f"{form.action}?{urlencode(pairs)}")

    def sign_in(self, token: str) -> None:
        """Say who they are, on the page for that."""
        answer = self.press(self.open("/signin"), "sign in", token=token)
        assert answer.status in (302, 303), answer.body

    def consent(self, target: str, untick: tuple[str, ...] = (), button: str = "allow") -> dict[str, str]:
        """Go where a client sends them, and answer; what the client hears."""
        page = self.open(target)
        answer = self.press(page, button, untick) if page.status == 200 else page
        return redirect_params(answer)


def redirect_params(answer: Answer) -> dict[str, str]:
    """What stands behind the question mark of where a browser is sent."""
    assert answer.status in (302, 303), (answer.status, answer.body[:1000])
    return dict(parse_qsl(urlsplit(answer.headers["Location"]).query, keep_blank_values=True))
