// Marking a case: words are selected with mouse, finger or keyboard; every change is sent at once, and the server's
// page is put in the place of what it shows anew. Without this module the page's forms do the same.

const root = document.documentElement;
const badge = document.getElementById("badge");
const marker = document.getElementById("marker");
const narrative = () => document.getElementById("narrative");
root.classList.add("scripted");

// The server's own page is the only text that is ever read as HTML.
const trusted = globalThis.trustedTypes?.createPolicy("konsil", { createHTML: (html) => html });
const parsed = (html) => new DOMParser().parseFromString(trusted ? trusted.createHTML(html) : html, "text/html");

// Where the texts are: every run says at which character of the narrative it begins. Characters are code points.
const points = (text) => [...text].length;
function pieces() {
  return [...narrative().querySelectorAll("[data-at]")].filter((e) => e.firstChild)
    .map((e) => ({ node: e.firstChild, at: Number(e.dataset.at), text: e.firstChild.data }));
}
function offsetOf(node, n) {
  if (node.nodeType === Node.TEXT_NODE) {
    const run = node.parentElement.closest("[data-at]");
    return run ? Number(run.dataset.at) + points(node.data.slice(0, n)) : null;
  }
  const all = pieces();
  const child = node.childNodes[n];
  const next = child ? all.find((p) => child.contains(p.node) || child.compareDocumentPosition(p.node) & Node.DOCUMENT_POSITION_FOLLOWING) : null;
  if (next) return next.at;
  const inside = all.filter((p) => node.contains(p.node)).at(-1) ?? all.at(-1);
  return inside ? inside.at + points(inside.text) : null;
}
function selected() {
  const found = getSelection();
  if (!found.rangeCount || found.isCollapsed) return null;
  const range = found.getRangeAt(0);
  if (!narrative().contains(range.startContainer) || !narrative().contains(range.endContainer)) return null;
  const start = offsetOf(range.startContainer, range.startOffset), end = offsetOf(range.endContainer, range.endOffset);
  return start === null || end === null || start >= end ? null : { start, end, words: found.toString() };
}
let chosen = null, clearing = 0;
function choose(span) {
  clearTimeout(clearing);
  chosen = span;
  marker.elements.start.value = span ? span.start : "";
  marker.elements.end.value = span ? span.end : "";
  if (span || document.activeElement !== marker.elements.words) marker.elements.words.value = span ? span.words.trim().replace(/\s+/g, " ") : "";
  marker.classList.toggle("ready", Boolean(span));
}

// By keyboard: from word to word, Shift adds words.
const WORD = /[\p{L}\p{N}]+(?:[-'’.,/%°][\p{L}\p{N}]+)*/gu;
let anchor = -1, focus = -1;
function words() {
  const all = pieces(), text = all.map((p) => p.text).join(""), ends = [];
  let sum = 0;
  for (const p of all) ends.push(sum += p.text.length);
  const spot = (n, last) => {
    const k = ends.findIndex((end) => (last ? n <= end : n < end));
    return [all[k].node, n - (k ? ends[k - 1] : 0)];
  };
  return [...text.matchAll(WORD)].map((m) => ({ from: spot(m.index, false), to: spot(m.index + m[0].length, true) }));
}
const boxOf = (word) => {
  const range = document.createRange();
  range.setStart(...word.from);
  range.setEnd(...word.to);
  return range.getBoundingClientRect();
};
function above(all, here, way) {
  const from = boxOf(all[here]);
  let best = here, line = null, near = Infinity;
  for (let n = here + way; n >= 0 && n < all.length; n += way) {
    const box = boxOf(all[n]);
    if (Math.abs(box.top - from.top) < from.height / 2) continue;
    line ??= box.top;
    if (Math.abs(box.top - line) > box.height / 2) break;
    const away = Math.abs(box.left - from.left);
    if (away < near) [near, best] = [away, n];
  }
  return best;
}
function step(event) {
  const all = words();
  if (!all.length) return;
  const last = all.length - 1;
  const here = Math.min(Math.max(focus, 0), last);
  const to = { ArrowRight: focus < 0 ? 0 : here + 1, ArrowLeft: here - 1, ArrowUp: above(all, here, -1), ArrowDown: above(all, here, 1), Home: 0, End: last }[event.key];
  event.preventDefault();
  focus = Math.min(Math.max(to, 0), last);
  if (!event.shiftKey || anchor < 0) anchor = focus;
  const [a, b] = anchor <= focus ? [all[anchor], all[focus]] : [all[focus], all[anchor]];
  getSelection().setBaseAndExtent(...a.from, ...b.to);
  // Browsers tell of a changed selection later; who types fast has gone on by then.
  choose(selected());
  all[focus].from[0].parentElement.scrollIntoView({ block: "nearest" });
}
if (marker) {
  document.addEventListener("selectionchange", () => {
    const span = selected();
    if (span) choose(span);
    // A finger on a button takes the selection away before the button is pressed.
    else if (chosen && document.activeElement === narrative()) clearing = setTimeout(choose, 500, null);
  });
  document.addEventListener("keydown", (event) => {
    if (document.activeElement !== narrative() || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(Arrow(Left|Right|Up|Down)|Home|End)$/.test(event.key)) step(event);
    else if (event.key === "Escape") { getSelection().removeAllRanges(); anchor = focus = -1; choose(null); }
    else if (/^[1-5]$/.test(event.key) && chosen) { event.preventDefault(); marker.requestSubmit(marker.querySelectorAll(".kind")[event.key - 1]); }
    else if (event.key === "Enter" && chosen) { event.preventDefault(); marker.querySelector(".kind").focus(); }
  });
  // Where a mouse or a finger put the selection, the keyboard goes on from there.
  document.addEventListener("pointerup", () => { anchor = focus = -1; });
  marker.elements.words.addEventListener("input", () => { marker.elements.start.value = marker.elements.end.value = ""; chosen = null; });
}

// Changes wait for one another; one that could not be sent is tried again until it can.
const queue = [];
let sending = false;
function show(state) {
  badge.dataset.state = state;
  badge.textContent = badge.dataset[state] ?? "";
}
function send(form, fields) {
  const same = queue.findLastIndex((one, n) => (n > 0 || !sending) && one.get("do") === "word" && one.get("place") === fields.get("place"));
  if (fields.get("do") === "word" && same >= 0) queue[same] = fields;
  else queue.push(fields);
  if (!sending) flush(form.action);
}
async function flush(url) {
  sending = true;
  while (queue.length) {
    show("saving");
    const fields = queue[0];
    // What was seen last is what this change follows on: changes of this window never cross one another.
    fields.set("seen", document.querySelector("[name=seen]").value);
    fields.set("csrf", document.querySelector("[name=csrf]").value);
    let page = null;
    try {
      const answer = await fetch(url, { method: "POST", credentials: "same-origin", body: new URLSearchParams(fields) });
      if (answer.status >= 500) throw new TypeError("busy");
      if (answer.status === 401) { location.reload(); return; }
      page = parsed(await answer.text());
    } catch {
      show("offline");
      await new Promise((done) => setTimeout(done, 2000));
      continue;
    }
    queue.shift();
    if (page.getElementById("narrative")) swap(page, queue.some((one) => one.get("do") === "word"));
    else { location.reload(); return; }
    // What was refused was not saved; the page says why.
    show(page.querySelector("#told .notice") ? "refused" : "saved");
  }
  sending = false;
}
addEventListener("beforeunload", (event) => { if (queue.length || later.size) event.preventDefault(); });

function swap(page) {
  const had = document.activeElement;
  const typing = had?.matches("input[type=text]") && had.closest("[data-swap]") ? { value: had.value, from: had.selectionStart, to: had.selectionEnd } : null;
  const inside = had?.closest("[data-swap]"), id = had?.id;
  const open = [...document.querySelectorAll("details[open][id]")].map((one) => one.id);
  const scrolled = document.getElementById("marks")?.scrollTop ?? 0;
  for (const fresh of page.querySelectorAll("[data-swap]")) {
    const old = document.getElementById(fresh.id);
    if (old) old.replaceWith(document.adoptNode(fresh));
  }
  for (const one of open) document.getElementById(one)?.setAttribute("open", "");
  document.getElementById("marks")?.scrollTo(0, scrolled);
  if (inside) {
    const again = (id && document.getElementById(id)) || document.getElementById(inside.id);
    if (typing && again?.matches("input")) again.value = typing.value;
    if (again && !again.matches("input, button:not(:disabled), select, #narrative")) again.tabIndex = -1;
    again?.focus({ preventScroll: true });
    if (typing && again?.matches("input")) again.setSelectionRange(typing.from, typing.to);
  }
  if (marker && page.querySelector("#told .notice") === null) { choose(null); marker.reset(); }
  anchor = -1;
  document.querySelector("#told .notice")?.scrollIntoView({ block: "nearest" });
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("#marker, .saves, #told form")) return;
  event.preventDefault();
  const fields = new FormData(form, event.submitter);
  if (form === marker && !fields.get("words").trim()) { narrative().focus(); return; }
  send(form, fields);
});
document.addEventListener("change", (event) => {
  const form = event.target.closest("form.auto");
  if (form) send(form, new FormData(form));
});
const later = new Map();
document.addEventListener("input", (event) => {
  const form = event.target.closest("form.word");
  if (!form) return;
  const key = event.target.id;
  clearTimeout(later.get(key));
  later.set(key, setTimeout(() => { later.delete(key); send(form, new FormData(form)); }, 700));
});
document.addEventListener("focusout", (event) => {
  const form = event.target.closest?.("form.word");
  if (!form || !later.has(event.target.id)) return;
  clearTimeout(later.get(event.target.id));
  later.delete(event.target.id);
  send(form, new FormData(form));
});
