// Colours, each scheme's its own; `PALETTE` is python/airtcp/palette.py's.

import { PALETTE } from "./palette-data.js";

const OWN = { reno: 1, cubic: 4, bbr: 0, concord: 2, "westwood-vt": 3, "westwood-nr": 5, spectcp: 5, newreno: 1, vegas: 4, hybla: 3 };

export const isDark = () => document.documentElement.dataset.theme === "dark";

// `among`: all schemes that are drawn, so that no two look alike.
export function colourOf(scheme, among) {
  const taken = new Map();
  for (const name of among) {
    const wanted = OWN[name.split(/[:+]/)[0]] ?? 0;
    const used = new Set(taken.values());
    const free = [wanted, ...PALETTE.light.keys()].find((place) => !used.has(place)) ?? wanted;
    taken.set(name, free);
  }
  return PALETTE[isDark() ? "dark" : "light"][taken.get(scheme) ?? 0];
}

export const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// Keys of a stack make labels long: `+` parts are kept, values are not.
export const shortName = (scheme) => scheme.split("+").map((term) => term.split(":")[0]).join(" + ");

const NAMES = {
  reno: "Reno", cubic: "CUBIC", bbr: "BBR", bbr3: "BBRv3", concord: "Concord", vegas: "Vegas", westwood: "Westwood",
  "westwood-vt": "WestwoodVT", "westwood-nr": "WestwoodNR", veno: "Veno", hybla: "Hybla", spectcp: "SpecTCP",
  newreno: "NewReno", decoupling: "decoupling", "packet-control": "packet control", "rto-m": "patient timer",
};

export const spoken = (scheme) => shortName(scheme).split(" + ").map((term) => NAMES[term] ?? term).join(" + ");
