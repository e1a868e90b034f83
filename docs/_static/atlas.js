// Filters above the atlas: formats, K, and a part of a unit's name.
document.addEventListener("DOMContentLoaded", () => {
  const atlas = document.querySelector("div.atlas");
  if (!atlas) return;
  const sections = [...atlas.querySelectorAll("section")];
  const nameOf = (section) => section.querySelector("table.matrix").textContent;
  const byText = (x, y) => (x < y ? -1 : 1);
  const types = { name: "formats (D, A, B, C)", valueOf: (section) => section.dataset.types, compare: byText };
  const k = { name: "K", valueOf: (section) => section.dataset.k, compare: (x, y) => x - y };
  addFilters(atlas, sections, nameOf, [types, k], "tables");
});
