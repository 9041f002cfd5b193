"""Operates the forms by keyboard alone, with Tab and the arrow keys."""

from typing import Any

MAX_STOPS = 200  # stops; a form that has more is no form

IS_IN_FORM = "() => !!document.activeElement.closest('.svc-form')"

# The stop that has the focus now: where it is in the form, and how it looks.
RECORD_STOP = """() => {
  const e = document.activeElement, own = e.getBoundingClientRect();
  const form = e.closest('.svc-form');
  let outer = form;
  while (outer.parentElement.closest('.svc-form')) outer = outer.parentElement.closest('.svc-form');
  const base = outer.getBoundingClientRect();
  window.stops ??= [];
  const look = (element) => [element, element.parentElement].map((part) => {
    const s = getComputedStyle(part);
    return [s.outlineStyle, s.outlineWidth, s.outlineColor, s.boxShadow, s.borderColor, s.backgroundColor].join();
  }).join();
  if (window.stops.at(-1)?.e === e) return;
  window.stops.push({e, look, seen: look(e), top: own.top - base.top, bottom: own.bottom - base.top,
    left: own.left - base.left, right: own.right - base.left,
    beside: !!e.closest('.svc-preview'), html: e.outerHTML.slice(0, 160)});
}"""

# One stop after the other goes on to the right or down; up only into a column further right. What a recurrence comes
# to stands beside the form as its end would: who leaves it is back among the fields.
DISORDER = """() => window.stops.slice(1).map((now, n) => [window.stops[n], now]).filter(([old, now]) => {
  const up = now.bottom <= old.top + 1, down = now.top >= old.bottom - 1;
  if (old.beside && !now.beside) return false;
  return up ? now.left < old.right - 1 : !down && now.left < old.left - 1;
}).map(([old, now]) => old.html + ' comes before ' + now.html)"""

INVISIBLE_FOCUS = "() => window.stops.filter((s) => s.e.isConnected && s.look(s.e) === s.seen).map((s) => s.html)"

UNREACHED = """() => [...document.querySelectorAll('.svc-form :is(input, select, textarea, button, summary, a[href])')]
  .filter((e) => e.checkVisibility({visibilityProperty: true}) && e.tabIndex >= 0 && !e.disabled)
  .filter((e) => !window.stops.some((s) => s.e === e || (e.type === 'radio' && e.name && s.e.name === e.name)))
  .map((e) => e.outerHTML.slice(0, 160))"""


def press_keys(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def tab_to(page: Any, role: str, name: str) -> None:
    target = page.get_by_role(role, name=name, exact=True)
    for _ in range(MAX_STOPS):
        page.keyboard.press("Tab")
        if target.count() and target.first.evaluate("e => e === document.activeElement"):
            return
    raise AssertionError(f"Tab never comes to the {role} {name}")


def tab_through(page: Any) -> dict[str, list[str]]:
    """Go through the form by Tab, from before it until behind it; what is wrong with the way."""
    page.evaluate("() => { window.stops = []; }")
    for _ in range(MAX_STOPS):
        page.keyboard.press("Tab")
        if page.evaluate(IS_IN_FORM):
            page.evaluate(RECORD_STOP)
        elif page.evaluate("window.stops.length"):
            break
    assert page.evaluate("window.stops.length"), "Tab never comes into the form"
    wrong = {"disorder": DISORDER, "focus not seen": INVISIBLE_FOCUS, "never reached": UNREACHED}
    return {word: page.evaluate(script) for word, script in wrong.items()}
