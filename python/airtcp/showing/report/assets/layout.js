// Axes, panels and rules of a figure, for the width that there is.

const GAP_PX = 58;
const EDGES = { l: 56, r: 14, t: 30, b: 44 };
const LINE_PX = 17;
const LETTER_PX = 8.8; // in bold

/** Letters of a row's name in a line. */
const nameLetters = () => (isNarrow() ? 16 : 40);

/** Without ranges, they are those of what can have none: categories. */
function layoutOf(figure, { x: range, y: yRange }) {
  const { spec } = figure;
  const panels = visiblePanels(figure);
  const cells = spec.panels && spec.panels.length ? panels : [""];
  const columns = cells.length > 3 && !isNarrow() ? 2 : 1;
  const rows = Math.max(1, Math.ceil(cells.length / columns));
  const inner = Math.max(rows * spec.height + (rows - 1) * GAP_PX, namesHeight(spec));
  const isUpright = (mark) => mark.kind === "bars" && !mark.horizontal;
  const layout = { ...frame(spec.marks.some(isUpright)), shapes: [], annotations: [] };
  const letters = Math.max(8, Math.floor((figure.plot.clientWidth - EDGES.l - EDGES.r) / columns / LETTER_PX));
  const titles = cells.map((title) => titleLines(spec, title, letters));
  layout.margin.t += LINE_PX * Math.max(0, ...titles.slice(0, columns).map((lines) => lines.length - 1));
  layout.height = inner + layout.margin.t + EDGES.b;
  cells.forEach((title, place) => {
    const box = cellBox(place, columns, rows, inner);
    addAxes(layout, figure, place, box, { range, yRange, isBottom: place + columns >= cells.length });
    layout.annotations.push(heading(titles[place], box));
  });
  if (!cells.length) layout.annotations.push(note("Every scheme is hidden."));
  visibleMarks(figure).filter((mark) => mark.kind === "rule").forEach((mark) => addRule(layout, mark));
  return layout;
}

function frame(hasUprightBars) {
  const ink = variable("ink");
  return {
    autosize: true,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: variable("font"), size: 13, color: ink },
    hoverlabel: { bgcolor: variable("raised"), bordercolor: variable("line"), font: { color: ink, size: 13 }, align: "left" },
    hovermode: "closest",
    dragmode: isTouch() ? false : "zoom",
    barmode: "group",
    scattermode: hasUprightBars ? "group" : "overlay",
    bargap: 0.35,
    margin: { ...EDGES },
    showlegend: false,
  };
}

/** What the names of rows need: neighbours meet half-way. */
function namesHeight({ y, marks }) {
  if (!y.categories) return 0;
  const lines = categories(marks, "y").map((name) => broken(name, nameLetters()).length);
  const pairs = lines.slice(1).map((many, place) => (many + lines[place]) / 2);
  return lines.length * (LINE_PX * Math.max(0, ...pairs) + 4);
}

const categories = (marks, side) => [...new Set(marks.flatMap((mark) => (mark.kind === "rule" ? [] : mark[side] || [])))];

function cellBox(place, columns, rows, inner) {
  const [column, row] = [place % columns, Math.floor(place / columns)];
  const width = columns === 1 ? 1 : 0.465;
  const top = 1 - (row * (inner - (rows - 1) * GAP_PX) / rows + row * GAP_PX) / inner;
  const height = ((inner - (rows - 1) * GAP_PX) / rows) / inner;
  return { x: [column * (1 - width), column * (1 - width) + width], y: [Math.max(0, top - height), top] };
}

function addAxes(layout, { spec }, place, box, { range, yRange, isBottom }) {
  const number = place ? String(place + 1) : "";
  const x = axis(spec.x, spec.marks, "x");
  const y = axis(spec.y, spec.marks, "y");
  Object.assign(x, { domain: box.x, anchor: `y${number}`, title: { text: isBottom ? plain(spec.x.label || "") : "", standoff: 6, font: { size: 13 } } });
  Object.assign(y, { domain: box.y, anchor: `x${number}`, fixedrange: !range });
  if (range) Object.assign(x, { range: spec.x.log ? range.map(Math.log10) : [...range], autorange: false });
  if (yRange && !spec.own_y) Object.assign(y, { range: spec.y.log ? yRange.map(Math.log10) : yRange, autorange: false });
  if (place) Object.assign(x, { matches: "x" });
  if (place && !spec.own_y) Object.assign(y, { matches: "y" });
  layout[`xaxis${number}`] = x;
  layout[`yaxis${number}`] = y;
  if (!range) [["x", x], ["y", y]].forEach(([side, at]) => spec[side].from_zero && Object.assign(at, barRange(spec, side)));
  // Names of categories take the room that they need.
  if (spec.y.categories) layout.margin = { ...layout.margin, l: 10 };
}

function axis(spec, marks, side) {
  const line = variable("line");
  const shared = { gridcolor: variable("grid"), linecolor: line, zeroline: false, tickcolor: line, automargin: true, ticks: "outside", ticklen: 4 };
  if (spec.categories) {
    const names = categories(marks, side);
    const order = names.map(plain);
    const ticks = side === "y" ? { tickmode: "array", tickvals: order, ticktext: names.map((name) => broken(name, nameLetters()).join("<br>")) } : {};
    const reversed = side === "y" ? "reversed" : true;
    return { ...shared, type: "category", categoryorder: "array", categoryarray: order, autorange: reversed, fixedrange: true, showgrid: false, ...ticks, ticks: "" };
  }
  const ticks = spec.log ? { type: "log", tickmode: "array", ...ROUND } : { type: "linear" };
  return { ...shared, ...ticks, rangemode: spec.from_zero ? "tozero" : "normal", exponentformat: "e", minexponent: 5 };
}

/** Ticks of a logarithmic axis: 1, 2, 5, 10, … */
const ROUND = (() => {
  const tickvals = Array.from({ length: 19 }, (_, place) => place - 6).flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));
  return { tickvals, ticktext: tickvals.map((value) => String(Number(value.toPrecision(1)))) };
})();

/** The panel's name, and what its y axis counts, on the same line if it fits. */
function titleLines({ y }, title, letters) {
  const label = plain(y.label || "");
  if (!title) return [label];
  const names = broken(title, letters);
  const isLong = names.at(-1).length + 2 + label.length > letters;
  const lines = names.map((name) => `<b>${name}</b>`);
  return isLong ? [...lines, label] : [...lines.slice(0, -1), `${lines.at(-1)}  ${label}`];
}

function heading(lines, box) {
  const text = lines.join("<br>");
  const at = { xref: "paper", yref: "paper", x: box.x[0], y: box.y[1], xanchor: "left", yanchor: "bottom", yshift: 5 };
  return { ...at, text, showarrow: false, align: "left", font: { size: 13 } };
}

function note(text) {
  return { xref: "paper", yref: "paper", x: 0.5, y: 0.5, text, showarrow: false };
}

function addRule(layout, mark) {
  const number = mark.cell ? String(mark.cell + 1) : "";
  const colour = variable("muted");
  const stroke = { color: colour, width: 1.4, dash: "dash" };
  const upright = mark.x.length > 0;
  const [x, y] = [upright ? mark.x[0] : 1, upright ? 1 : mark.y[0]];
  const refs = { xref: upright ? `x${number}` : `x${number} domain`, yref: upright ? `y${number} domain` : `y${number}` };
  const ends = upright ? { x0: x, x1: x, y0: 0, y1: 1 } : { x0: 0, x1: 1, y0: y, y1: y };
  layout.shapes.push({ type: "line", ...refs, ...ends, line: stroke });
  layout.annotations.push({
    ...refs, x, y, text: plain(mark.name), showarrow: false, xanchor: "right", yanchor: "bottom", yshift: upright ? 4 : 2,
    font: { color: colour, size: 12 },
  });
}

/** From zero to the longest bar and its interval; an interval may reach below zero, where no bar can. */
function barRange(spec, side) {
  const ends = spec.marks.flatMap((mark) => (mark[side] || []).map((value, place) => value + (mark.errors?.[place] || 0)));
  const least = Math.min(0, ...spec.marks.flatMap((mark) => mark[side] || []));
  return least < 0 ? {} : { range: [0, 1.04 * Math.max(...ends) || 1], autorange: false };
}

/** The whole of the x axis, from what is drawn. */
function wholeRange({ spec }) {
  const end = spec.x.end;
  let [low, high] = [Infinity, -Infinity];
  for (const mark of spec.marks)
    for (const x of mark.x || [])
      if (typeof x === "number" && (!spec.x.log || x > 0)) [low, high] = [Math.min(low, x), Math.max(high, x)];
  if (spec.x.from_zero) low = Math.min(low, 0);
  if (spec.x.time || end !== undefined) return [low, end === undefined ? high : end];
  if (low > high) return [0, 1];
  // Room for the symbols at both ends.
  if (spec.x.log) return [low / (high / low) ** 0.03, high * (high / low) ** 0.03];
  const margin = 0.03 * (high - low || Math.abs(high) || 1);
  return [low === 0 && spec.x.from_zero ? 0 : low - margin, high + margin];
}

/** The y range of what lies in a stretch of x. */
function fittedRange(figure, [from, to]) {
  let [low, high] = [Infinity, -Infinity];
  const include = (value) => {
    if (typeof value === "number" && (!figure.spec.y.log || value > 0)) [low, high] = [Math.min(low, value), Math.max(high, value)];
  };
  for (const mark of visibleMarks(figure)) {
    if (mark.kind === "rule") {
      (mark.y || []).forEach(include);
      continue;
    }
    let last = null;
    mark.x.forEach((x, place) => {
      if (x < from) last = place;
      else if (x <= to) {
        const error = mark.errors?.[place] || 0;
        [mark.y[place] - error, mark.y[place] + error, mark.high?.[place]].forEach((value) => mark.y[place] !== null && include(value));
      }
    });
    // A step before the stretch holds in it.
    if (last !== null && mark.kind === "line") include(mark.y[last]);
  }
  if (low > high) return [0, 1];
  const margin = 0.05 * (high - low || Math.abs(high) || 1);
  if (figure.spec.y.log) return [low / 1.15, high * 1.15];
  if (low >= 0 && (figure.spec.y.from_zero || low < margin)) return [0, high + margin];
  return [low - margin, high + margin];
}
