"use strict";
// Everything works without this file; it only asks the server sooner for what it would say anyhow.
const later = (act, wait) => {
  let timer;
  return (...given) => { clearTimeout(timer); timer = setTimeout(() => act(...given), wait); };
};
const asked = async (path, form) => {
  const answer = await fetch(path, { method: "POST", body: new URLSearchParams(form) });
  return answer.ok ? answer.text() : "";
};

// What is said of a column, as it is typed.
const columns = document.querySelector("form[data-said]");
for (const kind of ["input", "change"]) columns?.addEventListener(kind, (event) => {
  const column = event.target.closest(".column");
  if (column) (column.say ??= later(async () => {
    const said = await asked(columns.dataset.said, [...new FormData(columns), ["id", column.id]]);
    if (said) column.querySelector(".said").innerHTML = said;
  }, 350))();
});

// What a budget gives, as the slider moves.
const budget = document.querySelector("form[data-expected]");
if (budget) {
  const { epsilon } = budget.elements, slide = budget.querySelector("#slide"), shown = budget.querySelector(".expected");
  const expect = later(async () => {
    shown.setAttribute("aria-busy", "true");
    const said = await asked(budget.dataset.expected, new FormData(budget));
    if (said) shown.innerHTML = said;
    shown.setAttribute("aria-busy", "false");
  }, 250);
  const follow = () => { slide.value = Math.log10(parseFloat(epsilon.value.replace(",", ".")) || 1); };
  slide.hidden = false;
  follow();
  slide.addEventListener("input", () => { epsilon.value = Number((10 ** slide.value).toPrecision(2)); expect(); });
  budget.addEventListener("input", (event) => {
    if (event.target === epsilon) follow();
    if (["rows", "epsilon", "delta"].includes(event.target.name)) expect();
  });
}

// How far a run is; when it ends, its page says so.
const progress = document.querySelector("[data-progress]");
if (progress) {
  const timer = setInterval(async () => {
    try {
      const answer = await fetch(progress.dataset.progress);
      if (!answer.ok) return;
      const said = await answer.text();
      const state = /data-state="(\w+)"/.exec(said)?.[1];
      if (state !== "running") { clearInterval(timer); location.replace("/run"); return; }
      if (said !== progress.said) progress.innerHTML = progress.said = said;
    } catch { /* the studio was closed: the page stays as it is, and asks again */ }
  }, 2000);
}
const waiting = document.querySelector("[data-reload]");
if (waiting) setInterval(() => location.replace(waiting.dataset.reload), 3000);

// A column that something leads to opens, and forms are sent once.
const target = document.getElementById(location.hash.slice(1));
addEventListener("load", () => setTimeout(() => target?.querySelector("select, input")?.focus()));
for (const form of document.forms) form.addEventListener("submit", () => {
  setTimeout(() => { for (const each of form.querySelectorAll("button")) each.disabled = true; });
});
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
