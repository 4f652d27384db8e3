// Marks become Plotly's traces.

const TURN = 7; // colours
const MOST_DOTS = 60; // of one mark: more are only ink until the reader zooms in
const SPARSE = 9; // symbols on a long curve

/** A scheme's place in the palette; -1: it has none. */
const placeOf = (scheme) => report.places[scheme] ?? -1;

/** How a scheme looks, by its place in the palette. Without a place: the page's ink. */
function look(place) {
  if (place < 0) return { colour: variable("ink"), symbol: "circle", dash: "solid" };
  const turn = Math.floor(place / TURN);
  return {
    colour: variable(`series-${place % TURN}`),
    // Shifted with each turn: single points have no dash to tell them apart.
    symbol: report.symbols[(place + turn) % report.symbols.length],
    dash: report.dashes[turn % report.dashes.length],
  };
}

/** Those marks of a figure that are to be seen, each with its look and its panel's place. */
function visibleMarks(figure) {
  const hiddenParts = chosen.parts.get(figure.name);
  const panels = visiblePanels(figure);
  return figure.spec.marks
    .filter((mark) => !(mark.scheme && figure.hidden.has(mark.scheme)))
    .filter((mark) => !(mark.part && hiddenParts.has(mark.part)))
    .filter((mark) => !mark.panel || panels.includes(mark.panel))
    .map((mark) => ({
      ...mark,
      x: plainValues(mark.x),
      y: plainValues(mark.y),
      place: placeOf(mark.scheme),
      cell: mark.panel ? panels.indexOf(mark.panel) : 0,
    }));
}

const plainValues = (values = []) => values.map((value) => (typeof value === "string" ? plain(value) : value));

function visiblePanels(figure) {
  return (figure.spec.panels || []).filter((panel) => !figure.hidden.has(panel));
}

function tracesOf(figure, range) {
  figure.dots = { drawn: 0, all: 0 };
  const makers = { line: lineTraces, dots: dotTraces, bars: barTraces, band: bandTraces, heat: heatTraces };
  const alone = (figure.spec.panels || []).length > 0;
  return visibleMarks(figure).flatMap((mark) => {
    const maker = makers[mark.kind];
    if (!maker) return [];
    const number = mark.cell ? String(mark.cell + 1) : "";
    const shared = { name: plain(mark.name), xaxis: `x${number}`, yaxis: `y${number}`, showlegend: false };
    return maker(mark, look(mark.place), { range, alone, figure }).map((trace) => ({ ...shared, ...trace }));
  });
}

const POINTED = "<b>%{fullData.name}</b><br>%{x}, %{y}";

function lineTraces(mark, { colour, symbol, dash }, { range, alone }) {
  const stroke = mark.place < 0 && mark.scheme === undefined ? variable("muted") : colour;
  const line = {
    color: stroke,
    width: mark.thin ? 1 : 1.6,
    dash: mark.dash || dash,
    shape: mark.step ? "hv" : "linear",
  };
  const curve = {
    type: "scatter", mode: "lines", x: mark.x, y: mark.y, line, hovertemplate: `${POINTED}${toldError("error_y", mark)}<extra></extra>`,
  };
  if (mark.errors) curve.error_y = { ...errorBars(mark), color: stroke };
  if (mark.place < 0 || alone || mark.thin || mark.dash) return [curve];
  const at = symbolPlaces(mark, range);
  const pick = (values) => at.map((place) => values[place]);
  const marker = { symbol, size: 7, color: stroke, line: { color: variable("paper"), width: 1 } };
  return [
    curve,
    { type: "scatter", mode: "markers", x: pick(mark.x), y: pick(mark.y), marker, hovertemplate: curve.hovertemplate },
  ];
}

/** Where a curve carries its symbol: everywhere if it is short, else now and then, other schemes elsewhere. */
function symbolPlaces(mark, range) {
  const inside = [];
  mark.x.forEach((x, place) => {
    if (mark.y[place] !== null && (!range || (x >= range[0] && x <= range[1]))) inside.push(place);
  });
  if (inside.length <= 3 * SPARSE) return inside;
  const offset = ((mark.place * 0.382) % 1) + 0.1;
  return Array.from({ length: SPARSE }, (_, turn) => inside[Math.floor(((turn + offset) / (SPARSE + 1)) * inside.length)]);
}

/** Which dots are drawn: those in view, thinned out evenly if there are too many. */
function dotPlaces(mark, range) {
  const inside = mark.x.map((_, place) => place).filter((place) => !range || (mark.x[place] >= range[0] && mark.x[place] <= range[1]));
  const each = mark.all ? 1 : Math.ceil(inside.length / (mark.part ? MOST_DOTS : 20 * MOST_DOTS));
  return { drawn: each > 1 ? inside.filter((_, turn) => turn % each === 0) : inside, all: inside.length };
}

const errorBars = (mark) => ({ type: "data", array: mark.errors, color: variable("ink"), thickness: 1.4, width: 5 });
const toldError = (side, mark) => (mark.errors ? ` ± %{${side}.array:.3~g}` : "");

function dotTraces(mark, { colour, symbol }, { range, figure }) {
  const { drawn, all } = dotPlaces(mark, range);
  figure.dots.drawn += drawn.length;
  figure.dots.all += all;
  const pick = (values) => drawn.map((place) => values[place]);
  const shape = { open: `${symbol}-open`, quoted: "diamond-wide-open" }[mark.symbol] || mark.symbol || symbol;
  if (mark.symbol === "quoted") colour = variable("ink");
  const thin = shape.includes("thin") || shape.startsWith("line");
  const marker = {
    symbol: shape,
    size: mark.size,
    color: colour,
    opacity: 0.9,
    line: { color: thin || shape.endsWith("open") ? colour : variable("paper"), width: thin ? 1.6 : mark.size < 5 ? 0 : 1.1 },
  };
  const notes = mark.notes ? { text: pick(mark.notes).map(plain) } : {};
  const template = `${POINTED}${mark.notes ? "<br>%{text}" : ""}<extra></extra>`;
  return [{ type: "scatter", mode: "markers", x: pick(mark.x), y: pick(mark.y), marker, hovertemplate: template, offsetgroup: String(mark.place), ...notes }];
}

function barTraces(mark, { colour }) {
  const side = mark.horizontal ? "error_x" : "error_y";
  return [{
    type: "bar",
    orientation: mark.horizontal ? "h" : "v",
    x: mark.x,
    y: mark.y,
    marker: { color: mixed(colour, mark.strong ? 0.7 : 0.3), line: { color: colour, width: 1.5 } },
    offsetgroup: mark.horizontal ? undefined : String(mark.place),
    [side]: mark.errors ? errorBars(mark) : undefined,
    hovertemplate: `${POINTED}${toldError(side, mark)}<extra></extra>`,
  }];
}

function bandTraces(mark, { colour }) {
  const edge = { type: "scatter", mode: "lines", line: { width: 0, shape: mark.step ? "vh" : "linear" }, hoverinfo: "skip", x: mark.x };
  return [
    { ...edge, y: mark.y },
    { ...edge, y: mark.high, fill: "tonexty", fillcolor: mixed(colour, 0.35) },
  ];
}

function heatTraces(mark, _look, { figure }) {
  const told = `%{x}, %{y}<br>${plain(mark.z_label || "")} %{customdata}<extra></extra>`;
  const cells = {
    type: "heatmap",
    x: mark.x,
    y: mark.y,
    customdata: mark.z,
    texttemplate: mark.texts ? "%{text}" : "",
    text: (mark.texts || []).map((row) => row.map(plain)),
    hovertemplate: told,
    xgap: 2,
    ygap: 2,
  };
  if (!mark.winners) {
    const bar = { title: { text: plain(mark.z_label || ""), side: "right" }, thickness: 12, outlinewidth: 0 };
    const [zmin, zmax] = mark.ends ?? [];
    return [{ ...cells, z: mark.z, zmin, zmax, zauto: !mark.ends, colorscale: "Cividis", colorbar: bar }];
  }
  const names = figure.schemes;
  // Each scheme has two steps: pale, where its lead is unsure, and full.
  const count = 2 * names.length;
  const steps = names.flatMap((name, place) => [0.18, 0.5].flatMap((share, sure) => {
    const shade = mixed(look(placeOf(name)).colour, share);
    return [[(2 * place + sure) / count, shade], [(2 * place + sure + 1) / count, shade]];
  }));
  const shown = (name) => names.includes(name) && !figure.hidden.has(name);
  const step = (name, row, column) => 2 * names.indexOf(name) + (mark.unsure?.[row]?.[column] ? 0 : 1);
  const z = mark.winners.map((row, y) => row.map((name, x) => (shown(name) ? step(name, y, x) : null)));
  return [{
    ...cells, z, zmin: -0.5, zmax: count - 0.5, colorscale: steps, showscale: false,
    textfont: { color: variable("ink") },
  }];
}
