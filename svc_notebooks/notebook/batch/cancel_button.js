// A button that interrupts the kernel. While a cell runs, the kernel gets no messages from widgets, but it can be interrupted.
// The widget manager of JupyterLab and Jupyter Notebook has the kernel. Other front ends show the text of the model.

function render({ model, el }) {
  const kernel = model.widget_manager?.kernel;
  if (typeof kernel?.interrupt !== "function") {
    el.textContent = model.get("text");
    return;
  }
  const button = document.createElement("button");
  button.className = "jupyter-button widget-button lm-Widget jupyter-widgets";
  button.type = "button";
  button.textContent = "Cancel";
  button.title = "Interrupt the kernel";
  button.addEventListener("click", async () => {
    button.disabled = true;
    button.textContent = "Stopping …";
    try {
      await kernel.interrupt();
    } catch (error) {
      button.disabled = false;
      button.textContent = "Cancel";
      el.append(` The kernel was not interrupted: ${error.message}`);
    }
  });
  el.append(button);
}

export default { render };
