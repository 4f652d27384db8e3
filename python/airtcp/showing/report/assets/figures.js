// Figures: drawn when they come near, and again when something changes.

const CONFIG = { displayModeBar: false, responsive: false, showTips: false, doubleClick: false };

/** What is shared by a section's figures over time, or the figure's own. */
const rangeKey = (figure) => (figure.spec.x.time ? `time of ${figure.scope}` : figure.name);
const isZoomable = (figure) => !figure.spec.x.categories && !figure.spec.y.categories;

const figures = [...document.querySelectorAll("figure.figure")].map((element) => {
  const scope = element.closest("[data-schemes]")?.dataset.schemes ?? "";
  const spec = report.figures[element.id];
  chosen.parts.set(element.id, new Set((spec.parts || []).filter((part) => !part.shown).map((part) => part.name)));
  if (!chosen.hidden.has(scope)) chosen.hidden.set(scope, new Set());
  return {
    name: element.id,
    element,
    spec,
    scope,
    plot: element.querySelector(".plot"),
    schemes: report.schemes[scope] || [],
    hidden: chosen.hidden.get(scope),
    isNear: false,
  };
});

function draw(figure) {
  if (!figure.isNear || typeof Plotly === "undefined") return;
  const ranges = isZoomable(figure) ? rangesOf(figure) : {};
  const layout = layoutOf(figure, ranges);
  figure.plot.style.minHeight = `${layout.height}px`;
  figure.plot.style.height = `${layout.height}px`;
  Plotly.react(figure.plot, tracesOf(figure, ranges.x), layout, CONFIG);
  tellDots(figure);
  if (!figure.isDrawn) {
    figure.isDrawn = true;
    figure.plot.on("plotly_relayout", (change) => onZoom(figure, change));
    figure.plot.on("plotly_doubleclick", () => zoomTo(figure, null));
    figure.element.dataset.drawn = "";
  }
}

/** What is seen of the axes: what the reader chose, else all of x, and of y what lies there. */
function rangesOf(figure) {
  const stretch = chosen.ranges.get(rangeKey(figure));
  const x = stretch || wholeRange(figure);
  const end = stretch ? undefined : figure.spec.y.end;
  return { x, y: chosen.heights.get(figure.name) || (end === undefined ? fittedRange(figure, x) : [0, end]) };
}

/** No mark is left out in silence. */
function tellDots({ element, dots }) {
  const told = element.querySelector(".told");
  told.textContent = dots.drawn < dots.all ? `${dots.drawn} of ${dots.all} marks are drawn: zoom in to see all of them.` : "";
}

const drawAll = (wanted = () => true) => figures.filter(wanted).forEach(draw);

/** The reader has dragged over a stretch of a figure, or a box. */
function onZoom(figure, change) {
  const [x, y] = [changedRange(change, "xaxis", figure.spec.x), changedRange(change, "yaxis", figure.spec.y)];
  if (x) zoomTo(figure, x, y);
  else if (y) {
    chosen.heights.set(figure.name, y);
    draw(figure);
  }
}

function changedRange(change, side, { log }) {
  const ends = [0, 1].map((end) => {
    const key = Object.keys(change).find((name) => name.startsWith(side) && name.endsWith(`range[${end}]`));
    return key && Number(change[key]);
  });
  if (ends.includes(undefined)) return null;
  return log ? ends.map((end) => 10 ** end) : ends;
}

/** Without `range`: everything. */
function zoomTo(figure, range, height) {
  const key = rangeKey(figure);
  if (range) chosen.ranges.set(key, range);
  else chosen.ranges.delete(key);
  const alike = figures.filter((other) => rangeKey(other) === key);
  alike.forEach((other) => chosen.heights.delete(other.name));
  if (height) chosen.heights.set(figure.name, height);
  alike.forEach(draw);
}

/** By a factor around the middle, and by a share of the width to the right. */
function zoomBy(figure, factor, shift) {
  const [least, most] = wholeRange(figure);
  const [low, high] = chosen.ranges.get(rangeKey(figure)) || [least, most];
  const scale = figure.spec.x.log ? [Math.log, Math.exp] : [(x) => x, (x) => x];
  const [a, b, from, to] = [low, high, least, most].map(scale[0]);
  const width = Math.min((b - a) * factor, to - from);
  const start = Math.min(Math.max((a + b) / 2 + shift * (b - a) - width / 2, from), to - width);
  zoomTo(figure, width >= (to - from) * 0.999 ? null : [start, start + width].map(scale[1]));
}
