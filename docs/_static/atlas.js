// Filters above the atlas: formats, K, and a part of a unit's name.
document.addEventListener("DOMContentLoaded", () => {
  const atlas = document.querySelector("div.atlas");
  if (!atlas) return;
  const sections = [...atlas.querySelectorAll("section")];
  const bar = document.createElement("form");
  bar.className = "unit-filters";
  bar.addEventListener("submit", (event) => event.preventDefault());
  const add = (name, control) => {
    const label = document.createElement("label");
    label.append(name, control);
    control.addEventListener("input", update);
    bar.append(label);
    return control;
  };
  const choice = (key, compare) => {
    const select = document.createElement("select");
    select.add(new Option("all", ""));
    const values = [...new Set(sections.map((section) => section.dataset[key]))].sort(compare);
    values.forEach((value) => select.add(new Option(value, value)));
    return select;
  };
  const text = document.createElement("input");
  text.type = "search";
  text.placeholder = "part of a name";
  add("unit", text);
  const types = add("formats (D, A, B, C)", choice("types"));
  const k = add("K", choice("k", (x, y) => x - y));
  const count = document.createElement("output");
  bar.append(count);

  function update() {
    const part = text.value.toLowerCase();
    let shown = 0;
    for (const section of sections) {
      const names = section.querySelector("table.matrix").textContent.toLowerCase();
      const fits =
        names.includes(part) &&
        (!types.value || section.dataset.types === types.value) &&
        (!k.value || section.dataset.k === k.value);
      section.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${sections.length} tables`;
  }
  atlas.before(bar);
  update();
});
