// The offline kit: one file that takes the server's part. The rating page's own module runs on it unchanged; what it
// would send is kept in this browser, and leaves it as a signed file that somebody carries to the coordinator.

const kit = JSON.parse(document.getElementById("kit").textContent);
const words = document.body.dataset;
const main = document.getElementById("main");
const byName = Object.fromEntries(kit.screens.map((one) => [one.public, one]));
const HERE = `konsil:kit:${kit.id}`;
const OWN = new Set(["csrf", "visit", "base_rev", "revisions", "pending", "ends", "wall", "active", "first_input"]);
const make = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
const stamp = () => new Date().toISOString();
const clock = (at) => new Date(at).toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit" });

// What is kept: a record of each screen, and one of the whole. Every change is one transaction that is done when it is
// on the disk, so that what is called saved outlives a browser that is killed, and two windows do not undo one another.
const WHOLE = "";
const fresh = { whole: { copy: make(), revision: 0, deferred: 0, changed: "", filed: "" } };
const blank = () => ({ changes: [], values: {}, done: "", handed: {}, deferred: 0, visits: {}, problems: [] });
let base = null, kept = new Map();
function opened() {
  return new Promise((done, fail) => {
    const asked = indexedDB.open(HERE, 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("kept");
    asked.onsuccess = () => done(asked.result);
    asked.onerror = () => fail(asked.error);
  });
}
function turn(work) {
  return new Promise((done, fail) => {
    const step = base.transaction("kept", "readwrite", { durability: "strict" });
    step.oncomplete = () => done();
    step.onabort = () => fail(step.error ?? new TypeError("not kept"));
    work(step.objectStore("kept"));
  });
}
function change(store, name, otherwise, work) {
  store.get(name).onsuccess = ({ target }) => {
    const one = target.result ?? otherwise;
    work(one);
    kept.set(name, one);
    store.put(one, name);
  };
}
const load = () => turn((store) => {
  kept = new Map();
  store.openCursor().onsuccess = ({ target: { result } }) => { if (result) { kept.set(result.key, result.value); result.continue(); } };
});
const whole = () => kept.get(WHOLE) ?? fresh.whole;
const screenOf = (name) => kept.get(name) ?? blank();
const keepWhole = (work) => turn((store) => change(store, WHOLE, fresh.whole, work));
const keep = (name, work) => turn((store) => {
  change(store, name, blank(), work);
  change(store, WHOLE, fresh.whole, (all) => { all.changed = stamp(); });
});
async function remembers() {
  try {
    base = await opened();
    await keepWhole(() => {});
    await load();
    return true;
  } catch {
    return false;
  }
}

const valueIn = (name, one, field) => one.values[field] ?? byName[name].values[field] ?? "";
function say(name, one, change) {
  if (one.changes.some((c) => c.id === change.id) || valueIn(name, one, change.field) === change.value) return;
  one.changes.push(change);
  one.values[change.field] = change.value;
  // What is changed after it was handed in is to be handed in once more.
  if (change.field !== "~note") one.done = "";
}
function time(one, visit, told) {
  if (!visit || told.wall === undefined || told.wall === "") return;
  one.visits[visit] = { wall: String(told.wall), active: String(told.active), first_input: String(told.first_input), ends: String(told.ends ?? "") };
}
// A form's fields that are answers, with one sign for the end of a line.
const answersIn = (form) => Object.fromEntries(
  Object.entries(form).filter(([field]) => !OWN.has(field)).map(([field, value]) => [field, value.replace(/\r\n?/g, "\n")]));
function sayForm(name, one, form) {
  for (const [field, value] of Object.entries(answersIn(form))) say(name, one, { id: make(), field, value, at: stamp() });
  time(one, form.visit, form);
}

// The server's part: the addresses of its pages stand behind the number sign of ours.
const json = (what, status = 200) => new Response(JSON.stringify(what), { status });
window.fetch = async (address, options) => {
  const [, what, name] = /#\/(save|submit)\/([\w-]+)$/.exec(String(address)) ?? [];
  if (!byName[name]) return json({}, 404);
  return what === "save" ? saved(name, JSON.parse(options.body)) : submitted(name, Object.fromEntries(options.body));
};
async function saved(name, told) {
  await keep(name, (it) => {
    for (const c of told.changes) say(name, it, { id: String(c.id), field: String(c.field), value: String(c.value), at: String(c.at ?? stamp()) });
    time(it, told.visit, told);
  });
  return json({ rev: screenOf(name).changes.length + 1, at: stamp(), conflicts: {}, refused: [], closed: false });
}
async function submitted(name, form) {
  const problems = Object.entries(byName[name].numbers).filter(([field, number]) => !fits(form[field] ?? "", number)).map(([field]) => field);
  await keep(name, (one) => {
    sayForm(name, one, form);
    if (problems.length) return;
    one.done = stamp();
    one.handed = answersIn(form);
  });
  return problems.length ? json({ problems, conflicts: {}, rev: 1 }, 422) : json({ go: `#/next/${name}` });
}
function fits(text, { low, high, options }) {
  if (options.includes(text)) return true;
  const typed = konsilReadNumber(text).number, number = Number(typed);
  return typed !== undefined && (low === null || number >= low) && (high === null || number <= high);
}

// Forms that the page sends without its module: putting off, and reporting a problem.
document.addEventListener("submit", (event) => {
  const address = event.submitter?.getAttribute("formaction") ?? event.target.getAttribute("action");
  const [, what, name] = /^#\/(later|problem)\/([\w-]+)$/.exec(address) ?? [];
  if (!what) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const form = Object.fromEntries(new FormData(event.target));
  if (what === "problem") {
    keep(name, (one) => one.problems.push({ id: make(), text: form.text, at: stamp() })).then(() => {
      event.target.reset();
      document.getElementById("problem").hidePopover();
    });
    return;
  }
  const last = whole().deferred + 1;
  keep(name, (one) => { sayForm(name, one, form); one.deferred = last; })
    .then(() => keepWhole((all) => { all.deferred = last; }))
    .then(() => location.assign(`#/next/${name}`));
}, true);

// The order of work: items, those put off, then the batch's own questions.
function open() {
  const left = kit.screens.map((spec, n) => ({ spec, n, one: screenOf(spec.public) })).filter(({ one }) => !one.done);
  left.sort((a, b) => a.spec.survey - b.spec.survey || a.one.deferred - b.one.deferred || a.n - b.n);
  return left.map(({ spec }) => spec.public);
}
function progress() {
  const left = open(), total = kit.screens.length, done = total - left.length;
  const text = words.done.replace("{done}", done).replace("{total}", total);
  const pace = kit.screens.filter((spec) => !spec.survey).map((spec) => screenOf(spec.public)).filter((one) => one.done)
    .map((one) => Object.values(one.visits).reduce((sum, visit) => sum + Number(visit.active), 0)).sort((a, b) => a - b);
  if (pace.length < 3 || !left.length) return { text, total, done };
  const minutes = Math.max(1, Math.round((left.length * pace[pace.length >> 1]) / 60));
  return { text: `${text} · ${minutes === 1 ? words.minute : words.minutes.replace("{n}", minutes)}`, total, done };
}

// The answers as a file.
async function file() {
  await keepWhole((all) => { all.filed = stamp(); all.revision += 1; });
  await load();
  const all = whole();
  const screens = {};
  for (const spec of kit.screens) {
    const { changes, done, handed, visits, problems } = screenOf(spec.public);
    if (changes.length || done || problems.length) screens[spec.public] = { base_rev: spec.rev, changes, done, values: handed, visits, problems };
  }
  const signed = JSON.stringify({ kit: kit.id, copy: all.copy, revision: all.revision, made_at: all.filed, screens });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify({ konsil: "kit answers", format: 1, signed, mac: hmac(kit.key, signed) })], { type: "application/json" }));
  link.download = `${words.filename}-${kit.id.slice(0, 8)}-${all.revision}.json`;
  link.click();
  tell();
}
function tell() {
  const all = whole(), place = document.getElementById("filed");
  if (!place) return;
  const stale = all.filed && all.changed > all.filed;
  place.textContent = !all.filed ? "" : stale ? words.stale : words.filed.replace("{time}", clock(all.filed)).replace("{n}", all.revision);
}
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-file]")) file();
  if (event.target.closest(".skip")) { event.preventDefault(); main.focus(); }
});

// One page at a time; going elsewhere loads the file anew, so that the module begins anew, as it does on a server.
addEventListener("hashchange", () => { if (/^(#\/.*)?$/.test(location.hash)) location.reload(); });
function put(id) {
  const held = document.getElementById(id), made = document.createElement("template");
  made.innerHTML = held.content ? held.innerHTML : held.textContent;
  main.append(made.content);
}

// A link to what was handed in last before something, or to nothing.
function lead(link, before = "", when = "") {
  const done = kit.screens.map((spec) => [screenOf(spec.public).done, spec.public])
    .filter(([at, other]) => at && other !== before && (!when || at < when)).sort();
  if (done.length) link.href = `#/task/${done.at(-1)[1]}`; else link.remove();
}
function showTask(name) {
  const spec = byName[name], one = screenOf(name);
  put(`task-${name}`);
  put(`aside-${spec.aside}`);
  document.body.className = `rating ${spec.layout}`;
  const form = document.getElementById("rating");
  form.elements.visit.value = make();
  if (one.changes.length) form.dataset.rev = one.changes.length;
  for (const [field, value] of Object.entries(one.values)) {
    const found = form.elements[field], all = found instanceof RadioNodeList ? [...found] : found ? [found] : [];
    for (const input of all) if (input.type === "radio") input.checked = input.value === value; else input.value = value;
  }
  lead(form.querySelector('a[href="#/task/back"]'), name, one.done);
  if (one.done) form.querySelector("[formaction]")?.remove();
  for (const part of document.querySelectorAll("[data-on-task]")) part.hidden = false;
  const so = progress();
  document.querySelector(".progress span").textContent = so.text;
  Object.assign(document.querySelector(".progress progress"), { max: so.total, value: so.done });
  const module = document.createElement("script");
  module.type = "module";
  module.textContent = document.getElementById("module").textContent;
  document.body.append(module);
}

const [, page, name] = /^#\/(task|next)\/([\w-]*)/.exec(location.hash) ?? [];
const holds = await remembers();
const next = open()[0];
if (!holds) put("forgets");
else if (page === "task" && byName[name]) showTask(name);
else if (page === "next" && next) { history.replaceState(null, "", `#/task/${next}`); showTask(next); }
else {
  put(next ? "start" : "end");
  const place = document.getElementById("so-far");
  if (place) place.textContent = progress().text;
  const last = document.querySelector("[data-last]");
  if (last) lead(last);
  tell();
}
