// What scrolls can be reached by the keyboard, and says what it is.
function reachable() {
  for (const [selector, label] of [
    [".md-typeset pre > code", "Code"],
    [".md-typeset__scrollwrap", "Table"],
    [".md-sidebar__scrollwrap", "Navigation"],
  ]) {
    document.querySelectorAll(selector).forEach((each, number) => {
      each.tabIndex = 0;
      each.setAttribute("role", "group");
      each.setAttribute("aria-label", `${label} ${number + 1}`);
    });
  }
  document.querySelectorAll("input.md-option[aria-hidden]").forEach((each) => { each.tabIndex = -1; });
  document.querySelectorAll(".md-search").forEach((each) => each.setAttribute("aria-label", "Search"));
  document.querySelectorAll(".md-toggle").forEach((each) => {
    each.setAttribute("aria-label", each.dataset.mdToggle);
  });
  document.querySelectorAll(".task-list-item input").forEach((each) => {
    each.setAttribute("aria-label", "to check");
  });
}
document.addEventListener("DOMContentLoaded", reachable);
if (window.document$) window.document$.subscribe(reachable);
