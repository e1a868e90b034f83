// What people touch: the choice of a unit, and an operand with its bits.

/** An element with attributes, listeners (on...) and children; texts are texts, never markup. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** So many units of a search are listed. */
const LISTED = 60;

/** A field that searches the units: a combobox with a list, as the ARIA practices describe it. */
class UnitChoice {
  constructor(id, optional, chosen) {
    this.chosen = chosen;
    this.optional = optional;
    this.name = "";
    this.active = -1;
    this.field = element("input", {
      id,
      role: "combobox",
      autocomplete: "off",
      spellcheck: "false",
      "aria-expanded": "false",
      "aria-controls": `${id}-list`,
      "aria-autocomplete": "list",
      placeholder: optional ? "none" : "a GPU, an architecture, an instruction, a format",
      oninput: () => this.open(this.field.value),
      onfocus: () => this.field.select(),
      onclick: () => this.open(""),
      onkeydown: (event) => this.key(event),
      onblur: () => this.close(),
    });
    this.list = element("ul", { id: `${id}-list`, role: "listbox", "aria-label": "units", hidden: true });
    this.element = element("div", { class: "choice" }, this.field, this.list);
  }

  /** Show a name, without a call. */
  show(name) {
    this.name = name;
    this.field.value = name;
  }

  matches(text) {
    const parts = text.toLowerCase().split(/\s+/).filter(Boolean);
    return [...INDEX.units.values()].filter((unit) => parts.every((part) => unit.found.includes(part)));
  }

  open(text) {
    const matches = this.matches(text);
    this.options = matches.slice(0, LISTED).map((unit) => unit.name);
    this.list.replaceChildren(
      ...matches.slice(0, LISTED).map((unit, place) =>
        element(
          "li",
          {
            role: "option",
            id: `${this.list.id}-${place}`,
            "aria-selected": "false",
            onpointerdown: (event) => {
              event.preventDefault();
              this.take(unit.name);
            },
          },
          element("span", { class: "name" }, unit.name),
          element("span", { class: "types" }, `${unit.types}, K = ${unit.k}`),
        ),
      ),
    );
    if (this.optional && !text) {
      this.options.unshift("");
      this.list.prepend(
        element(
          "li",
          {
            role: "option",
            id: `${this.list.id}-none`,
            "aria-selected": "false",
            onpointerdown: (event) => {
              event.preventDefault();
              this.take("");
            },
          },
          "none",
        ),
      );
    }
    const more = matches.length - LISTED;
    if (more > 0)
      this.list.append(
        element("li", { class: "more", role: "presentation" }, `and ${more} more: type a part of a name`),
      );
    if (!matches.length)
      this.list.append(
        element("li", { class: "more", role: "presentation" }, "no unit has all of these words"),
      );
    this.list.hidden = false;
    this.field.setAttribute("aria-expanded", "true");
    this.activate(-1);
  }

  close() {
    this.list.hidden = true;
    this.field.setAttribute("aria-expanded", "false");
    this.field.removeAttribute("aria-activedescendant");
    this.field.value = this.name;
  }

  activate(place) {
    this.active = place;
    const items = [...this.list.querySelectorAll("[role=option]")];
    items.forEach((item, number) => item.setAttribute("aria-selected", String(number === place)));
    if (items[place]) {
      this.field.setAttribute("aria-activedescendant", items[place].id);
      items[place].scrollIntoView({ block: "nearest" });
    } else this.field.removeAttribute("aria-activedescendant");
  }

  key(event) {
    const isOpen = !this.list.hidden;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!isOpen) this.open("");
      const count = this.options.length,
        step = event.key === "ArrowDown" ? 1 : -1;
      if (count)
        this.activate(this.active < 0 && step < 0 ? count - 1 : (this.active + step + count) % count);
    } else if (event.key === "Enter") {
      event.preventDefault();
      const text = this.field.value.trim();
      if (isOpen && this.active >= 0) this.take(this.options[this.active]);
      else if (!text && this.optional) this.take("");
      else if (isOpen && this.options.length)
        this.take(INDEX.units.has(text) ? text : this.options.find(Boolean));
    } else if (event.key === "Escape") this.close();
  }

  take(name) {
    this.show(name);
    this.close();
    this.chosen(name);
  }
}

/** What each bit of a word is: sign, exponent, fraction, or unread by the unit. */
function bitKinds(format) {
  if (isInteger(format))
    return Array.from({ length: format.bits }, (_, place) =>
      format.signed && place === 0 ? "sign" : "fraction",
    );
  const kinds = [
    ...Array(format.signed ? 1 : 0).fill("sign"),
    ...Array(format.exponent_bits).fill("exponent"),
    ...Array(format.fraction_bits).fill("fraction"),
    ...Array(format.ignored_low_bits).fill("unread"),
  ];
  return [...Array(format.ignored_high_bits).fill("unread"), ...kinds];
}

/** A word's bits to look at. */
function bitStrip(format, word) {
  const digits = word.toString(2).padStart(format.width, "0");
  return element(
    "span",
    { class: "bits", "aria-hidden": "true" },
    ...bitKinds(format).map((kind, place) => element("span", { class: `bit ${kind}` }, digits[place])),
  );
}

/**
 * An operand: its field, its bits, its word and value. changed: called with the name, the text and its
 * origin.
 */
class Operand {
  constructor(name, format, { changed, pasted }) {
    const id = name.replaceAll(" ", "-");
    this.format = format;
    this.kinds = bitKinds(format);
    this.word = 0n;
    this.field = element("input", {
      id: `in-${id}`,
      autocomplete: "off",
      spellcheck: "false",
      autocapitalize: "off",
      "aria-describedby": `note-${id}`,
      oninput: () => changed(name, this.field.value),
      onpaste: (event) => pasted(name, event),
      onfocus: () => this.field.select(),
    });
    this.buttons = this.kinds.map((kind, place) =>
      element("button", {
        type: "button",
        class: `bit ${kind}`,
        "aria-pressed": "false",
        tabindex: place ? "-1" : "0",
        "aria-label": `${kind} bit ${format.width - 1 - place}`,
        onclick: () => changed(name, editText(format, this.word ^ (1n << BigInt(format.width - 1 - place)))),
        onkeydown: (event) => this.key(event, place),
      }),
    );
    this.about = element("span", { class: "about", id: `note-${id}` });
    this.element = element(
      "div",
      { class: "operand" },
      element("label", { for: `in-${id}` }, name),
      this.field,
      element("span", { class: "bits", role: "group", "aria-label": `bits of ${name}` }, ...this.buttons),
      this.about,
    );
  }

  key(event, place) {
    const next = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: this.buttons.length - 1 }[
      event.key
    ];
    if (next === undefined || !this.buttons[next]) return;
    event.preventDefault();
    this.buttons[place].tabIndex = -1;
    this.buttons[next].tabIndex = 0;
    this.buttons[next].focus();
  }

  /** Show a word, and a note or what is wrong with the text. */
  show(text, word, note, problem) {
    this.word = word;
    if (this.field.value !== text && document.activeElement !== this.field) this.field.value = text;
    this.field.classList.toggle("wrong", Boolean(problem));
    this.field.setAttribute("aria-invalid", String(Boolean(problem)));
    const digits = word.toString(2).padStart(this.format.width, "0");
    this.buttons.forEach((button, place) => {
      button.textContent = digits[place];
      button.setAttribute("aria-pressed", String(digits[place] === "1"));
    });
    const value = describe(this.format, word);
    this.about.textContent = problem || `${hexWord(this.format, word)}  ${value}${note ? `: ${note}` : ""}`;
    this.about.classList.toggle("problem", Boolean(problem));
  }
}
