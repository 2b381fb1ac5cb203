"use strict";
// Tables sort by the buttons in their heads: numbers from the largest, texts from A; what is empty stays last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, place) => head.firstElementChild.addEventListener("click", () => {
    const numbers = head.classList.contains("number");
    const before = head.getAttribute("aria-sort");
    const rising = before ? before === "descending" : !numbers;
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const text = (row) => row.cells[place].textContent.trim();
    const number = (row) => parseFloat(text(row).replaceAll(",", ""));
    const compared = numbers
      ? (one, other) => number(one) - number(other)
      : (one, other) => text(one).localeCompare(text(other), "en", { numeric: true });
    const rows = [...table.tBodies[0].rows];
    const empty = rows.filter((row) => text(row) === "");
    const filled = rows.filter((row) => text(row) !== "").sort((one, other) => (rising ? 1 : -1) * compared(one, other));
    table.tBodies[0].append(...filled, ...empty);
  }));
}
