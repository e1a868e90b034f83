// Filters above tables: a text field for a part of a name, and a choice for each property of an item.
// place: the element that they stand before. items: the elements that are shown or hidden. nameOf: an item's
// text. properties: of each {name, valueOf, compare, chosen}; compare and chosen may be left out.
// noun: what is counted.
function addFilters(place, items, nameOf, properties, noun) {
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
  const text = document.createElement("input");
  text.type = "search";
  text.placeholder = "part of a name";
  add("unit", text);
  const choices = properties.map(({ name, valueOf, compare, chosen = "" }) => {
    const select = document.createElement("select");
    select.add(new Option("all", ""));
    const values = [...new Set(items.map(valueOf))];
    if (compare) values.sort(compare);
    values.forEach((value) => select.add(new Option(value, value)));
    select.value = chosen;
    return { valueOf, select: add(name, select) };
  });
  const count = document.createElement("output");
  bar.append(count);

  function update() {
    const part = text.value.toLowerCase();
    let shown = 0;
    for (const item of items) {
      const fits =
        nameOf(item).toLowerCase().includes(part) &&
        choices.every(({ valueOf, select }) => !select.value || valueOf(item) === select.value);
      item.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${items.length} ${noun}`;
  }
  place.before(bar);
  update();
}
