// Filters above the table of units: a part of a name, and a choice for each of some columns. Heads sort.
document.addEventListener("DOMContentLoaded", () => {
  const table = document.querySelector("table.units");
  if (!table) return;
  const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  const rows = [...table.tBodies[0].rows];
  const properties = ["architecture", "a", "b", "D", "K", "evidence", "status"].map((name) => {
    const column = heads.indexOf(name);
    return { name, valueOf: (row) => row.cells[column].textContent };
  });
  properties.find(({ name }) => name === "K").compare = (x, y) => x - y;
  properties.find(({ name }) => name === "status").chosen = "accepted";
  addFilters(table.closest("div.units"), rows, (row) => row.cells[0].textContent, properties, "rows");

  const number = /^-?\d+$/;
  const order = (x, y) => (number.test(x) && number.test(y) ? x - y : x.localeCompare(y));
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...cell.childNodes);
    button.addEventListener("click", () => {
      const down = cell.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.cells[column].textContent;
      rows.sort((x, y) => order(key(x), key(y)) * (down ? -1 : 1));
      table.tBodies[0].append(...rows);
    });
    cell.append(button);
  });
});
