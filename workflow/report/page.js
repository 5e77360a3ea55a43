"use strict";

// Sorting: a click sorts upwards, the next one downwards, the third one restores the order of the paper.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (head.hasAttribute("data-fixed")) return;
    const sort = () => {
      const before = head.getAttribute("aria-sort");
      const next = before === null ? "ascending" : before === "ascending" ? "descending" : null;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      if (next === null) {
        body.replaceChildren(...original);
        return;
      }
      head.setAttribute("aria-sort", next);
      const rows = original.filter((row) => !row.classList.contains("group"));
      const sign = next === "ascending" ? 1 : -1;
      rows.sort((left, right) => compare(left.cells[column], right.cells[column], sign));
      body.replaceChildren(...rows); // groups make no sense in another order
    };
    head.tabIndex = 0;
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        sort();
      }
    });
  });
}

// What has no value stands last, whichever way it is sorted.
function compare(left, right, sign) {
  const [a, b] = [left, right].map((cell) => cell.dataset.value ?? cell.textContent.trim());
  if (a === "" || b === "") return (a === "") - (b === "");
  const [x, y] = [Number(a), Number(b)];
  return sign * (Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y);
}

// Copying: by the clipboard where the browser allows it, else by a hidden field.
for (const button of document.querySelectorAll("button.copy")) {
  const label = button.textContent;
  button.addEventListener("click", async () => {
    let done = true;
    try {
      await navigator.clipboard.writeText(button.dataset.text);
    } catch {
      const field = document.createElement("textarea");
      field.value = button.dataset.text;
      document.body.append(field);
      field.select();
      done = document.execCommand("copy");
      field.remove();
    }
    button.textContent = done ? "copied" : "cannot copy";
    setTimeout(() => (button.textContent = label), 1500);
  });
}
