// Each scheme's colour and dash, as in python/airtcp/showing/palette.py.

import { PALETTE } from "./palette-data.js";

const { light, dark, own, dashes } = PALETTE;
const PLACES = light.length * dashes.length;
const STROKES = { solid: [], longdash: [9, 4], dot: [2, 3], dashdot: [8, 3, 2, 3] };

export const isDark = () => document.documentElement.dataset.theme === "dark";

// `among`: all schemes that are drawn, so that no two look alike.
export const colourOf = (scheme, among) => (isDark() ? dark : light)[placeOf(scheme, among) % light.length];
export const dashOf = (scheme, among) => STROKES[dashes[Math.floor(placeOf(scheme, among) / light.length) % dashes.length]];

export function placeOf(scheme, among) {
  const places = new Map(among.filter((name) => own.includes(name)).map((name) => [name, own.indexOf(name)]));
  for (const name of among) if (!places.has(name)) places.set(name, free(crc32(name) % PLACES, new Set(places.values())));
  return places.get(scheme) ?? 0;
}

// Prefers another colour to another dash; if there are more schemes than places, they share them.
function free(first, taken) {
  const all = [...Array(PLACES).keys()];
  const left = all.filter((place) => !taken.has(place));
  const colours = new Set([...taken].map((place) => place % light.length));
  const fresh = left.filter((place) => !colours.has(place % light.length));
  const among = fresh.length ? fresh : left.length ? left : all;
  const after = (place, size) => (((place - first) % size) + size) % size;
  return among.reduce((best, place) => {
    const [a, b] = [after(place, light.length) - after(best, light.length), after(place, PLACES) - after(best, PLACES)];
    return a < 0 || (a === 0 && b < 0) ? place : best;
  });
}

function crc32(text) {
  let crc = -1;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ -1) >>> 0;
}

export const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// Stack keys make labels long: `+` terms are kept, values are not.
export const shortName = (scheme) => scheme.split("+").map((term) => term.split(":")[0]).join(" + ");

const NAMES = {
  reno: "Reno", cubic: "CUBIC", bbr: "BBR", bbr3: "BBRv3", concord: "Concord", vegas: "Vegas", westwood: "Westwood",
  "westwood-vt": "WestwoodVT", "westwood-nr": "WestwoodNR", veno: "Veno", hybla: "Hybla", spectcp: "SpecTCP",
  newreno: "NewReno", decoupling: "decoupling", "packet-control": "packet control", "rto-m": "patient timer",
};

export const spoken = (scheme) => shortName(scheme).split(" + ").map((term) => NAMES[term] ?? term).join(" + ");
