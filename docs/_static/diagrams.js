// Draws the Mermaid diagrams of a page with the mermaid.min.js beside this file, in the theme's light or dark colours.
// Without that file (the build had no npm) a diagram stays text.
const folder = document.currentScript.src.replace(/[^/]*$/, "")

document.addEventListener("DOMContentLoaded", () => {
  const diagrams = [...document.querySelectorAll(".highlight-mermaid")].map((element) => [element, element.querySelector("pre").textContent])
  if (diagrams.length === 0) return

  const draw = async () => {
    const dark = document.documentElement.dataset.theme === "dark"
    const themeVariables = dark ? { edgeLabelBackground: "#303030" } : {} // Mermaid's own has too little contrast
    mermaid.initialize({ startOnLoad: false, securityLevel: "strict", theme: dark ? "dark" : "default", themeVariables })
    for (const [index, [element, text]] of diagrams.entries()) {
      const { svg } = await mermaid.render(`diagram-${index}`, text)
      element.innerHTML = `<div class="diagram" tabindex="0" role="img" aria-label="Diagram">${svg}</div>`
    }
  }
  const script = document.createElement("script")
  script.src = `${folder}mermaid.min.js`
  script.onload = () => {
    draw()
    new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ["data-theme"] })
  }
  document.head.append(script)
})
