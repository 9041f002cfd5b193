// JupyterLab's shortcuts take the arrow keys and single letters, so that a list or radio buttons in an output cannot be
// used by keyboard. JupyterLab ignores keys in elements with the attribute that is set here.
// And ipywidgets gives radio buttons no name, so that each of them is a stop of its own, and arrows do nothing.
// Any message moves the focus to the first field of the form with a problem.
// Escape in a dialog clicks its Cancel button.
// Browsers stop at each part of a date or time, and at its calendar button. In a form, Tab goes to the next control; arrow
// keys go to the next part, and Alt+Down opens the calendar.
// A menu closes on Escape and when the focus or a click goes elsewhere. Arrow keys go through it.
// A message that appears when a field loses the focus may move the button under the mouse during a click. The click
// still belongs to that button, unless the mouse moves away.

const FORM = ".svc-form";
const MARK = "data-lm-suppress-shortcuts";
const GROUP = ".widget-radio-box";
const WRONG = ".svc-bad :is(input, select, textarea)";
const QUESTION = ".svc-form .svc-question";
const OUTER_FORM = ".svc-form:not(.svc-form .svc-form)";
const DATE_OR_TIME = ".svc-form :is(input[type=date], input[type=time])";
const STOP = "input, select, textarea, button, summary, a[href], [tabindex]";

const MENU = ".svc-form .svc-menu";

const MOVE_THRESHOLD = 10; // pixels that the mouse may move during a click

let groups = 0;
let pressed = null;

function nameGroup(group) {
  const buttons = [...group.querySelectorAll("input[type=radio]")];
  const groupName = buttons.find((button) => button.name)?.name ?? `svc-radio-${++groups}`;
  for (const button of buttons) button.name = groupName;
}

function markElement(event) {
  const form = event.target.closest?.(FORM);
  if (!form) return;
  event.target.setAttribute(MARK, "true");
  form.querySelectorAll(GROUP).forEach(nameGroup);
  form.querySelectorAll(".svc-menu").forEach((menu) => setExpanded(menu, menu.classList.contains("svc-open")));
}

function handleFocus(event) {
  markElement(event);
  closeMenus(event);
}

function handlePointer(event) {
  closeMenus(event);
  startPress(event);
}

function isStop(element, form) {
  if (element.tabIndex < 0 || element.disabled || !element.checkVisibility({ visibilityProperty: true })) return false;
  const group = element.type === "radio" && element.name && form.querySelector(`input[name="${element.name}"]:checked`);
  return !group || group === element;
}

function leaveDate(event) {
  if (event.key !== "Tab" || event.ctrlKey || event.altKey || event.metaKey || !event.target.matches?.(DATE_OR_TIME)) return;
  const form = event.target.closest(OUTER_FORM);
  const stops = [...form.querySelectorAll(STOP)].filter((element) => isStop(element, form));
  const next = stops[stops.indexOf(event.target) + (event.shiftKey ? -1 : 1)];
  if (!next) return; // the browser leaves the form
  event.preventDefault();
  next.focus();
  if (next.matches("input")) next.select(); // as the browser does
}

function handleKey(event) {
  pressCancel(event);
  moveInMenu(event);
  leaveDate(event);
}

function pressCancel(event) {
  const button = event.key === "Escape" && event.target.closest?.(QUESTION)?.querySelector("button.svc-cancel");
  if (!button) return;
  event.preventDefault();
  event.stopPropagation();
  button.click();
}

// A click on the button of the menu, its first child, lets the kernel close it. The page does not wait for the kernel.
function closeMenu(menu) {
  menu.firstElementChild.click();
  menu.classList.remove("svc-open");
}

function closeMenus(event) {
  for (const menu of document.querySelectorAll(`${MENU}.svc-open`)) {
    if (!menu.contains(event.target)) closeMenu(menu);
  }
}

function setExpanded(menu, expanded) {
  menu.firstElementChild.setAttribute("aria-expanded", String(expanded));
}

// Each click in a menu opens or closes it.
function clickInMenu(event) {
  const menu = event.target.closest?.(MENU);
  if (menu) setExpanded(menu, !menu.classList.contains("svc-open"));
}

function moveInMenu(event) {
  const menu = event.target.closest?.(`${MENU}.svc-open`);
  if (!menu) return;
  const items = [...menu.querySelectorAll("button:not(:disabled)")];
  const n = items.indexOf(event.target);
  const keys = {
    ArrowDown: () => items[Math.min(n + 1, items.length - 1)].focus(),
    ArrowUp: () => items[Math.max(n - 1, 0)].focus(),
    Escape: () => {
      items[0].focus();
      closeMenu(menu);
    },
  };
  if (!keys[event.key]) return;
  event.preventDefault();
  event.stopPropagation();
  keys[event.key]();
}

function startPress(event) {
  const button = event.button === 0 && event.target.closest?.(`${FORM} button`);
  if (!button) return;
  button.setPointerCapture(event.pointerId);
  pressed = { button, id: event.pointerId, x: event.clientX, y: event.clientY };
}

function cancelPress(event) {
  if (!pressed || Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) < MOVE_THRESHOLD) return;
  if (pressed.button.hasPointerCapture(pressed.id)) pressed.button.releasePointerCapture(pressed.id);
  pressed = null;
}

const HANDLERS = {
  focusin: handleFocus,
  keydown: handleKey,
  click: clickInMenu,
  pointerdown: handlePointer,
  pointermove: cancelPress,
};
const isCaptured = (name) => name === "keydown"; // the text areas of ipywidgets let no key bubble

function render({ model, el }) {
  const stopWatching = watchKernel({ model, el }); // kernel_status.js, in the same module
  model.on("msg:custom", () => el.closest(FORM)?.querySelector(WRONG)?.focus());
  for (const [name, handler] of Object.entries(HANDLERS)) document.addEventListener(name, handler, isCaptured(name));
  return () => {
    stopWatching();
    for (const [name, handler] of Object.entries(HANDLERS)) document.removeEventListener(name, handler, isCaptured(name));
  };
}

export default { render };
