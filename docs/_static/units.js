// Filters above the table of units: a text field, and a choice for each of some columns. Heads sort.
document.addEventListener("DOMContentLoaded", () => {
  const table = document.querySelector("table.units");
  if (!table) return;
  const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  const rows = [...table.tBodies[0].rows];
  const bar = document.createElement("form");
  bar.className = "unit-filters";
  bar.addEventListener("submit", (event) => event.preventDefault());

  const add = (name, control) => {
    const label = document.createElement("label");
    label.append(name, control);
    control.addEventListener("input", update);
    bar.append(label);
  };
  const text = document.createElement("input");
  text.type = "search";
  text.placeholder = "part of a name";
  add("unit", text);

  const choices = ["architecture", "a", "b", "D", "K", "evidence", "status"].map((name) => {
    const column = heads.indexOf(name);
    const values = [...new Set(rows.map((row) => row.cells[column].textContent))];
    if (name === "K") values.sort((x, y) => x - y);
    const select = document.createElement("select");
    select.add(new Option("all", ""));
    values.forEach((value) => select.add(new Option(value, value)));
    if (name === "status") select.value = "accepted";
    add(name, select);
    return { column, select };
  });
  const count = document.createElement("output");
  bar.append(count);

  function update() {
    const part = text.value.toLowerCase();
    let shown = 0;
    for (const row of rows) {
      const fits =
        row.cells[0].textContent.toLowerCase().includes(part) &&
        choices.every(({ column, select }) => !select.value || row.cells[column].textContent === select.value);
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${rows.length} rows`;
  }
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
  table.closest("div.units").before(bar);
  update();
});
