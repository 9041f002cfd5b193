// Shows in the page which file cannot be loaded. Cells can show this only when Python runs. The build writes this script
// into the page, so that it runs even if all other files are missing.
{
  const LIMIT = 12  // seconds until a script counts as missing
  const KERNEL = "/pyodide-kernel-extension/"
  const problems = new Map()  // the worker or the script: what to show
  const alert = document.createElement("div")
  const text = document.createElement("span")
  const close = document.createElement("button")

  const show = (source, problem) => {
    problems.set(source, problem)
    const all = [...new Set(problems.values())].filter(Boolean).join(" ")
    if (all === text.textContent) return
    text.textContent = all
    if (all) document.body.append(alert)
    else alert.remove()
  }

  // Show a script that is not loaded in time, and return functions for when it is loaded or fails.
  const watch = (source, url, effect = "") => {
    const { href } = new URL(url, location)
    const end = href.lastIndexOf("/") + 1
    const [file, folder] = [href.slice(end).replace(/\?.*/, ""), href.slice(0, end)]
    const fail = (reason) => {
      show(source, `${effect}${file} cannot be loaded from ${folder}: ${reason} the page to try again.`)
    }
    const timer = setTimeout(fail, LIMIT * 1000, `it has not been loaded in ${LIMIT} seconds. Wait, or reload`)
    const finish = (action) => (...values) => { clearTimeout(timer); action(...values) }
    return {
      loaded: finish((problem = "") => show(source, problem)),
      failed: finish(() => fail("the host cannot be reached or answers with an error. Reload")),
    }
  }

  self.Worker = class extends Worker {
    constructor(url, options) {
      super(url, options)
      if (!String(url).includes(KERNEL)) return
      const { loaded, failed } = watch(this, url, "Python cannot start. ")
      this.terminate = () => { loaded(); super.terminate() }
      this.addEventListener("message", ({ data }) => data?.cannotLoad !== undefined && loaded(data.cannotLoad))
      this.addEventListener("error", ({ message }) => message || failed())  // an error of its code has a message
    }
  }

  new MutationObserver((changes) => {
    for (const script of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (script.localName !== "script" || !script.src) continue
      const { loaded, failed } = watch(script, script.src)
      script.addEventListener("load", () => loaded())
      script.addEventListener("error", failed)
    }
  }).observe(document.head, { childList: true })

  alert.setAttribute("role", "alert")
  alert.style = "position: fixed; inset: auto 0 0; z-index: 10000; padding: 8px 12px; display: flex; gap: 12px; "
    + "align-items: start; justify-content: space-between; font: 14px/1.4 system-ui, sans-serif; "
    + "color: #3d2c00; background: #ffecb3; border-top: 1px solid #b58100"
  close.textContent = "Close"
  close.onclick = () => alert.remove()
  alert.append(text, close)
}
