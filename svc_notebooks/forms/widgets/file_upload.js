// Sends files to the kernel in slices. The trait `files` has what the kernel has received.
// A slice is acknowledged when `received` has passed it; after a timeout all unacknowledged slices are sent again.

const SLICE = 1024 * 1024; // the notebook server drops messages over 10 MiB
const WINDOW = 4; // unacknowledged slices at a time
const TIMEOUT = 5000; // milliseconds until slices are sent again; doubled after each timeout in a row

const UNITS = [["GiB", 1024 ** 3], ["MiB", 1024 ** 2], ["KiB", 1024]];

function sizeText(size) {
  const unit = UNITS.find(([, factor]) => size >= factor);
  if (unit) return `${(size / unit[1]).toFixed(1).replace(/\.0$/, "")} ${unit[0]}`;
  return size === 1 ? "1 byte" : `${size} bytes`;
}

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children); // strings become text nodes, so a file name is never parsed as HTML
  return node;
}

// Sends one file at a time, in the order in which they were chosen.
class Sender {
  constructor(model) {
    this.model = model;
    this.pending = new Map(); // key -> File, not yet complete
    this.sent = 0;
    this.acknowledged = 0;
    this.timeout = TIMEOUT;
    this.timer = null;
  }

  add(file) {
    const key = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
    this.pending.set(key, file);
    const mime = file.type || "";
    this.model.send({ kind: "begin", key, name: file.name, size: file.size, mime });
  }

  drop(key) {
    const current = this.current();
    this.pending.delete(key);
    if (key === current) this.restart();
    this.model.send({ kind: "drop", key });
  }

  isPending(key) {
    return this.pending.has(key);
  }

  current() {
    return this.pending.keys().next().value;
  }

  restart() {
    this.sent = this.acknowledged = 0;
  }

  // Continue after a change of `files` by the kernel.
  onFilesChanged() {
    const entry = this.model.get("files").find((file) => file.key === this.current());
    if (!entry) return;
    if (entry.received > this.acknowledged) this.timeout = TIMEOUT;
    this.acknowledged = entry.received;
    if (entry.received === entry.size) {
      this.pending.delete(entry.key);
      this.restart();
      this.onFilesChanged();
      return;
    }
    this.sent = Math.max(this.sent, this.acknowledged);
    this.pump(entry);
  }

  async pump(entry) {
    this.startTimer();
    const file = this.pending.get(entry.key);
    const end = Math.min(this.acknowledged + WINDOW * SLICE, entry.size);
    while (this.sent < end && this.current() === entry.key) {
      const offset = this.sent;
      this.sent = Math.min(offset + SLICE, entry.size);
      try {
        const data = await file.slice(offset, this.sent).arrayBuffer();
        this.model.send({ kind: "slice", key: entry.key, offset }, undefined, [data]);
      } catch (error) {
        this.failRead(entry, error);
      }
    }
  }

  failRead(entry, error) {
    this.model.set("problem", `${entry.name} can no longer be read (${error.name}). Choose it again.`);
    this.model.save_changes();
    this.drop(entry.key);
  }

  startTimer() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.repeat(), this.timeout);
  }

  repeat() {
    if (this.current() === undefined) return;
    this.timeout *= 2;
    this.sent = this.acknowledged;
    this.onFilesChanged();
    this.startTimer();
  }
}

// One line of the list, updated in place so that its button keeps the focus.
class Row {
  constructor(entry, sender) {
    this.sender = sender;
    this.bar = element("progress", { "aria-label": `${entry.name}, from the browser to the kernel` });
    this.statusText = element("span");
    this.button = element("button", { type: "button", class: "jupyter-button", title: `Remove ${entry.name} from the list` }, "Remove");
    this.button.setAttribute("aria-label", `Remove ${entry.name}`);
    this.button.addEventListener("click", () => sender.drop(entry.key));
    const name = element("span", { class: "svc-name" }, entry.name);
    this.line = element("li", {}, name, sizeText(entry.size), this.bar, this.statusText, this.button);
  }

  show(entry) {
    const done = entry.received === entry.size;
    const arriving = !done && this.sender.isPending(entry.key);
    this.bar.hidden = !arriving;
    this.bar.max = entry.size || 1;
    this.bar.value = entry.received;
    this.statusText.textContent = done ? "ready" : arriving ? "loading" : "stopped; remove it and choose it again";
  }
}

function summary(files, none) {
  const ready = files.filter((file) => file.received === file.size).length;
  return files.length ? `${ready} of ${files.length} ready to upload` : none;
}

// A dropped folder looks like a file that cannot be read.
function droppedFolders(transfer) {
  return [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter((entry) => entry?.isDirectory).map((entry) => entry.name);
}

function render({ model, el }) {
  const sender = new Sender(model);
  const input = element("input", { type: "file", multiple: "", title: "Choose one or more files on this computer" });
  const label = element("label", { class: "jupyter-button svc-choose" }, model.get("label"), input);
  const list = element("ul");
  const status = element("p", { role: "status", "aria-live": "polite" });
  const box = element("div", { class: "svc-files", role: "group", "aria-label": "Files to upload" });
  const zone = model.get("drop_zone"); // the selector of an element around this widget that takes dropped files, too
  if (zone) label.prepend(element("i", { class: "fa fa-upload", "aria-hidden": "true" }));
  box.append(label, zone ? "" : " or drop them here", list, status);
  el.append(box);

  const addFiles = (files, problem = "") => {
    model.set("problem", model.get("refusal") || problem);
    model.save_changes();
    if (!model.get("refusal")) for (const file of files) sender.add(file);
  };
  input.addEventListener("change", () => {
    addFiles(input.files);
    input.value = ""; // the same file may be chosen again
  });

  // Files that are dropped on another widget for files, such as that of a dialog, belong to that widget.
  const target = (event) => {
    const area = event.target.closest?.(".svc-files") ?? (zone ? event.target.closest?.(zone) : null);
    return event.dataTransfer?.types.includes("Files") && area?.contains(box) ? area : null;
  };
  const handlers = {
    dragenter: (area) => area.classList.add("svc-dropping"),
    dragover: (area) => area.classList.add("svc-dropping"),
    dragleave: (area, event) => area.contains(event.relatedTarget) || area.classList.remove("svc-dropping"),
    drop: (area, event) => {
      area.classList.remove("svc-dropping");
      const folders = droppedFolders(event.dataTransfer);
      const files = [...event.dataTransfer.files].filter((file) => !folders.includes(file.name));
      addFiles(files, folders.length ? `${folders.join(", ")}: a folder cannot be dropped. Drop its files.` : "");
    },
  };
  const handleDrag = (event) => {
    const area = target(event);
    if (!area) return;
    event.preventDefault();
    event.stopPropagation();
    handlers[event.type](area, event);
  };
  for (const kind of Object.keys(handlers)) document.addEventListener(kind, handleDrag, true);

  const rows = new Map();
  const draw = () => {
    const files = model.get("files");
    for (const [key, old] of rows) {
      if (files.some((entry) => entry.key === key)) continue;
      if (old.line.contains(document.activeElement)) input.focus(); // its Remove button was clicked
      old.line.remove();
      rows.delete(key);
    }
    for (const entry of files) {
      if (!rows.has(entry.key)) {
        rows.set(entry.key, new Row(entry, sender));
        list.append(rows.get(entry.key).line);
      }
      rows.get(entry.key).show(entry);
    }
    const text = model.get("problem") || summary(files, zone ? "" : "No files selected");
    if (status.textContent !== text) status.textContent = text;
  };
  const refuse = () => {
    input.disabled = Boolean(model.get("refusal"));
    label.classList.toggle("svc-disabled", input.disabled);
  };
  const update = () => {
    sender.onFilesChanged();
    draw();
  };
  model.on("change:files", update);
  model.on("change:problem", draw);
  model.on("change:refusal", refuse);
  refuse();
  draw();
  return () => {
    clearTimeout(sender.timer);
    for (const kind of Object.keys(handlers)) document.removeEventListener(kind, handleDrag, true);
    model.off("change:files", update);
    model.off("change:problem", draw);
    model.off("change:refusal", refuse);
  };
}

export default { render };
