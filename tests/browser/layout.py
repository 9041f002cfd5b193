"""Checks in a narrow window that every control of the forms can be seen and pressed."""

from typing import Any

from tests.browser.page_calls import call

FIND_LAYOUT_PROBLEMS = """async () => {
  const form = document.querySelector('.svc-form'), problems = [];
  document.activeElement.blur(); // a list that lies over other things is there while it has the focus
  const excess = form.scrollWidth - form.clientWidth;
  if (excess > 1) problems.push(`the form is ${excess} px too wide`);
  const scrolls = (e) => {
    for (let up = e.parentElement; up !== form.parentElement; up = up.parentElement) {
      if (/auto|scroll/.test(getComputedStyle(up).overflowX) && up.scrollWidth > up.clientWidth) return true;
    }
    return false;
  };
  const controls = form.querySelectorAll('input, select, textarea, button, summary, a[href], [role=tab]');
  for (const e of controls) {
    if (!e.checkVisibility({visibilityProperty: true}) || scrolls(e)) continue;
    e.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'});
    await new Promise((done) => requestAnimationFrame(done));
    const own = e.getBoundingClientRect(), all = form.getBoundingClientRect(), name = e.outerHTML.slice(0, 160);
    if (own.left < all.left - 2 || own.right > all.right + 2) problems.push(`outside of the form: ${name}`);
    const top = document.elementFromPoint(own.left + own.width / 2, own.top + own.height / 2);
    const itself = [e, ...(e.labels ?? [])].some((element) => element.contains(top));
    if (!itself) problems.push(`covered by ${top?.outerHTML.slice(0, 80)}: ${name}`);
    if (e.tagName === 'BUTTON' && e.scrollWidth > e.clientWidth + 2) problems.push(`words cut off: ${name}`);
  }
  return problems;
}"""


def layout_problems(page: Any) -> list[str]:
    """Controls that stand out of the form, lie under something, or have no room for their words."""
    return call(page, FIND_LAYOUT_PROBLEMS)
