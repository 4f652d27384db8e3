// The best scheme by loss and round trip: short runs that fill in after everything else.

import { element } from "./outcome.js";
import { colourOf, spoken } from "./palette.js";
import { scientific } from "./units.js";

export const BERS = [1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5];
export const ROUND_TRIPS = [400, 200, 100, 50, 20, 10];
export const SECONDS = 15;

export class LossMap {
  constructor(root, onChoice) {
    this.root = root;
    this.onChoice = onChoice;
  }

  // Results for the same paths and schemes, identified by `key`, are kept.
  begin(schemes, key) {
    if (key === this.key) return;
    this.key = key;
    this.schemes = schemes;
    this.goodputs = new Map();
    this.cells = new Map();
    const head = element("tr", {}, element("td"), ...BERS.map((ber) => element("th", { scope: "col" }, scientific(ber).replaceAll(" ", ""))));
    const rows = ROUND_TRIPS.map((rtt) =>
      element("tr", {}, element("th", { scope: "row" }, `${rtt} ms`), ...BERS.map((ber) => element("td", {}, this.cell(ber, rtt)))),
    );
    this.root.replaceChildren(element("table", { class: "map" }, element("thead", {}, head), element("tbody", {}, ...rows)));
  }

  cell(ber, rtt) {
    const button = element("button", { type: "button", "aria-label": `${scientific(ber)}, ${rtt} ms: running` });
    button.addEventListener("click", () => this.onChoice({ ber, rtt }));
    this.cells.set(`${ber} ${rtt}`, button);
    return button;
  }

  knows(ber, rtt, scheme) {
    return this.goodputs.get(`${ber} ${rtt}`)?.has(scheme) ?? false;
  }

  add(ber, rtt, scheme, run) {
    const key = `${ber} ${rtt}`;
    const known = this.goodputs.get(key) ?? new Map();
    this.goodputs.set(key, known.set(scheme, run.goodput_bps));
    if (known.size === this.schemes.length) this.paint(key, ber, rtt, known);
  }

  // One scheme cannot run there.
  fail(ber, rtt) {
    const button = this.cells.get(`${ber} ${rtt}`);
    button.textContent = "–";
    button.dataset.painted = "true";
    button.setAttribute("aria-label", `Bit errors ${scientific(ber)}, round trip ${rtt} ms: cannot run`);
  }

  // The colour is the winner's; its strength shows how far the next one is behind.
  paint(key, ber, rtt, known) {
    const [[best, most], next] = [...known].sort((a, b) => b[1] - a[1]);
    const ahead = next ? most / Math.max(next[1], 1) - 1 : 0;
    const button = this.cells.get(key);
    const text = !next || !most ? "–" : ahead < 0.02 ? "=" : ahead >= 1 ? `×${(1 + ahead).toFixed(1)}` : `+${Math.round(100 * ahead)} %`;
    button.textContent = text;
    button.style.setProperty("--own", colourOf(best, this.schemes));
    const strength = ahead < 0.02 ? 0 : 14 + 66 * Math.min(1, Math.log2(1 + ahead) / 2);
    button.style.setProperty("--strength", `${Math.round(strength)}%`);
    button.dataset.painted = "true";
    const told = !most ? "nothing arrives" : ahead < 0.02 ? "no clear winner" : `${spoken(best)}, ${text} over the next`;
    button.setAttribute("aria-label", `Bit errors ${scientific(ber)}, round trip ${rtt} ms: ${told}. Go there.`);
    button.title = told;
  }

  mark(fields) {
    for (const [key, button] of this.cells ?? []) {
      const [ber, rtt] = key.split(" ").map(Number);
      button.toggleAttribute("data-here", ber === fields.ber && rtt === fields.rtt);
    }
  }
}
