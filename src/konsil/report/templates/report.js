"use strict";
// The page reads whole without this: it adds a filter, opens what a link points to, and prints closed
// sections in browsers whose style sheets cannot.
const parts = [...document.querySelectorAll("details")];
const filter = document.querySelector(".filter");
const box = filter.querySelector("input");
const count = filter.querySelector("output");
const appendix = [...document.querySelectorAll("details.part")];
function show() {
  const word = box.value.trim().toLocaleLowerCase();
  let n = 0;
  for (const part of appendix) {
    const sections = [...part.querySelectorAll(":scope > .analysis")];
    const fits = element => !word || element.textContent.toLocaleLowerCase().includes(word);
    for (const section of sections) section.hidden = !fits(section);
    part.hidden = !fits(part);
    part.open = Boolean(word) && !part.hidden;
    n += part.hidden ? 0 : 1;
  }
  count.textContent = word ? `${n} / ${appendix.length}` : "";
}
function reveal() {
  let target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (; target; target = target.parentElement) if (target.tagName === "DETAILS") target.open = true;
}
filter.hidden = false;
box.addEventListener("input", show);
addEventListener("hashchange", reveal);
let closed = [];
addEventListener("beforeprint", () => {
  if (!document.getElementById("print-all").checked) return;
  closed = parts.filter(part => !part.open);
  for (const part of closed) part.open = true;
});
addEventListener("afterprint", () => {
  for (const part of closed) part.open = false;
  closed = [];
});
reveal();
