// The browser's half of handing over a result: its slices become a Blob, which is saved or, if it is a PDF, shown.
// Messages and not traits, so that a notebook that is saved does not keep the bytes.

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children); // text becomes text nodes: a file name is never read as HTML
  return made;
}

const WHOLE_PAGES = "#navpanes=0&view=FitH"; // what PDF viewers of browsers understand; others read past it

function link(facts, url) {
  return element("a", { href: url, download: facts.name, title: `Save ${facts.name} once more` }, facts.name);
}

function saved(facts, url) {
  return element("p", {}, "Handed to the browser: ", link(facts, url), ` (${facts.size_text})`);
}

function shown(facts, url) {
  const instead = element("p", {}, "This browser shows no PDFs on a page: ", link(facts, url));
  const label = `${facts.name}, as it would print`;
  const view = { data: url + WHOLE_PAGES, type: facts.mime, class: "svc-page", "aria-label": label };
  return element("object", view, instead);
}

const RESULTS = { save: saved, show: shown };

function render({ model, el }) {
  const box = element("div", { class: "svc-result" });
  el.append(box);
  let coming = null;
  let url = null;

  const clear = () => {
    if (url) URL.revokeObjectURL(url);
    url = coming = null;
    box.replaceChildren();
  };

  const finish = () => {
    const { facts, parts } = coming;
    url = URL.createObjectURL(new Blob(parts, { type: facts.mime }));
    const view = RESULTS[facts.kind](facts, url);
    box.replaceChildren(view);
    if (model.get("taken") >= facts.n) return; // another view of the same form was first
    model.set("taken", facts.n);
    model.save_changes();
    if (facts.kind === "save") view.querySelector("a").click();
  };

  const hear = (content, buffers) => {
    if (content.kind === "clear") return clear();
    if (content.kind in RESULTS) {
      clear();
      coming = { facts: content, parts: [], received: 0 };
    } else if (coming && content.n === coming.facts.n) {
      coming.parts.push(buffers[0]);
      coming.received += buffers[0].byteLength;
    }
    if (coming && coming.received === coming.facts.size) finish();
  };
  model.on("msg:custom", hear);
  return () => {
    model.off("msg:custom", hear);
    clear();
  };
}

export default { render };
