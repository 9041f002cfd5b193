// JupyterLab's shortcuts take the arrow keys and single letters from whatever has the focus, so that a list or a
// row of radio buttons in an output cannot be used by keyboard. It leaves an element alone that carries the mark.
// And ipywidgets gives radio buttons no name, so that each of them is a stop of its own, and arrows do nothing.
// On any message the focus goes to the first field of the form that is marked as wrong.
// A list that lies over other things is there while it has the focus: who clicks into it is done with it.

const FORM = ".svc-form";
const MARK = "data-lm-suppress-shortcuts";
const GROUP = ".widget-radio-box";
const WRONG = ".svc-bad :is(input, select, textarea)";
const LIST = ".svc-form .svc-over select";

let groups = 0;

function name(group) {
  const buttons = [...group.querySelectorAll("input[type=radio]")];
  const given = buttons.find((button) => button.name)?.name ?? `svc-radio-${++groups}`;
  for (const button of buttons) button.name = given;
}

function mark(event) {
  const form = event.target.closest?.(FORM);
  if (!form) return;
  event.target.setAttribute(MARK, "true");
  form.querySelectorAll(GROUP).forEach(name);
}

function close(event) {
  event.target.closest?.(LIST)?.blur();
}

function render({ model, el }) {
  model.on("msg:custom", () => el.closest(FORM)?.querySelector(WRONG)?.focus());
  document.addEventListener("focusin", mark);
  document.addEventListener("click", close);
  return () => {
    document.removeEventListener("focusin", mark);
    document.removeEventListener("click", close);
  };
}

export default { render };
