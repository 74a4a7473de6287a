// The rating page with a script: keys, saving at every change, a queue for when the network is away, times.
// Without it the page is a plain form that says the same.

const root = document.documentElement;
const form = document.getElementById("rating");
const badge = document.getElementById("badge");
const { save: saveUrl, public: name } = form.dataset;
const csrf = form.elements.csrf.value;
const closed = "closed" in form.dataset;
const fields = [...form.querySelectorAll(".asked")];
const QUEUE = "konsil:queue:";
const KEYS = "konsil:keys";

root.classList.add("scripted");

// Small memory that may be switched off: then things are kept in this page only.
const memory = {
  get(key) { try { return localStorage.getItem(key); } catch { return null; } },
  set(key, value) { try { localStorage.setItem(key, value); } catch {} },
  drop(key) { try { localStorage.removeItem(key); } catch {} },
};
const random = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
const number = (text) => { const n = Number(text); return Number.isFinite(n) ? n : 0; };

// Numbers as people type them, by the rules of numbers.py: { number }, or { whole, decimal } where both can be meant.
function readNumber(text) {
  const typed = text.trim().replace("\u2212", "-");
  const plain = /^([+-]?)([0-9]*)(?:[.,]([0-9]*))?$/.exec(typed);
  if (plain && (plain[2] || plain[3])) {
    const sign = plain[1].replace("+", ""), head = plain[2] || "0", tail = plain[3] ?? "";
    if (tail.length === 3 && /^[1-9][0-9]{0,2}$/.test(head)) {
      const decimals = tail.replace(/0+$/, "") || "0";
      return { whole: sign + head + tail, decimal: `${sign}${head}.${decimals}${decimals.length < 3 ? "" : "0"}` };
    }
    return { number: sign + head + (tail && `.${tail}`) };
  }
  const grouped = /^([+-]?)([1-9][0-9]{0,2}([ \u00a0\u2009\u202f'’.,])[0-9]{3}(?:\3[0-9]{3})*)(?:([.,])([0-9]+))?$/.exec(typed);
  if (!grouped || grouped[3] === grouped[4]) return {};
  const digits = grouped[2].replaceAll(grouped[3], "");
  return { number: grouped[1].replace("+", "") + digits + (grouped[5] ? `.${grouped[5]}` : "") };
}
globalThis.konsilReadNumber = readNumber;

// Times: how long the page was open, and how long of that it was visible and somebody was at it.
const IDLE = 60000;
let opened = performance.now(), ticked = opened, active = 0, lastInput = opened, firstInput = null;
let visible = !document.hidden;
function tick() {
  const now = performance.now();
  if (visible && now - lastInput < IDLE) active += now - ticked;
  ticked = now;
}
function touched() {
  tick();
  lastInput = performance.now();
  firstInput ??= lastInput;
}
setInterval(tick, 1000);
for (const kind of ["keydown", "pointerdown", "input", "wheel"]) addEventListener(kind, touched, { passive: true, capture: true });
document.addEventListener("visibilitychange", () => { tick(); visible = !document.hidden; if (!visible) typed(); });
function times() {
  tick();
  const seconds = (ms) => (ms / 1000).toFixed(3);
  return { ends: [...ends].sort((a, b) => a - b).join(" ") || "0", wall: seconds(performance.now() - opened), active: seconds(active), first_input: firstInput === null ? "" : seconds(firstInput - opened) };
}

// Which answers were seen to their end: it was in the window and not behind the bar.
const ends = new Set();
{
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { ends.add(entry.target.dataset.answer); watch.unobserve(entry.target); }
  }, { rootMargin: `0px 0px -${form.querySelector(".bar").offsetHeight}px 0px` });
  for (const end of document.querySelectorAll(".end")) watch.observe(end);
}

// At a desk every answer shows twelve lines, or all of it, and as much more as the window has room for; then the page
// scrolls, and the answers stay in sight where a question fits beneath them. Text that is hidden is marked.
const LINES = 288, QUESTION = 150, GAP = 10;
const atDesk = matchMedia("(min-width: 1000px) and (min-height: 600px)");
const panes = [...document.querySelectorAll(".pane")];
const texts = panes.map((pane) => pane.querySelector(".scroll"));
function fit() {
  if (!atDesk.matches || !panes.length) { root.classList.remove("pinned"); markHidden(); return; }
  const size = (name, value) => root.style.setProperty(name, `${Math.round(value)}px`);
  const heightOf = (selector) => form.querySelector(selector)?.offsetHeight ?? 0;
  const question = heightOf(".question"), bar = heightOf(".bar"), several = document.body.classList.contains("panes");
  const beside = panes.map((pane) => [...pane.children].reduce((sum, one) => sum + (one.classList.contains("scroll") ? 0 : one.offsetHeight), 28));
  const under = several && heightOf(".work > .groups") ? heightOf(".work > .groups") + GAP : 0;
  const top = form.querySelector(".work").getBoundingClientRect().top + scrollY;
  const room = Math.max(LINES, innerHeight - top - under - bar - GAP - Math.max(...beside));
  const needs = texts.map((text) => text.querySelector(".end").offsetTop - text.firstElementChild.offsetTop + 2);
  const tallest = Math.min(room, Math.max(...needs));
  size("--room", room);
  size("--tallest", tallest);
  size("--below", question);
  const covered = question + 29 + tallest, pinned = several && innerHeight - covered - bar >= QUESTION;
  root.classList.toggle("pinned", pinned && top + Math.max(...beside) + tallest + under + bar > innerHeight);
  size("--covered", root.classList.contains("pinned") ? covered : question);
  markHidden();
}
function markHidden() {
  for (const box of [form.querySelector(".question"), ...texts]) {
    if (!box) continue;
    const more = getComputedStyle(box).overflowY === "auto" && box.scrollTop + box.clientHeight < box.scrollHeight - 2;
    box.classList.toggle("more", more);
    (box.matches(".question") ? box : box.parentElement).querySelector(".more-mark").hidden = !more;
  }
}
addEventListener("resize", fit);
document.addEventListener("scroll", markHidden, { capture: true, passive: true });
document.addEventListener("toggle", fit, true);

// Values by name.
function valueOf(key) {
  const found = form.elements[key];
  if (!found) return "";
  return found instanceof RadioNodeList || found.type !== "radio" ? found.value : found.checked ? found.value : "";
}
function setValue(key, value) {
  const found = form.elements[key];
  if (!found) return;
  const all = found instanceof RadioNodeList ? [...found] : [found];
  if (all[0].type === "radio") for (const one of all) one.checked = one.value === value;
  else found.value = value;
}

// A server that is there and takes nothing at this moment: too many changes in one minute, or a fault of its own.
let busy = false;
function available(answer) {
  busy = answer.status >= 500 || answer.status === 429;
  if (busy) throw new TypeError("busy");
}

// The queue: values only, never a text of the study; cleared when the server has them.
let queue = [];
try { queue = JSON.parse(memory.get(QUEUE + name) ?? "[]"); } catch { queue = []; }
const known = {};
// What the server has of this page, so that what was entered since can be told where it was not taken.
const stored = Object.fromEntries(new FormData(form));
// Between two tries, in milliseconds: the server's return is noticed within three seconds.
const LONGEST = 2000;
let sending = null, wait = 1000, timer = 0, handedIn = false;
const knownRev = (key) => known[key] ?? number(form.dataset.rev);

// Trying again at once; whoever wanted to go on does.
const tryNow = document.getElementById("try") ?? document.createElement("button");
tryNow.addEventListener("click", () => { wait = 1000; flush().then((done) => { if (done) back(); }); });
function show(state, text) {
  badge.dataset.state = state;
  badge.textContent = text;
  tryNow.hidden = state !== "offline";
}
function showSaved(at) {
  const time = new Date(at).toLocaleTimeString(root.lang, { hour: "2-digit", minute: "2-digit" });
  show("saved", badge.dataset.saved.replace("{time}", time));
}
function showOffline(n = queue.length) {
  if (busy) show("offline", badge.dataset.busy);
  else show("offline", n === 1 ? badge.dataset.offlineOne : badge.dataset.offlineMany.replace("{n}", n));
}
// As they are told: with what each is based on, so that another page of this device can tell them, too.
const pending = () => queue.map((c) => ({ ...c, base_rev: c.base_rev ?? knownRev(c.field) }));
function keep() {
  if (queue.length) memory.set(QUEUE + name, JSON.stringify(pending()));
  else memory.drop(QUEUE + name);
}
// As many changes as one message holds; a long text that was typed while the server was away is many.
const MOST_CHANGES = 200, MOST_LETTERS = 60000;
function portion(changes) {
  let letters = 0;
  const fits = changes.findIndex((c, n) => (letters += c.value.length + 200) > MOST_LETTERS && n > 0);
  return changes.slice(0, Math.min(MOST_CHANGES, fits < 0 ? changes.length : fits));
}
function changed(key) {
  if (closed) return;
  // Half a character and NUL, as some clipboards have them, are in no text.
  const value = valueOf(key).replace(/\0|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "");
  const last = queue.findLast((c) => c.field === key);
  if (last && last.value === value) return;
  queue.push({ id: random(), field: key, value, at: new Date().toISOString() });
  keep();
  flush();
}

async function post(url, changes, keepalive = false) {
  const body = { changes: changes.map((c) => ({ ...c, base_rev: c.base_rev ?? knownRev(c.field) })), visit: form.elements.visit.value, ...times() };
  return fetch(url, {
    method: "POST", credentials: "same-origin", keepalive, body: JSON.stringify(body),
    headers: { "content-type": "application/json", accept: "application/json", "x-csrf-token": csrf },
  });
}
function flush() {
  sending ??= send().finally(() => { sending = null; if (queue.length && badge.dataset.state !== "offline") flush(); });
  return sending;
}
// All that is on the screen: what is being typed, too, and what was chosen while something else was on its way.
async function flushAll() {
  typed();
  while (queue.length || sending) if (!(await flush())) return false;
  return true;
}
// What this window knows of, so that its own changes never conflict with one another: what it was told of each field,
// and what is on its way, which may have arrived without a word coming back.
function knowledge() {
  return { revisions: JSON.stringify(known), pending: JSON.stringify(portion(pending())) };
}
async function send() {
  clearTimeout(timer);
  const now = portion(queue);
  if (!now.length) return true;
  show("saving", badge.dataset.saving);
  // What a change is based on stays with it, so that telling it again after a lost answer is the same change.
  for (const c of now) c.base_rev ??= knownRev(c.field);
  let answer;
  try {
    answer = await post(saveUrl, now);
    available(answer);
  } catch {
    showOffline();
    timer = setTimeout(flush, wait);
    wait = LONGEST;
    return false;
  }
  wait = 1000;
  // Signed in anew in another window: the page comes again with its token, and what was said is told once more.
  const again = answer.status === 403 && now.some((c) => !c.again);
  if (again) { for (const c of now) c.again = true; keep(); showOffline(); }
  if (answer.status === 401 || again) { location.reload(); return false; }
  const told = answer.ok ? await answer.json().catch(() => null) : null;
  // An answer that was cut off says nothing of what arrived: it is told again.
  if (answer.ok && !told) { showOffline(); timer = setTimeout(flush, wait); return false; }
  queue = queue.slice(now.length);
  if (!told) { keep(); location.reload(); return false; }
  if (told.closed) { lose(now); location.reload(); return false; }
  for (const c of now) { known[c.field] = told.rev; stored[c.field] = c.value; }
  keep();
  for (const [key, value] of Object.entries(told.conflicts)) crossed(key, value);
  if (!queue.length) { showSaved(told.at); back(); }
  return true;
}
// The batch was closed meanwhile: what was not taken is told on the page that comes, in the words of its questions.
const LOST = "konsil:lost:";
function lose(changes) {
  const last = Object.fromEntries(changes.map((c) => [c.field, c.value]));
  const lines = Object.entries(last).map(([key, value]) => [key, value]);
  memory.set(LOST + name, JSON.stringify(lines));
  queue = [];
  keep();
}
function tellLost() {
  const place = document.getElementById("lost");
  let lines = [];
  try { lines = JSON.parse(memory.get(LOST + name) ?? "[]"); } catch {}
  memory.drop(LOST + name);
  if (!place || !closed || !lines.length) return;
  for (const [key, value] of lines) {
    const field = fieldOf(form.elements[key]);
    const row = place.querySelector("ul").appendChild(document.createElement("li"));
    row.textContent = `${field?.querySelector("legend").textContent ?? key} ${value || form.dataset.nothing}`;
  }
  place.hidden = false;
}
let crossings = 0;
function crossed(key, value) {
  const own = valueOf(key);
  queue = queue.filter((c) => c.field !== key);
  keep();
  clearTimeout(typing.get(key));
  typing.delete(key);
  setValue(key, value);
  // What another window says is looked at before anybody goes on.
  crossings += 1;
  stayHere();
  const here = fieldOf(form.elements[key]);
  if (here) {
    readBack(here);
    here.classList.add("crossed");
    here.querySelector(".fault").textContent =
      [form.dataset.here.replace("{value}", value || form.dataset.nothing), own && own !== value ? form.dataset.own.replace("{value}", own) : ""].join(" ").trim();
  }
}
// Another page cannot be fetched without a network: said here, before the browser shows a fault of its own. Whoever wanted
// to go on goes on by themselves when the network is back.
const away = document.getElementById("away"), delayed = document.getElementById("delayed");
let wanted = false;
function stayHere() {
  wanted = false;
  for (const one of [away, delayed]) if (one) one.hidden = true;
}
function goOnLater() {
  if (!away) return;
  away.hidden = busy;
  delayed.hidden = !busy;
  wanted = true;
}
function stay(event) {
  if (navigator.onLine || !away) return false;
  event.preventDefault();
  away.hidden = false;
  return true;
}
document.addEventListener("click", (event) => {
  if (event.target.closest?.("a[href]:not([target])")) stay(event);
});
function back() {
  const going = wanted;
  stayHere();
  if (going) goOn();
}
function retry() {
  if (queue.length) flush();
  else back();
}
addEventListener("online", () => { wait = 1000; flush().then((done) => { if (done) back(); }); });
addEventListener("pagehide", () => {
  if (closed || handedIn) return;
  typed();
  post(saveUrl, portion(queue), true).catch(() => {});
});
// A page that the browser had put by knows nothing of what was stored since.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

// Fields: the current one, moving, choosing.
let current = 0, going = false;
const fieldOf = (control) => (control instanceof RadioNodeList ? control[0] : control)?.closest?.(".asked");
const answered = (field) => {
  const key = field.dataset.field;
  return valueOf(key).trim() !== "" || !!field.querySelector("textarea:not([data-needed])");
};
// Where one types the answer itself, and not a reason.
const boxOf = (field) => field?.querySelector(":scope > input[type=text], :scope > textarea");
// A number is read back as it was understood; what can be read in two ways is asked about at once.
function readBack(field) {
  const text = valueOf(field.dataset.field), place = field.querySelector(".reading");
  if (!place) return;
  const { number: n } = readNumber(text);
  place.textContent = n ? `= ${new Intl.NumberFormat(root.lang, { maximumFractionDigits: 20 }).format(Number(n) + 0)}${place.dataset.unit ? `\u00a0${place.dataset.unit}` : ""}` : "";
}
// What is wrong with a number; nothing where it can be handed in.
function numberFault(field) {
  const text = valueOf(field.dataset.field), { range, either, low, high } = field.dataset;
  if (!range || !text.trim() || field.querySelector(`[data-fill="${CSS.escape(text)}"]`)) return "";
  const { number: n, whole, decimal } = readNumber(text);
  if (whole) return either.replace("{whole}", whole).replace("{decimal}", decimal.replace(".", 1.5.toLocaleString(root.lang)[1])).replace("{text}", text.trim());
  return n === undefined || (low && Number(n) < Number(low)) || (high && Number(n) > Number(high)) ? range : "";
}
function showFault(field, text) {
  field.classList.add("missing");
  field.querySelector(".fault").textContent = text;
}
// A sentence is marked as done when all its questions are answered.
function markSaid() {
  for (const group of form.querySelectorAll("[data-sentence].group")) {
    const said = [...group.querySelectorAll(".asked")].every(answered);
    for (const one of document.querySelectorAll(`mark[data-sentence="${group.dataset.sentence}"]`)) one.classList.toggle("said", said);
  }
}
function mark(n) {
  current = n;
  fields.forEach((field, k) => field.classList.toggle("here", k === n));
  const sentence = fields[n]?.closest("[data-sentence]")?.dataset.sentence;
  for (const one of document.querySelectorAll("mark")) one.classList.toggle("here", one.dataset.sentence === sentence);
  if (sentence) document.querySelector("mark.here")?.scrollIntoView({ block: "nearest" });
  markSaid();
  if (document.getElementById("codebook").matches(":popover-open")) openedBook();
}
// The focus rests on the question, on what was chosen, or where one types: never on an option that nobody chose, which
// Space would choose. On a page that just came it rests on the question whatever that is.
function move(n, scroll = true, fresh = false) {
  if (n < 0 || n >= fields.length) return;
  mark(n);
  const target = fresh ? fields[n] : fields[n].querySelector("input:checked") ?? boxOf(fields[n]) ?? fields[n];
  target.focus({ preventScroll: true });
  if (scroll) fields[n].scrollIntoView({ block: "nearest" });
}
function clearFault(field) {
  field.classList.remove("missing", "crossed");
  field.querySelector(".fault").textContent = "";
}
function choose(key) {
  const option = fields[current]?.querySelector(`input[data-key="${key}"]`);
  // While it is handed in, what was on the screen at that moment stands.
  if (!option || closed || going) return;
  option.checked = true;
  stayHere();
  clearFault(fields[current]);
  changed(option.name);
  if (current + 1 < fields.length) move(current + 1);
  else option.focus({ preventScroll: true });
}
function takeBack() {
  if (closed || going) return;
  const field = fields[current];
  for (const one of field?.querySelectorAll("input[type=radio]") ?? []) one.checked = false;
  if (field) changed(field.dataset.field);
}
form.addEventListener("focusin", (event) => {
  const n = fields.indexOf(event.target.closest(".asked"));
  if (n >= 0 && n !== current) mark(n);
});
form.addEventListener("change", (event) => {
  const field = event.target.closest(".asked");
  stayHere();
  if (!field) { typed(); return; }
  clearFault(field);
  markSaid();
  clearTimeout(typing.get(event.target.name));
  typing.delete(event.target.name);
  const fault = numberFault(field);
  if (fault) showFault(field, fault);
  changed(event.target.name);
});
// Typing is saved when it pauses, at the latest when something is done with it.
const typing = new Map();
function typed() {
  for (const [key, waiting] of typing) { clearTimeout(waiting); typing.delete(key); changed(key); }
}
form.addEventListener("input", (event) => {
  if (!event.target.matches("textarea, input[type=text]")) return;
  const key = event.target.name, field = event.target.closest(".asked");
  // Whoever writes on wants to stay: the next page would take the rest of the word for keys.
  stayHere();
  if (field) { clearFault(field); readBack(field); }
  clearTimeout(typing.get(key));
  typing.set(key, setTimeout(typed, 700));
});
form.addEventListener("click", (event) => {
  const sentence = event.target.closest("mark")?.dataset.sentence;
  if (sentence) move(fields.findIndex((field) => field.closest(".group").dataset.sentence === sentence));
  const filler = event.target.closest("[data-fill]");
  if (!filler) return;
  const field = filler.closest(".asked");
  setValue(field.dataset.field, filler.dataset.fill);
  clearFault(field);
  readBack(field);
  changed(field.dataset.field);
});

// The codebook, opened at the current question.
const book = document.getElementById("codebook");
function openedBook() {
  for (const section of book.querySelectorAll("section")) section.classList.remove("here");
  const section = document.getElementById("book-" + fields[current]?.dataset.anchor);
  section?.classList.add("here");
  section?.scrollIntoView({ block: "start" });
}
book.addEventListener("toggle", (event) => { if (event.newState === "open") openedBook(); });

// Keys.
const shortcuts = document.getElementById("shortcuts");
shortcuts.checked = memory.get(KEYS) !== "off";
const applyKeys = () => document.body.classList.toggle("no-keys", !shortcuts.checked);
shortcuts.addEventListener("change", () => { memory.set(KEYS, shortcuts.checked ? "on" : "off"); applyKeys(); });
applyKeys();
const ARROWS = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 };
const pages = (event) => ({ PageUp: -1, PageDown: 1, " ": event.shiftKey ? -1 : 1 })[event.key] ?? 0;
// All answers scroll together; false where they do not scroll by themselves but with the page.
function scrollAnswers(by) {
  const long = [...document.querySelectorAll(".pane .scroll")].filter((one) => one.scrollHeight > one.clientHeight + 1);
  for (const one of long) one.scrollBy({ top: by * one.clientHeight * 0.85 });
  return long.length > 0;
}
const writing = (target) => target.matches?.("textarea, input[type=text]");
const openPanel = () => document.querySelector("[popover]:popover-open");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) {
    if (event.key === "Enter" && event.ctrlKey) { event.preventDefault(); if (!event.repeat) goOn(); }
    return;
  }
  if (event.key === "Escape" && openPanel()) { openPanel().hidePopover(); return; }
  if (!shortcuts.checked) return;
  const elsewhere = event.target.closest?.("button, a, summary, .panel, header");
  if (event.key === "Enter" && !elsewhere && !event.target.matches("textarea")) { event.preventDefault(); if (!event.repeat) goOn(); return; }
  if (writing(event.target)) return;
  // A key that is held down is pressed once: it answers one question, and hands one page in.
  if (event.repeat && /^[0-9]$/.test(event.key)) { event.preventDefault(); return; }
  if (event.target.closest?.(".panel") && !book.contains(event.target)) return;
  // What is typed where an answer is to be written goes there.
  const box = elsewhere || closed ? null : boxOf(fields[current]);
  if (box && (box.matches("textarea") ? /^\S$/u : /^[0-9.,+\u2212-]$/).test(event.key)) {
    box.focus();
    box.setSelectionRange(box.value.length, box.value.length);
    return;
  }
  const chosen = event.target.matches?.("input:checked");
  if (/^[0-9]$/.test(event.key)) { event.preventDefault(); choose(event.key); }
  else if (event.key in ARROWS && !event.target.closest?.(".scroll, .question, .panel")) { event.preventDefault(); move(current + ARROWS[event.key]); }
  else if (event.key === " " && (elsewhere || event.target.matches("input:not(:checked)"))) return;
  else if (pages(event) && scrollAnswers(pages(event))) event.preventDefault();
  else if (event.key === " " && chosen) { event.preventDefault(); scrollBy(0, pages(event) * innerHeight * 0.85); }
  else if (event.key === "Backspace") { event.preventDefault(); takeBack(); }
  else if (event.key === "g" || event.key === "G") { event.preventDefault(); book.togglePopover(); }
  else if (event.key === "?") { event.preventDefault(); document.getElementById("keys").togglePopover(); }
});

// Going on: what is missing is shown first; then everything is sent once more, so that no autosave is relied on.
function goOn() {
  if (closed) { document.getElementById("go").click(); return; }
  const needs = fields.map((field) => (answered(field) ? numberFault(field) : form.dataset.missing));
  const open = needs.findIndex((need) => need);
  if (open < 0) { form.requestSubmit(document.getElementById("go")); return; }
  needs.forEach((need, n) => { if (need) showFault(fields[n], need); });
  move(open);
}
// A hidden field of the form; one that only this module sends is made here.
function carry(key, value) {
  const field = form.elements[key] ?? form.appendChild(Object.assign(document.createElement("input"), { type: "hidden", name: key }));
  field.value = value;
}
form.addEventListener("submit", async (event) => {
  if (event.submitter?.hasAttribute("formaction")) {
    if (stay(event)) return;
    typed();
    for (const [key, value] of Object.entries(knowledge())) carry(key, value);
    return;
  }
  event.preventDefault();
  if (going) return;
  if (fields.some((field) => !answered(field) || numberFault(field))) { goOn(); return; }
  going = true;
  try {
    const crossingsBefore = crossings;
    await flushAll();
    typed();
    if (crossings !== crossingsBefore) { move(fields.findIndex((field) => field.matches(".crossed")), true); return; }
    for (const [key, value] of Object.entries({ ...times(), ...knowledge() })) carry(key, value);
    const answer = await fetch(form.action, {
      method: "POST", credentials: "same-origin", headers: { accept: "application/json" },
      body: new URLSearchParams(new FormData(form)),
    });
    if (answer.status === 401 || answer.status === 403) { location.reload(); return; }
    available(answer);
    const told = await answer.json();
    if (told.closed) {
      lose(fields.flatMap((field) => [...field.querySelectorAll("[name]")].map((one) => one.name))
        .filter((key, n, all) => all.indexOf(key) === n && valueOf(key) !== (stored[key] ?? ""))
        .map((key) => ({ field: key, value: valueOf(key) })));
      handedIn = true;
      location.reload();
      return;
    }
    // What was handed in told its times with it: there is nothing more to tell on leaving.
    if (told.go) { queue = []; keep(); handedIn = true; location.assign(told.go); return; }
    // Not this page's any more, or unlike what a server of this version says: the page tells which when it comes anew.
    if (!told.conflicts && !told.problems) { location.reload(); return; }
    for (const [key, value] of Object.entries(told.conflicts ?? {})) { crossed(key, value); known[key] = told.rev; }
    for (const key of told.problems ?? []) {
      const field = fields.find((one) => one.dataset.field === key);
      if (!field) continue;
      showFault(field, field.dataset.fault ?? (numberFault(field) || (field.dataset.range ?? form.dataset.missing)));
      if (field.dataset.fault) move(fields.indexOf(field));
    }
  } catch {
    // Offline: what was said is in the queue; Next works again when the network is back.
    showOffline(queue.length || fields.length);
    goOnLater();
    // Nothing of it may be left to save, and still it was not handed in: the next try goes on by itself.
    clearTimeout(timer);
    timer = setTimeout(retry, wait);
  } finally {
    going = false;
  }
});

tellLost();

// Begin: what this device kept comes first, then the first open question.
for (const c of queue) setValue(c.field, c.value);
fit();
new ResizeObserver(() => requestAnimationFrame(fit)).observe(form);
if (queue.length) flush();
else if (number(form.dataset.rev)) badge.textContent = "";
if (!closed && fields.length) {
  // Why something is changed is asked only once something is.
  const open = fields.findIndex((field) => valueOf(field.dataset.field) === "" && !field.matches(".change"));
  // Who comes new to a task reads first; who comes back goes on where they were.
  move(Math.max(open, 0), open > 0, true);
}
fields.forEach(readBack);
// Other tasks of this device that were answered while the network was away.
try {
  for (const key of Object.keys(localStorage).filter((k) => k.startsWith(QUEUE) && k !== QUEUE + name)) {
    const other = key.slice(QUEUE.length);
    const changes = JSON.parse(memory.get(key) ?? "[]");
    const body = JSON.stringify({ changes: changes.map((c) => ({ base_rev: 0, ...c })), visit: "" });
    // What does not fit into one message is told by its own page.
    const part = portion(changes).length;
    if (part < changes.length) continue;
    fetch(saveUrl.replace(name, other), {
      method: "POST", credentials: "same-origin", body,
      headers: { "content-type": "application/json", accept: "application/json", "x-csrf-token": csrf },
    }).then((answer) => {
      // Who is signed in here may be another than who said it; it waits for them, but not for ever.
      const old = !(Date.now() - Date.parse(changes.at(-1)?.at) < 30 * 86400000);
      if (answer.ok || (answer.status === 404 && old)) memory.drop(key);
    }).catch(() => {});
  }
} catch {}
