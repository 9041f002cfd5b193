// Gives a form the class `svc-no-kernel` while its kernel cannot answer; the style sheet then shows the message of the form.
// A form cannot be used again after its kernel has restarted or ended. A lost connection can be restored.
// The widget manager of JupyterLab has the kernel. It marks widgets as disconnected only after a restart by a person.

const DISCONNECTED = ".jupyter-widgets-disconnected";
const ENDED = ["restarting", "autorestarting", "terminating", "dead"];

function watchKernel({ model, el }) {
  const kernel = model.widget_manager?.kernel; // other front ends may have none
  let ended = false;
  let connected = true;

  const update = () => {
    ended ||= el.closest(DISCONNECTED) !== null;
    el.closest(FORM)?.classList.toggle("svc-no-kernel", ended || !connected);
  };
  const onEnd = () => {
    ended = true;
    update();
  };
  const onStatus = (_kernel, status) => {
    if (ENDED.includes(status)) onEnd();
  };
  const onConnection = (_kernel, status) => {
    connected = status === "connected";
    update();
  };
  const showMessage = (event) => {
    const form = el.closest(`${FORM}.svc-no-kernel`);
    if (form?.contains(event.target) && event.target.closest("button")) {
      form.querySelector(".svc-kernel").scrollIntoView({ block: "nearest" });
    }
  };

  kernel?.statusChanged.connect(onStatus);
  kernel?.connectionStatusChanged.connect(onConnection);
  kernel?.disposed.connect(onEnd);
  model.on("comm_live_update", update);
  document.addEventListener("click", showMessage);
  requestAnimationFrame(update); // a form of a saved notebook has no kernel from the beginning
  return () => {
    kernel?.statusChanged.disconnect(onStatus);
    kernel?.connectionStatusChanged.disconnect(onConnection);
    kernel?.disposed.disconnect(onEnd);
    model.off("comm_live_update", update);
    document.removeEventListener("click", showMessage);
  };
}
