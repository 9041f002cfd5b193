// The live page: requests new rows once a second, and shows them in three lists with details.
//
// Texts of the service are only inserted as text nodes. Rows are kept in the page while they do not change, so that the
// focus and a selection stay where they are.

const INTERVAL = 1000;  // milliseconds between two requests
const LONGEST_INTERVAL = 10_000;  // after failures
const MAX_ROWS = 500;
const MAX_OPEN = 200;  // requests without a response that are asked for again

const clock = (text) => text.slice(11, 19);
const time = (text) => text.slice(0, 10) === state.today ? clock(text) : text.slice(0, 16).replace('T', ' ');
const bytes = (count) => count === null || count === undefined ? ''
  : count === 1 ? '1 byte' : `${count.toLocaleString('en')} bytes`;
const fileCount = (count) => count === 1 ? '1 file' : `${count} files`;
const statusClass = (status) => !status ? 'bad' : status < 300 ? 'good' : status < 400 ? 'other' : 'bad';
const outcomeClass = {delivered: 'good', retry: 'other', cancelled: 'other', failed: 'bad'};
const parameters = (query) => [...new URLSearchParams(query)].map(([name, value]) => `${name} = ${value}`).join('\n');

// Each column: heading, text of a row, and optionally the class of the cell and the widths at which it is shown.
const LISTS = {
  requests: {
    title: 'Requests',
    empty: 'No request yet. Requests appear here as the service receives them.',
    columns: [
      ['Request', (row) => `${row.method} ${row.path}`],
      ['Status', (row) => row.status ?? (row.fault ? 'cut' : '…'), (row) => row.status ? statusClass(row.status) : 'other'],
      ['User', (row) => row.user ?? '', null, 'wide'],
      ['Received', (row) => row.received ? bytes(row.received) : '', null, 'wide'],
      ['Sent', (row) => row.sent ? bytes(row.sent) : '', null, 'wide'],
      ['Time', (row) => time(row.time)],
    ],
    words: (row) => `${row.query} ${row.operation} ${row.client} ${row.fault ?? ''} ${row.decided_by ?? ''} `
      + (row.status ? `${String(row.status)[0]}xx` : 'none'),
    head: (row) => `${row.method} ${row.path}`,
    fields: (row) => [
      ['Number', row.n], ['Time', row.time], ['Query', parameters(row.query)],
      ['Status', row.status ?? (row.fault ? 'no response' : 'no response yet')], ['Decided by', row.decided_by],
      ['Operation', row.operation], ['User', row.user], ['Client', row.client],
      ['Content-Length', row.declared === null ? null : bytes(row.declared)],
      ['Received', bytes(row.received)], ['Sent', bytes(row.sent)],
      ['Upload before', row.offset_before === null ? null : bytes(row.offset_before)],
      ['Upload after', row.offset_after === null ? null : bytes(row.offset_after)], ['Fault', row.fault],
      ['Scopes', row.scopes.join(', ')],
    ],
  },
  messages: {
    title: 'Messages',
    empty: 'No message yet. Notifications to receivers and e-mails about events appear here.',
    columns: [
      ['Message', (row) => row.kind === 'e-mail' ? row.subject : `Notification: ${row.state}`],
      ['To', (row) => row.to ?? `channel ${row.channel_id}`, null, 'medium'],
      ['Outcome', (row) => row.kind === 'e-mail' ? 'outbox' : row.outcome, (row) => outcomeClass[row.outcome] ?? ''],
      ['Time', (row) => time(row.time)],
    ],
    words: (row) => `${row.kind} ${row.method ?? ''} ${row.resource_id ?? ''} ${row.event_id ?? ''} ${row.error ?? ''}`,
    head: (row) => row.kind === 'e-mail' ? row.subject : `Notification: ${row.state}`,
    fields: (row) => row.kind === 'e-mail' ? [
      ['Time', row.time], ['To', row.to], ['Method', row.method], ['Event', row.event_id],
      ['', 'The service keeps e-mails in its outbox and sends none.'],
    ] : [
      ['Time', row.time], ['Due', row.due], ['Channel', row.channel_id], ['Resource', row.resource_id],
      ['Message number', row.message_number], ['Attempt', row.attempt], ['Outcome', row.outcome],
      ['Status', row.status ?? 'no response'], ['Error', row.error],
    ],
  },
  files: {
    title: 'Files',
    empty: 'No file yet. Files of all users appear here, the last modified file first.',
    columns: [
      ['Name', (row) => row.name + (row.trashed ? ' (in trash)' : '')],
      ['Type', (row) => row.mimeType, null, 'wide'],
      ['Size', (row) => bytes(row.size), null, 'medium'],
      ['Owner', (row) => row.owner, null, 'wide'],
      ['Modified', (row) => time(row.modified)],
    ],
    words: (row) => `${row.id} ${row.folder} ${row.mimeType} ${row.trashed ? 'trash' : ''}`,
    head: (row) => row.name,
    fields: (row) => [
      ['Id', row.id], ['Type', row.mimeType], ['Size', bytes(row.size)], ['Owner', row.owner], ['Folder', row.folder],
      ['Created', row.created], ['Modified', row.modified], ['Version', row.version],
      ['In trash', row.trashed ? 'yes' : 'no'], ['Flagged as abusive', row.abusive ? 'yes' : null],
    ],
    link: (row) => [row.link.replace(/^\//, ''), 'Open the page of the file'],
  },
};

const lines = (entries, text) => Object.entries(entries).map(([name, value]) => `${name}: ${text(value)}`).join('\n');
const stepsDone = (row) => Object.values(row.exercises).reduce((sum, [done]) => sum + done, 0);

// The service of a class has this list, too.
const STUDENTS = {
  title: 'Students',
  empty: 'The roster has no row.',
  columns: [
    ['Name', (row) => row.name],
    ['Last request', (row) => row.last ? time(row.last) : 'none'],
    ['Requests', (row) => String(row.requests)],
    ['Errors', (row) => String(row.errors), (row) => row.errors ? 'bad' : ''],
    ['Steps', (row) => String(stepsDone(row)), null, 'medium'],
    ['Files', (row) => bytes(row.bytes), null, 'medium'],
    ['Operations', (row) => Object.keys(row.steps).join(', '), null, 'wide'],
  ],
  words: (row) => `${row.email} ${row.role} ${row.active ? '' : 'revoked'}`,
  head: (row) => row.name,
  fields: (row) => [
    ['E-mail', row.email], ['Role', row.role], ['Sign-in token', row.active ? null : 'revoked'],
    ['Last request', row.last], ['Requests', row.requests], ['Errors', row.errors], ['Files', bytes(row.bytes)],
    ['Active channels', row.channels],
    ['Exercises', lines(row.exercises, ([done, all]) => `${done} of ${all} step${all === 1 ? '' : 's'}`)],
    ['Operations', lines(row.steps, ([done, failed]) => failed ? `${done}, ${failed} failed` : done)],
  ],
};

const at = (id) => document.getElementById(id);
const state = {
  key: '', open: 'requests', selected: null, paused: false, failures: 0, timer: 0, today: '', limit: 0, journal: '', since: 0,
  versions: {messages: '', files: '', students: ''},
  rows: {requests: new Map(), messages: new Map(), files: new Map(), students: new Map()},  // by key, the newest first
  hidden: {requests: new Set(), messages: new Set(), files: new Set(), students: new Set()},
};

// -- the key

function readKey() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  if (fragment.has('key')) {
    keepKey(fragment.get('key'));
    history.replaceState(null, '', location.pathname);  // so that the key is not in the address bar
  } else {
    try { state.key = sessionStorage.getItem('svc-live-key') ?? ''; } catch { /* storage is blocked */ }
  }
}

function keepKey(key) {
  state.key = key;
  try { sessionStorage.setItem('svc-live-key', key); } catch { /* the key is then asked for again after a reload */ }
}

/** The header with the key. Without a key, the cookie of a sign-in may be enough. */
function credentials() {
  return state.key ? {Authorization: `Bearer ${state.key}`} : {};
}

function askForKey(problem) {
  showView(false);
  at('key-problem').textContent = problem;
  say('A key is needed.');
  at('key').focus();
}

function showView(visible) {
  at('view').hidden = at('buttons').hidden = !visible;
  at('key-form').hidden = visible;
}

// -- requests to the service

async function poll() {
  clearTimeout(state.timer);
  if (state.paused || document.hidden || !at('key-form').hidden) return;
  try {
    const query = new URLSearchParams({journal: state.journal, since: state.since, ...state.versions});
    const signal = AbortSignal.timeout(LONGEST_INTERVAL);
    const options = {headers: credentials(), cache: 'no-store', credentials: 'same-origin', signal};
    const response = await fetch(`_live/activity?${query}`, options);
    if (response.status === 401) {
      at('provider').hidden = !(response.headers.get('WWW-Authenticate') ?? '').includes('svc hub');
      return askForKey(state.key ? 'The service does not accept this key.' : '');
    }
    const body = await response.json();
    if (response.status === 403) return askForKey(body.error.message);
    if (!response.ok) throw new Error(body.error.message);
    take(body);
    state.failures = 0;
    say(state.paused ? 'Paused' : 'Live');
  } catch (error) {
    state.failures += 1;
    say(error instanceof TypeError || error.name === 'TimeoutError'
      ? 'The service does not answer. Trying again …' : `${error.message} Trying again …`);
  }
  clearTimeout(state.timer);
  state.timer = setTimeout(poll, Math.min(INTERVAL * 2 ** state.failures, LONGEST_INTERVAL));
}

function take(body) {
  showView(true);
  state.today = body.now.slice(0, 10);
  state.limit = body.limit;
  at('clock').textContent = `${body.now.slice(0, 10)} ${clock(body.now)} UTC`;
  if (body.journal !== state.journal) {  // the service was reset or started again
    state.rows.requests.clear();
    state.hidden.requests.clear();
    state.journal = body.journal;
  }
  for (const row of body.requests) state.rows.requests.set(row.n, row);
  trim(state.rows.requests);
  state.since = askedSince();
  if (body.students && !LISTS.students) addStudents();
  at('class').hidden = !(body.students && body.control);
  for (const name of ['messages', 'files', 'students']) {
    if (!body[name] || body[name].rows === null) continue;
    state.versions[name] = body[name].version;
    const rows = name === 'messages' ? body.messages.rows : body[name].rows.slice().reverse();
    state.rows[name] = keyed(rows, {messages: JSON.stringify, files: (row) => row.id, students: (row) => row.email}[name]);
  }
  show();
}

/** The number after which requests are asked for: those without a response may have one by now. */
function askedSince() {
  const numbers = [...state.rows.requests.keys()];
  const last = numbers.length ? Math.max(...numbers) : 0;
  const open = [...state.rows.requests.values()].filter((row) => row.status === null && row.n > last - MAX_OPEN);
  return Math.min(last, ...open.map((row) => row.n - 1));
}

function trim(rows) {
  for (const key of [...rows.keys()].slice(0, Math.max(0, rows.size - MAX_ROWS))) rows.delete(key);
}

/** A Map of rows. Equal rows get different keys. */
function keyed(rows, key) {
  const map = new Map();
  for (const row of rows) {
    let name = key(row);
    while (map.has(name)) name += '+';
    map.set(name, row);
  }
  return map;
}

// -- what the page shows

function say(text) {
  if (at('status').textContent !== text) at('status').textContent = text;
}

function element(name, text = '', properties = {}) {
  const made = Object.assign(document.createElement(name), properties);
  if (text !== '') made.textContent = text;
  return made;
}

function show() {
  for (const name of Object.keys(LISTS)) {
    at(`tab-${name}`).querySelector('span').textContent = visible(name).length;
  }
  const rows = matching(visible(state.open));
  const count = visible(state.open).length;
  const isCut = state.open === 'requests' ? count >= MAX_ROWS : state.open !== 'students' && count >= state.limit;
  at('shown').textContent = [at('filter').value.trim() ? `${rows.length} of ${count}` : '', isCut ? `the latest ${count}` : '']
    .filter(Boolean).join(', ');
  at('empty').textContent = rows.length ? '' : count ? 'No row matches the filter.' : LISTS[state.open].empty;
  at('clear').hidden = ['files', 'students'].includes(state.open);
  at('journal').hidden = state.open !== 'students';
  at('reset').hidden = at('restore').hidden = state.open !== 'students' || at('class').hidden;
  document.querySelector('table').hidden = !rows.length;
  arrange(rows);
  showDetails();
}

function visible(name) {
  return [...state.rows[name]].filter(([key]) => !state.hidden[name].has(key)).reverse();
}

function matching(rows) {
  const words = at('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
  const {columns, words: more} = LISTS[state.open];
  return rows.filter(([, row]) => {
    const text = [...columns.map(([, cell]) => cell(row)), more(row)].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function arrange(rows) {
  const body = at('rows');
  const keys = new Set(rows.map(([key]) => String(key)));
  for (const line of [...body.children]) if (!keys.has(line.dataset.key)) line.remove();
  const present = new Map([...body.children].map((line) => [line.dataset.key, line]));
  let place = body.firstElementChild;
  for (const [key, row] of rows) {
    const text = JSON.stringify(row);
    const line = present.get(String(key)) ?? element('tr');
    if (line === place) place = place.nextElementSibling;
    else body.insertBefore(line, place);
    if (line.dataset.text !== text) fill(line, key, row, text);
    if (String(key) === state.selected) line.setAttribute('aria-current', 'true');
    else line.removeAttribute('aria-current');
  }
  const buttons = [...body.querySelectorAll('button')];
  const stop = buttons.find((button) => button === document.activeElement)
    ?? body.querySelector('[aria-current] button') ?? buttons[0];
  for (const button of buttons) button.tabIndex = button === stop ? 0 : -1;
}

function fill(line, key, row, text) {
  Object.assign(line.dataset, {key, text});
  const hadFocus = line.contains(document.activeElement);
  line.replaceChildren(...LISTS[state.open].columns.map(([, cell, color, width], index) => {
    const classes = [color?.(row), width].filter(Boolean).join(' ');
    if (index) return element('td', cell(row), {className: classes});
    const head = element('th', '', {scope: 'row', className: classes});
    head.append(element('button', cell(row), {type: 'button'}));
    return head;
  }));
  if (hadFocus) line.querySelector('button').focus();
}

function showDetails() {
  const entry = visible(state.open).find(([key]) => String(key) === state.selected);
  document.body.classList.toggle('has-details', Boolean(entry));
  at('details').hidden = !entry;
  if (!entry) return;
  const list = LISTS[state.open];
  const text = JSON.stringify(entry[1]);
  if (at('details').dataset.text === text) return;  // so that a selection of text stays
  at('details').dataset.text = text;
  at('details-title').textContent = list.head(entry[1]);
  const link = list.link?.(entry[1]);
  at('links').replaceChildren(...link ? [element('a', link[1], {href: link[0], target: '_blank', rel: 'noopener'})] : []);
  at('fields').replaceChildren(...list.fields(entry[1])
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .flatMap(([name, value]) => [element('dt', name || 'Note'), element('dd', String(value))]));
}

function openTab(name) {
  state.open = name;
  state.selected = null;
  for (const tab of at('tabs').children) {
    const selected = tab.id === `tab-${name}`;
    tab.setAttribute('aria-selected', selected);
    tab.tabIndex = selected ? 0 : -1;
  }
  at('list').setAttribute('aria-labelledby', `tab-${name}`);
  at('filter').value = '';
  at('rows').replaceChildren();
  at('heads').replaceChildren(...LISTS[name].columns.map(([title, , , width]) =>
    element('th', title, {scope: 'col', className: width ?? ''})));
  show();
}

function select(line) {
  state.selected = line.dataset.key;
  show();
}

function close() {
  const line = at('rows').querySelector('[aria-current]');
  state.selected = null;
  show();
  line?.querySelector('button').focus();
}

// -- what a person does

function pressInRows(event) {
  const lines = [...at('rows').children];
  const here = lines.indexOf(event.target.closest('tr'));
  const step = {ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: lines.length - 1}[event.key];
  const line = lines[step];
  if (step === undefined || !line) return;
  event.preventDefault();
  line.querySelector('button').focus();
  if (state.selected !== null) select(line);
  else show();
}

function pressInTabs(event) {
  const names = Object.keys(LISTS);
  const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
  if (!step) return;
  const name = names[(names.indexOf(state.open) + step + names.length) % names.length];
  openTab(name);
  at(`tab-${name}`).focus();
}

function pressAnywhere(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || at('question').open) return;
  if (event.key === '/' && !event.target.matches('input, select') && !at('view').hidden) {
    event.preventDefault();
    at('filter').focus();
  } else if (event.key === 'Escape' && state.selected !== null) {
    close();
  }
}

function addTab(name) {
  const tab = element('button', `${LISTS[name].title} `, {type: 'button', id: `tab-${name}`});
  tab.setAttribute('role', 'tab');
  tab.setAttribute('aria-controls', 'list');
  tab.append(element('span', '0'));
  tab.addEventListener('click', () => openTab(name));
  at('tabs').append(tab);
}

function addStudents() {
  LISTS.students = STUDENTS;
  addTab('students');
  openTab(state.open);
}

// -- what a teacher does

/** Send a call to the control interface, with the token in a header or the cookie of the sign-in. */
async function control(method, name, fields) {
  const headers = {...credentials(), 'Content-Type': 'application/json'};
  const body = fields && JSON.stringify(fields);
  const options = {method, headers, body, credentials: 'same-origin', cache: 'no-store'};
  const response = await fetch(`_control/${name}`, options);
  const answer = response.status === 204 ? {} : await response.json();
  if (!response.ok) throw new Error(answer.error.message);
  return answer;
}

/** Run an action, and show the text and the code that it returns, or its error. */
async function run(action) {
  at('notice').className = '';
  at('notice').textContent = '';
  try {
    const [text, code] = await action();
    at('notice').replaceChildren(text, ...code ? [' ', element('code', code)] : []);
  } catch (error) {
    at('notice').className = 'bad';
    at('notice').textContent = error instanceof TypeError ? 'The service does not answer.' : error.message;
  }
}

/** Ask a question in a dialog, with backups to choose from. The result is true if the person confirms. */
function confirmed(title, text, verb, backups = []) {
  const dialog = at('question');
  at('choice').hidden = !backups.length;
  at('backup').replaceChildren(...backups.map((row) =>
    element('option', `${row.time.slice(0, 10)} ${clock(row.time)} UTC, ${bytes(row.size)}`, {value: row.backup})));
  at('question-title').textContent = title;
  at('question-text').textContent = text;
  at('confirm').textContent = verb;
  dialog.returnValue = '';
  dialog.showModal();
  at('cancel').focus();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), {once: true});
  });
}

function startFault(event) {
  event.preventDefault();
  const name = at('fault').value, seconds = Number(at('seconds').value);
  const plan = name ? {preset: name, seconds} : {steps: [{action: {reset: 'before'}, times: 1_000_000}], seconds};
  const code = name ? `school.faults("${name}", seconds=${seconds})` : `school.break_network(${seconds})`;
  run(async () => {
    await control('POST', 'faults', plan);
    return [`Started for ${seconds} seconds, for all users: ${name || 'the network is broken'}.`, code];
  });
}

async function advance(event) {
  event.preventDefault();
  const step = at('step').value.trim();
  const text = 'The clock stops for all users, and moves only by such calls until the service is started again.';
  if (!await confirmed(`Advance the clock by ${step}?`, text, 'Advance')) return;
  run(async () => {
    const {now} = await control('POST', 'clock', {advance: step});
    return [`The clock is now ${now.slice(0, 10)} ${clock(now)} UTC.`, `school.advance("${step}")`];
  });
}

async function reset() {
  const user = state.selected;
  const text = 'All files, uploads and events of this student are deleted, and the channels are stopped. Before that, the '
    + 'service writes a backup file, from which you can restore everything except running channels.';
  if (!await confirmed(`Reset ${user}?`, text, 'Reset')) return;
  run(async () => {
    const {files, path, backup} = await control('POST', 'class/reset', {user});
    return [`Reset ${user}: ${fileCount(files)}. The backup is ${path}. To restore it, click "Restore …", or run`,
      `svc.class_control().restore("${backup}")`];
  });
}

function restore() {
  const user = state.selected;
  run(async () => {
    const backups = (await control('GET', 'class/backups')).backups.filter((row) => row.user === user).reverse();
    if (!backups.length) return [`${user} has no backup. Each reset of a student writes one.`];
    const text = 'The student gets the files, uploads and events of this backup. What the student has now is written to '
      + 'another backup file, and then deleted.';
    if (!await confirmed(`Restore ${user}?`, text, 'Restore', backups)) return [''];
    const {files, path} = await control('POST', 'class/restore', {backup: at('backup').value});
    return [`Restored ${user}: ${fileCount(files)}. The state before is in ${path}.`];
  });
}

function showRequests() {
  const student = state.selected;
  openTab('requests');
  at('filter').value = student;
  show();
  at('filter').focus();
}

function start() {
  for (const name of Object.keys(LISTS)) addTab(name);
  at('fault-form').addEventListener('submit', startFault);
  at('end-faults').addEventListener('click', () => run(async () => {
    await control('DELETE', 'faults');
    return ['All faults have ended.', 'school.clear_faults()'];
  }));
  at('clock-form').addEventListener('submit', advance);
  at('reset').addEventListener('click', reset);
  at('restore').addEventListener('click', restore);
  at('journal').addEventListener('click', showRequests);
  at('tabs').addEventListener('keydown', pressInTabs);
  at('rows').addEventListener('keydown', pressInRows);
  at('rows').addEventListener('click', (event) => {
    const line = event.target.closest('tr');
    select(line);
    if (getSelection().isCollapsed) line.querySelector('button').focus();
    if (!at('list').offsetParent) at('details-title').focus();  // the details have replaced the list
  });
  at('filter').addEventListener('input', show);
  at('close').addEventListener('click', close);
  at('clear').addEventListener('click', () => {
    for (const key of state.rows[state.open].keys()) state.hidden[state.open].add(key);
    state.selected = null;
    show();
  });
  at('pause').addEventListener('click', () => {
    state.paused = !state.paused;
    at('pause').setAttribute('aria-pressed', state.paused);
    say(state.paused ? 'Paused' : 'Live');
    poll();
  });
  at('key-form').addEventListener('submit', (event) => {
    event.preventDefault();
    keepKey(at('key').value.trim());
    at('key').value = '';
    at('key-form').hidden = true;
    poll();
  });
  document.addEventListener('keydown', pressAnywhere);
  document.addEventListener('visibilitychange', poll);
  addEventListener('hashchange', () => {  // the link with the key was opened in the tab of this page
    readKey();
    at('key-form').hidden = true;
    poll();
  });
  readKey();
  openTab('requests');
  poll();
}

start();
