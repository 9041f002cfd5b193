// Loads Pyodide in the worker of a notebook's kernel. If a file cannot be loaded, the page shows at once which file, from
// where, and why (show_missing.js). The cell that waits for the file shows the same.
//
// The build writes this module to the settings of the kernel as a data URL, so that it runs even if the files of Pyodide
// are missing.

const OURS = "svc-notebooks"
const MODULE = "svc_notebooks"
const LIMIT = 10  // seconds without a byte from the host of a file

const fetchFile = self.fetch.bind(self)
const failures = new Map()  // address: { what, folder, reason }
const addresses = new Map()  // package: address
const needed = new Set()  // the addresses of the packages that Python starts with
const earlier = new Map()  // address: the content of a file that was requested before Pyodide asks for it
const lastByte = {}  // host: the time of its last byte, in milliseconds
let giveUp = () => {}
let noPython = ""  // why Python cannot start

export async function loadPyodide(options) {
  showInPage()
  const site = new URL("../../", options.indexURL).href
  const isOurs = (url) => url.href.startsWith(site) || url.pathname.endsWith(".whl")
  self.fetch = (resource, request) => {
    const url = new URL(resource.url ?? resource, self.location)
    return isOurs(url) ? respond(url, request) : fetchFile(resource, request)
  }
  try {
    // Pyodide does not always end when one of its files is missing.
    const pyodide = await Promise.race([start(options), new Promise((_, reject) => { giveUp = reject })])
    giveUp = () => {}
    loadPackages(pyodide)
    return pyodide
  } catch (error) {
    noPython = `Python cannot start. ${error.message ?? error} Reload the page to try again.`
    showInPage()
    return withoutPython(noPython)
  }
}

async function start(options) {
  // An import has no limit of time. These files are in the browser's cache when they are imported.
  const scripts = ["pyodide.mjs", "pyodide.asm.mjs"].map((name) => self.fetch(options.indexURL + name))
  const lock = await (await self.fetch(options.lockFileURL)).json()
  for (const [name, { file_name }] of Object.entries(lock.packages)) {
    addresses.set(name, new URL(file_name, options.lockFileURL).href)
  }
  closure(lock.packages, options.packages).forEach((name) => needed.add(addresses.get(name)))
  for (const name of closure(lock.packages, [...options.packages, OURS])) {
    const content = load(new URL(addresses.get(name)))
    content.catch(() => {})  // Pyodide handles the error
    earlier.set(addresses.get(name), content)
  }
  await Promise.all(scripts)
  const { loadPyodide } = await import(options.indexURL + "pyodide.mjs")
  return loadPyodide(options)
}

function closure(packages, names) {
  const all = new Set(names)
  for (const name of all) packages[name].depends.forEach((each) => all.add(each))
  return [...all]
}

async function respond(url, { integrity, ...request } = {}) {
  const begun = earlier.get(url.href)
  earlier.delete(url.href)
  const content = await (begun ?? load(url, request))
  if (!integrity) return new Response(content)
  const address = URL.createObjectURL(content)
  return fetchFile(address, { integrity }).catch(() => {
    throw fail(url, "its digest is not that of the lock")
  }).finally(() => URL.revokeObjectURL(address))
}

async function load(url, request) {
  const stop = new AbortController()
  lastByte[url.host] = performance.now()
  const isSilent = () => performance.now() - lastByte[url.host] >= LIMIT * 1000
  // The second check is after this worker has read the bytes that came while it was busy.
  const timer = setInterval(() => isSilent() && setTimeout(() => isSilent() && stop.abort(), 250), 500)
  try {
    const response = await fetchFile(url, { ...request, signal: stop.signal })
    if (!response.ok) throw fail(url, `the host answers ${response.status}`)
    const content = await read(response, url.host)
    if (failures.delete(url.href)) showInPage()
    return content
  } catch (error) {
    if (stop.signal.aborted) throw fail(url, `the host has sent nothing for ${LIMIT} seconds`)
    throw failures.has(url.href) ? error : fail(url, "the host cannot be reached")
  } finally {
    clearInterval(timer)
  }
}

async function read(response, host) {
  const chunks = []
  const reader = response.body.getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    lastByte[host] = performance.now()
    chunks.push(part.value)
  }
  return new Blob(chunks, { type: response.headers.get("Content-Type") ?? "" })
}

function fail(url, reason) {
  const end = url.href.lastIndexOf("/") + 1
  const name = [...addresses.keys()].find((each) => addresses.get(each) === url.href)
  const failure = { what: name ?? url.href.slice(end), folder: url.href.slice(0, end), reason }
  failures.set(url.href, failure)
  const error = new Error(sentence(failure))
  if (!name || needed.has(url.href)) giveUp(error)
  else showInPage()
  return error
}

function sentence({ what, folder, reason }) {
  return `${what} cannot be loaded from ${folder}: ${reason}.`
}

function missing() {
  return [...addresses.keys()].filter((name) => failures.has(addresses.get(name)))
}

// Return a sentence about the missing packages of each host.
function problems() {
  const failed = missing().map((name) => failures.get(addresses.get(name)))
  const groups = Object.groupBy(failed, (failure) => sentence({ ...failure, what: "" }))
  return Object.entries(groups).map(([rest, group]) => group.map(({ what }) => what).join(", ") + rest).join(" ")
}

function showInPage() {
  const text = problems()
  self.postMessage({ cannotLoad: noPython || (text && `${text} ${AGAIN}`) })
}

// Load the packages in the background, and let cells wait for them and say which of them are missing.
function loadPackages(pyodide) {
  const { packages } = pyodide.lockfile
  const explain = (module) => {
    const name = missing().find((each) => packages[each].imports.includes(module))
    return name && `${sentence(failures.get(addresses.get(name)))} ${AGAIN}`
  }
  const python = pyodide.toPy({ explain })
  pyodide.runPython(PYTHON, { globals: python })
  const [show, clear, keepNone] = ["show", "clear", "keep_none"].map((name) => python.get(name))
  const loadImports = pyodide.loadPackagesFromImports

  let loading = null  // a promise while packages are loaded
  let reported = ""
  let isFirst = true
  const load = (names) => {
    loading = pyodide.loadPackage(names).catch(() => {}).finally(() => { loading = null })
  }
  load(OURS)
  pyodide.loadPackagesFromImports = async (code, ...options) => {
    if (isFirst) keepNone()
    isFirst = false
    const modules = pyodide.pyodide_py.code.find_imports(code).toJs()
    if (!loading && modules.some((name) => (name === MODULE && missing().length) || explain(name))) {
      reported = ""
      load(missing())
    }
    if (loading && modules.length) {
      show(`Loading packages … ${problems()}`)
      await loading
      clear()
    }
    const loaded = await loadImports(code, ...options)
    const text = problems()
    if (text && text !== reported) show(`${text} ${AGAIN}`)
    reported = text
    return loaded
  }
}

const AGAIN = `Run \`import ${MODULE}\` again to try again.`
const PYTHON = `
import sys

class NotLoaded(ModuleNotFoundError):
    def _render_traceback_(self):
        return [f"NotLoaded: {self}"]

class Finder:
    def find_spec(self, name, path=None, target=None):
        if sentence := explain(name):
            raise NotLoaded(sentence, name=name)

def show(text):
    print(text, file=sys.stderr)

def clear():
    from IPython.display import clear_output
    clear_output()

def keep_none():
    """Let the messages of widgets keep None, which Pyodide converts to undefined, so that widgets ignored it."""
    from pyodide.ffi import jsnull
    from pyodide_kernel.comm import Comm

    def with_null(value):
        match value:
            case None:
                return jsnull
            case dict():
                return {key: with_null(item) for key, item in value.items()}
            case list() | tuple():
                return [with_null(item) for item in value]
        return value

    def publish_with_null(self, kind, data=None, *args, **keys):
        publish(self, kind, with_null(data or {}), *args, **keys)

    publish = Comm.publish_msg
    Comm.publish_msg = publish_with_null

sys.meta_path.insert(0, Finder())
`

// Return an object like Pyodide, whose kernel answers each cell with the same error.
function withoutPython(text) {
  const error = { status: "error", ename: "NotLoaded", evalue: text, traceback: [`NotLoaded: ${text}`] }
  const nothing = () => ({})
  const interpreter = { display_pub: {}, displayhook: {} }
  const kernel = {
    interpreter: { copy: () => interpreter },
    run: async () => ({ ...error, payload: [] }),
    complete: (code, end) => ({ status: "ok", matches: [], cursor_start: end, cursor_end: end, metadata: {} }),
    inspect: () => ({ status: "ok", found: false, data: {}, metadata: {} }),
    is_complete: () => ({ status: "unknown" }),
    comm_info: nothing,
    comm_manager: { comm_open: nothing, comm_msg: nothing, comm_close: nothing },
  }
  const stream = { copy: nothing }
  const module = { kernel_instance: { copy: () => kernel }, stdout_stream: stream, stderr_stream: stream }
  return {
    _api: {},
    ffi: { PyProxy: class {} },
    FS: { mkdirTree: nothing, mount: nothing, chdir: nothing },
    globals: { get: () => module },
    loadPackage: async () => [],
    runPythonAsync: async () => undefined,
    toPy: (value) => value,
  }
}
