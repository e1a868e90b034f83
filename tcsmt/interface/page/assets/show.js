// What is shown of computed rows: the results, the pictures, and the stages beside each other. A side is
// {unit, name, row, stages, panels, sum, last: d's word}, or {unit, name, problem} where it cannot take the
// row.

function valueText(format, value) {
  if (typeof value === "string") return value;
  const exactText = isInteger(format) ? decimalText(value) : shortText(value);
  const decimal = Number(toNumber(value).toPrecision(9));
  return isInteger(format) || exactText === String(decimal) || isZero(value)
    ? exactText
    : `${exactText} = ${decimal}`;
}

function showResults(sides, both, pair) {
  const cards = sides.flatMap((side, number) => {
    if (!side) return [];
    const title = element("h3", {}, element("span", { class: "badge" }, number ? "B" : "A"), " ", side.name);
    const kind = `card ${number ? "b" : "a"}`;
    if (side.problem)
      return [
        element(
          "div",
          { class: kind },
          title,
          element("p", { class: "problem" }, `No result: ${side.problem}.`),
        ),
      ];
    const { format } = side.unit.about.result,
      value = valueOf(format, side.last);
    const error = errorText(format, value, side.sum);
    return [
      element(
        "div",
        { class: kind },
        title,
        element("p", { class: "word", "data-word": hexWord(format, side.last) }, hexWord(format, side.last)),
        bitStrip(format, side.last),
        element(
          "p",
          { class: "value" },
          typeof value !== "string" && isZero(value) ? describe(format, side.last) : valueText(format, value),
        ),
        error ? element("p", { class: "error" }, element("span", { class: "term" }, "error "), error) : null,
      ),
    ];
  });
  const sums = sides.flatMap((side, number) =>
    side?.sum ? [{ sum: side.sum, format: side.unit.about.result.format, of: "AB"[number] }] : [],
  );
  const texts = [...problems].map(([name, text]) => `${name}: ${text}`);
  const isOne = sums.every(({ sum }) => sameValue(sum, sums[0].sum));
  for (const { sum, format, of } of isOne ? sums.slice(0, 1) : sums) {
    const title = isOne ? "Exact sum" : `Exact sum of ${of}'s inputs`;
    cards.push(
      element(
        "div",
        { class: "card sum" },
        element("h3", {}, title),
        element("p", { class: "value" }, valueText(format, sum)),
        element("p", { class: "hint" }, "nothing rounded, nothing cut"),
      ),
    );
  }
  if (state.result !== undefined && !sides[0].problem) {
    const { format } = A.about.result;
    const given = state.result === sides[0].last ? "which A gives, too" : "which A does not give";
    const value =
      state.result >> BigInt(format.width) ? "more bits than d has" : describe(format, state.result);
    const text = `${hexWord(format, state.result)} (${value}), ${given}`;
    cards.push(
      element(
        "div",
        { class: "card" },
        element("h3", {}, "Of the hardware"),
        element("p", { class: "value" }, text),
      ),
    );
  }
  by("results").replaceChildren(...cards);
  const verdict = by("verdict");
  verdict.className = "";
  if (texts.length) verdict.textContent = `Not read, so that nothing is computed: ${texts.join("; ")}`;
  else if (!both) verdict.textContent = "";
  else {
    const same =
      sides[0].last === sides[1].last &&
      sides[0].unit.about.result.format.name === sides[1].unit.about.result.format.name;
    verdict.className = same ? "same" : "differ";
    const where = pair
      ? ` They first differ at “${pair[0].name || pair[0].label || pair[0].kind}”: ${pair[0].text} | ${pair[1].text}`
      : "";
    verdict.textContent = same
      ? `The same word on this input.${where ? ` On the way to it,${where.replace(" They", " they")}` : ""}`
      : `Different words.${where}`;
  }
}

function showPictures(sides, pair) {
  const shown = sides.filter((side) => side && !side.problem);
  by("pictures").replaceChildren();
  by("pictures-section").hidden = !shown.some((side) => side.panels.length);
  const fates = new Set();
  const count = Math.max(0, ...shown.map((side) => side.panels.length));
  for (let place = 0; place < count; place++) {
    const grids = shown.map((side) => side.panels[place]?.grid).filter(Boolean);
    const columns = grids.length ? columnsOf(grids) : [];
    for (const side of shown) {
      const panel = side.panels[place];
      if (!panel) continue;
      const label = side.unit === B && shown.length > 1 && side === shown[1] ? "B" : "A";
      const figure = element(
        "figure",
        { class: label.toLowerCase() },
        element(
          "figcaption",
          {},
          element("span", { class: "badge" }, label),
          ` ${side.name}${panel.title ? `, ${panel.title}` : ""}`,
        ),
      );
      if (panel.grid) {
        for (const row of panel.grid.rows) for (const { fate } of row.cells) fates.add(fate);
        figure.append(
          element(
            "div",
            { class: "scroll", tabindex: "0", role: "group", "aria-label": `picture of ${side.name}` },
            drawnGrid(panel.grid, columns, panel.title, pair?.[side === sides[0] ? 0 : 1]),
          ),
        );
      }
      figure.append(...panel.notes.map((text) => element("p", { class: "note" }, text)));
      by("pictures").append(figure);
    }
  }
  by("legend").replaceChildren(
    ...Object.entries(FATES)
      .filter(([fate]) => fates.has(fate))
      .map(([fate, text]) => element("span", { class: `fate ${fate}` }, text)),
  );
}

function showStages(sides, both, pair) {
  const table = by("stages");
  table.replaceChildren();
  const rows = both
    ? pairedStages(sides[0].stages, sides[1].stages)
    : sides[0].problem
      ? []
      : sides[0].stages.map((stage) => [stage, null]);
  if (!rows.length) return;
  const heads = both ? ["stage", "A", "B"] : ["stage", "A"];
  table.append(
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
  );
  const body = element("tbody");
  const sameBlocks = !both || blocksOf(sides[0].stages) === blocksOf(sides[1].stages);
  let block,
    folded = 0;
  for (const [left, right] of rows) {
    const stage = left ?? right,
      isFirst = Boolean(pair) && left === pair[0] && right === pair[1];
    const differs = left && right && stagesDiffer(left, right);
    const zero = [left, right].every((one) => !one || (isZero(one.value) && one.type !== "word"));
    if (zero && !differs && !isFirst) {
      folded += 1;
      if (!state.allStages) continue;
    }
    const own = sameBlocks ? stage : left; // where blocks differ, the order is A's
    if (own && own.block !== block) {
      block = own.block;
      const title =
        typeof block === "number" ? `block ${block}` : (block ?? (body.hasChildNodes() ? "afterwards" : ""));
      if (title)
        body.append(
          element(
            "tr",
            { class: "block" },
            element("th", { scope: "rowgroup", colspan: String(heads.length) }, title),
          ),
        );
    }
    const cells = (both ? [left, right] : [left]).map((one) => element("td", {}, one ? one.text : "–"));
    const elsewhere =
      right && !sameBlocks && right.block !== null
        ? ` (B: ${typeof right.block === "number" ? `block ${right.block}` : right.block})`
        : "";
    const name = (stage.label || stage.kind) + elsewhere;
    const mark = isFirst ? element("span", { class: "flag" }, "first difference") : null;
    body.append(
      element(
        "tr",
        { class: isFirst ? "first" : differs ? "differs" : "" },
        element("th", { scope: "row" }, name, mark ? " " : null, mark),
        ...cells,
      ),
    );
  }
  table.append(body);
  by("folded").textContent = folded
    ? state.allStages
      ? ""
      : `${folded} stage${folded > 1 ? "s" : ""} that ${folded > 1 ? "are" : "is"} zero ${both ? "in both " : ""}${folded > 1 ? "are" : "is"} folded away`
    : "";
  by("all-stages").hidden = !folded;
  by("all-stages").setAttribute("aria-pressed", String(state.allStages));
  by("all-stages").textContent = state.allStages ? "Fold stages that are zero" : "Show stages that are zero";
}
