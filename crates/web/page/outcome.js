// The results: goodput over seeds, how capacity was used, how a link is shared.

import { estimate } from "./stats.js";
import { FATES, KINDS } from "./model.js";
import { colourOf, spoken } from "./palette.js";
import { percent, percents, rateText, round } from "./units.js";

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "style") for (const [property, of] of Object.entries(value)) made.style.setProperty(property, of);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

const at = (share) => `${(100 * share).toFixed(3)}%`;

// `runs`: the records so far, by scheme. The numbers are those of `airtcp compare`.
export function goodputs(root, runs, seeds) {
  const schemes = [...runs.keys()];
  const bounds = [...runs.values()].flat().map(({ bound_bps: bound }) => bound);
  const most = Math.max(...bounds, ...[...runs.values()].flat().map(({ goodput_bps: own }) => own), 1);
  root.replaceChildren(...schemes.map((scheme) => goodputRow(scheme, runs.get(scheme), schemes, most, seeds)));
}

function goodputRow(scheme, records, schemes, most, seeds) {
  if (!records.length) return element("p", { class: "hint" }, `${spoken(scheme)}: running …`);
  const values = records.map(({ goodput_bps: own }) => own);
  const found = estimate(values);
  const bound = Math.max(...records.map(({ bound_bps: own }) => own ?? 0));
  const ofBound = bound ? `${percent(found.mean / bound)} of the bound` : "";
  const half = found.halfWidth ?? 0;
  const told = withInterval(found);
  const track = element(
    "div",
    { class: "track", style: { "--own": colourOf(scheme, schemes) } },
    element("i", { class: "fill", style: { width: at(found.mean / most) } }),
    ...(bound ? [element("i", { class: "bound", style: { left: at(bound / most) }, title: `bound: ${rateText(trimmed(bound))}` })] : []),
    ...(half ? [element("i", { class: "whisker", style: { left: at(Math.max(0, found.mean - half) / most), width: at((2 * half) / most) } })] : []),
    ...values.map((value, place) => element("i", { class: "dot", style: { left: at(value / most), top: `${30 + ((place * 37) % 41)}%` } })),
  );
  const label = [`${spoken(scheme)}: ${told}`, ...(ofBound ? [ofBound] : []), `${records.length} of ${seeds} seeds`].join(", ");
  return element(
    "div",
    { class: "row", role: "img", "aria-label": label, "data-scheme": scheme, "data-goodput": String(found.mean), "data-runs": String(values.length) },
    element("b", {}, spoken(scheme)),
    track,
    element("span", { class: "told" }, told, element("small", {}, ofBound)),
  );
}

// Both in the unit of the mean, the interval to two digits.
function withInterval({ mean, halfWidth }) {
  const [number, unit] = rateText(trimmed(mean)).split(" ");
  if (halfWidth === null) return `${number} ${unit}`;
  const half = (halfWidth / mean) * Number(number) || 0;
  const three = Math.max(0, 2 - Math.floor(Math.log10(Number(number) || 1)));
  const digits = half > 0 ? Math.min(three + 1, Math.max(0, 1 - Math.floor(Math.log10(half)))) : three;
  return `${Number(number).toFixed(digits)} ± ${half.toFixed(digits)} ${unit}`;
}

const trimmed = (value) => Number(value.toPrecision(3));

const PARTS = {
  useful: "useful data",
  headers: "headers",
  again: "arrived twice",
  corrupted: "corrupted",
  control: "header packets",
  others: "other flows",
  idle: "idle",
};

export function capacity(root, models) {
  const shown = models.map((model) => [model, model.shares]).filter(([, shares]) => shares);
  const used = Object.keys(PARTS).filter((part) => shown.some(([, shares]) => shares[part] > 0.0005));
  const rows = shown.map(([{ scheme }, shares]) => {
    const told = percents(used.map((part) => shares[part]));
    return element(
      "div",
      { class: "row", role: "img", "aria-label": `${spoken(scheme)}: ${used.map((part, place) => `${PARTS[part]} ${told[place]}`).join(", ")}` },
      element("b", {}, spoken(scheme)),
      element("div", { class: "track parts" }, ...used.map((part, place) => portion(part, shares[part], told[place]))),
    );
  });
  const keys = used.map((part) => element("span", { class: `key part-${part}` }, PARTS[part]));
  root.replaceChildren(element("p", { class: "legend" }, ...keys), ...rows);
}

const portion = (part, share, told) =>
  element("i", { class: `part-${part}`, style: { width: at(share) }, title: `${PARTS[part]}: ${told}` }, share > 0.08 ? told : "");

const SVG = "http://www.w3.org/2000/svg";

function svg(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

const SIZE = 320;
const EDGE = 46;

// Both flows' goodput, second by second, as a path through the plane.
export function phase(root, models, rate) {
  const most = rate * 1.05;
  const x = (bps) => EDGE + (bps / most) * (SIZE - EDGE - 12);
  const y = (bps) => SIZE - EDGE - (bps / most) * (SIZE - EDGE - 12);
  const schemes = models.map(({ scheme }) => scheme);
  const drawn = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img", class: "phase" });
  const line = (from, to, name) => drawn.append(svg("line", { x1: x(from[0]), y1: y(from[1]), x2: x(to[0]), y2: y(to[1]), class: name }));
  line([0, 0], [most, 0], "axis");
  line([0, 0], [0, most], "axis");
  line([0, rate], [rate, 0], "full");
  line([0, 0], [rate, rate], "equal");
  const told = [];
  for (const model of models) {
    const points = pairs(model);
    if (!points.length) continue;
    const colour = colourOf(model.scheme, schemes);
    drawn.append(svg("polyline", { points: points.map(([a, b]) => `${x(a)},${y(b)}`).join(" "), class: "way", stroke: colour }));
    const mean = [0, 1].map((axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length);
    drawn.append(svg("circle", { cx: x(mean[0]), cy: y(mean[1]), r: 6, fill: colour, class: "mean" }));
    told.push(`${spoken(model.scheme)} ${rateText(trimmed(mean[0]))}, the other flow ${rateText(trimmed(mean[1]))}`);
  }
  drawn.append(
    svg("text", { x: x(most / 2), y: SIZE - 12, "text-anchor": "middle" }, "compared scheme, Mbit/s"),
    svg("text", { x: 14, y: y(most / 2), "text-anchor": "middle", transform: `rotate(-90 14 ${y(most / 2)})` }, "competing flow, Mbit/s"),
    svg("text", { x: x(rate), y: y(0) + 16, "text-anchor": "middle" }, round(rate / 1e6)),
    svg("text", { x: x(0) - 6, y: y(rate) + 4, "text-anchor": "end" }, round(rate / 1e6)),
    svg("text", { x: x(0) - 6, y: y(0) + 14, "text-anchor": "end" }, "0"),
    svg("text", { x: x(rate * 0.7), y: y(rate * 0.74) - 4, class: "note", "text-anchor": "end" }, "equal shares"),
  );
  drawn.setAttribute("aria-label", `Mean over the run: ${told.join("; ")}`);
  root.replaceChildren(drawn);
}

const WINDOW_S = 2;

function pairs(model) {
  const side = model.sides[model.bottleneck];
  const bins = Array.from({ length: Math.floor(model.end / WINDOW_S) }, () => [0, 0]);
  for (let row = 0; row < side.n; row++) {
    const bin = bins[Math.floor(side.out[row] / WINDOW_S)];
    if (bin && FATES[side.fate[row]] === "delivered") bin[side.flow[row] === model.main ? 0 : 1] += (side.bytes[row] * 8) / WINDOW_S;
  }
  return bins;
}
