"use strict";
// Everything works without this file; it only asks the server sooner for what it would say anyhow.

// What is typed is said something of: of the part of a form that it belongs to, or of all of it.
for (const form of document.querySelectorAll("form[data-live]")) {
  for (const kind of ["input", "change"]) form.addEventListener(kind, (event) => {
    const part = form.dataset.part ? event.target.closest(form.dataset.part) : form;
    if (!part) return;
    clearTimeout(part.timer);
    part.timer = setTimeout(async () => {
      const body = new URLSearchParams([...new FormData(form), ["id", part.id]]);
      const answer = await fetch(form.dataset.live, { method: "POST", body });
      if (answer.ok) part.querySelector(form.dataset.into).innerHTML = await answer.text();
    }, 300);
  });
}

// How dates and yes or no are usually written stands in the fields of a kind when it is chosen.
for (const form of document.querySelectorAll("[data-proposed]")) {
  const usual = new Map(form.dataset.proposed.split(";").map((each) => each.split("=")));
  form.addEventListener("change", ({ target }) => {
    const asked = target.value === "boolean" ? "words" : "format";
    const field = form.elements[target.name.replace(/kind$/, asked)];
    const is_free = !field?.value || [...usual.values()].includes(field.value);
    if (!target.name.endsWith(".kind") || !is_free || !usual.has(target.value)) return;
    field.value = usual.get(target.value);
  });
}

// The slider is another way to type epsilon.
const slide = document.getElementById("slide");
const epsilon = document.getElementById("epsilon");
if (slide) {
  const follow = () => {
    slide.value = Math.log10(parseFloat(epsilon.value.replace(",", ".")) || 1);
  };
  slide.hidden = false;
  follow();
  epsilon.addEventListener("input", follow);
  slide.addEventListener("input", () => { 
    const value = Number((10 ** slide.value).toPrecision(2));
    epsilon.value = value.toLocaleString(document.documentElement.lang);
  });
}

// How far a run is, asked for at fixed times whatever it does; when it ends, its page says so.
const progress = document.querySelector("[data-progress]");
if (progress) {
  const timer = setInterval(async () => {
    const answer = await fetch(progress.dataset.progress).catch(() => ({})); // it was closed
    const said = answer.ok ? await answer.text() : progress.said;
    if (said === progress.said) return;
    progress.innerHTML = progress.said = said;
    if (progress.querySelector("[data-state=running]")) return;
    clearInterval(timer);
    location.replace("/run");
  }, 2000);
}
const waiting = document.querySelector("[data-reload]");
if (waiting) setInterval(() => location.replace(waiting.dataset.reload), 3000);

// A studio that was closed is said to be, within seconds, and so is that it is there again.
setInterval(async () => {
  const answer = await fetch("/studio.js", { method: "HEAD" }).catch(() => ({}));
  document.getElementById("lost").hidden = answer.ok === true;
}, 3000);

// What is typed in the form of a step goes along with other forms, and is not left without a word.
const said = document.getElementById("said");
const typed = new Set(document.querySelectorAll("[data-typed]"));
addEventListener("input", ({ target }) => {
  if (target.form?.method === "post") typed.add(target.form);
});
addEventListener("beforeunload", (event) => { if (typed.size) event.preventDefault(); });
addEventListener("formdata", (event) => {
  if (!said || event.target === said) return;
  for (const [name, text] of new FormData(said)) {
    if (!["key", "version"].includes(name)) event.formData.append(name, text);
  }
});

// Leaving by the walk saves what is typed in the form of a step; what is refused is said first.
for (const link of document.querySelectorAll(".walk a")) link.addEventListener("click", (event) => {
  const [form, other] = typed;
  if (other || !form?.dataset.kept) return;
  event.preventDefault();
  for (const [name, value] of [["action", form.dataset.kept], ["leads", link.pathname.slice(1)]]) {
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
  }
  typed.clear();
  form.submit();
});

// What something leads to, or what was refused, is opened and has the focus; forms are sent once.
const alert = document.querySelector("main > [role=alert]");
const revealed = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) if (at.open === false) at.open = true;
  const inputs = "select, textarea, input:not([type=hidden], [name=some])";
  return target?.matches(inputs) ? target : target?.querySelector(inputs);
};
revealed();
addEventListener("load", () => setTimeout(() => (alert ?? revealed())?.focus()));
addEventListener("hashchange", () => revealed()?.focus());
for (const form of document.forms) form.addEventListener("submit", () => {
  typed.clear();
  setTimeout(() => { for (const each of form.elements) each.disabled ||= each.type === "submit"; });
});
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
