// JupyterLab's shortcuts take the arrow keys and single letters from whatever has the focus, so that a list or a
// row of radio buttons in an output cannot be used by keyboard. It leaves an element alone that carries the mark.

const FORM = ".svc-form";
const MARK = "data-lm-suppress-shortcuts";

function mark(event) {
  if (event.target.closest?.(FORM)) event.target.setAttribute(MARK, "true");
}

function render() {
  document.addEventListener("focusin", mark);
  return () => document.removeEventListener("focusin", mark);
}

export default { render };
