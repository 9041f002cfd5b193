// Receives the slices of a file and joins them to a Blob, which is saved or, if it is a PDF, shown.
// The slices are messages and not traits, so that a saved notebook does not contain the bytes.

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children); // strings become text nodes, so a file name is never parsed as HTML
  return node;
}

const PDF_VIEW = "#navpanes=0&view=FitH"; // parameters of the PDF viewers of browsers; others ignore them

function link(facts, url) {
  return element("a", { href: url, download: facts.name, title: `Save ${facts.name} again` }, facts.name);
}

function downloadView(facts, url) {
  return element("p", {}, "Sent to the browser: ", link(facts, url), ` (${facts.size_text})`);
}

function pdfView(facts, url) {
  const fallback = element("p", {}, "This browser cannot show PDFs on a page: ", link(facts, url));
  const label = `Print preview of ${facts.name}`;
  const view = { data: url + PDF_VIEW, type: facts.mime, class: "svc-page", "aria-label": label };
  return element("object", view, fallback);
}

const VIEWS = { save: downloadView, show: pdfView };

function render({ model, el }) {
  const box = element("div", { class: "svc-result" });
  el.append(box);
  let incoming = null;
  let url = null;

  const clear = () => {
    if (url) URL.revokeObjectURL(url);
    url = incoming = null;
    box.replaceChildren();
  };

  const finish = () => {
    const { facts, parts } = incoming;
    url = URL.createObjectURL(new Blob(parts, { type: facts.mime }));
    const view = VIEWS[facts.kind](facts, url);
    box.replaceChildren(view);
    if (model.get("taken") >= facts.n) return; // another view of the same form has it already
    model.set("taken", facts.n);
    model.save_changes();
    if (facts.kind === "save") view.querySelector("a").click();
  };

  const handleMessage = (content, buffers) => {
    if (content.kind === "clear") return clear();
    if (content.kind in VIEWS) {
      clear();
      incoming = { facts: content, parts: [], received: 0 };
    } else if (incoming && content.n === incoming.facts.n) {
      incoming.parts.push(buffers[0]);
      incoming.received += buffers[0].byteLength;
    }
    if (incoming && incoming.received === incoming.facts.size) finish();
  };
  model.on("msg:custom", handleMessage);
  return () => {
    model.off("msg:custom", handleMessage);
    clear();
  };
}

export default { render };
