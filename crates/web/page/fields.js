// The form: the path, a competing flow, the schemes.

import { element } from "./outcome.js";
import { spoken } from "./palette.js";

const NUMBERS = [
  ["rate", "Rate", "Mbit/s", 0.01, 10000],
  ["rtt", "Round trip", "ms", 0, 5000],
  ["queue", "Queue", "packets", 1, 100000],
  ["burst", "Lost in bursts", "%", 0, 90],
  ["burstLength", "Burst length", "packets", 1, 1000],
  ["jitter", "Delay variation", "ms", 0, 2000],
];
const RIVALS = ["", "cubic", "reno", "bbr", "concord"];
export const DISCIPLINE_NAMES = { droptail: "DropTail", red: "RED", codel: "CoDel", "fq-codel": "FQ-CoDel" };

export class Fields {
  constructor(root, onSet) {
    this.root = root;
    this.onSet = onSet;
    const numbers = NUMBERS.map(([key, label, unit, min, max]) => this.number(key, label, unit, min, max));
    const discipline = this.choice("discipline", "Discipline", Object.entries(DISCIPLINE_NAMES));
    const cross = this.choice("cross", "Competing flow", RIVALS.map((name) => [name, name ? spoken(name) : "none"]));
    numbers.splice(3, 0, discipline);
    root.append(...numbers, cross);
  }

  number(key, label, unit, min, max) {
    const input = element("input", { type: "number", name: key, min, max, step: "any" });
    input.addEventListener("change", () => {
      const value = input.valueAsNumber;
      const allowed = Math.min(max, Math.max(min, value));
      if (Number.isFinite(value)) this.onSet({ [key]: key === "queue" ? Math.round(allowed) : allowed });
    });
    return element("label", {}, element("span", {}, label), input, element("small", {}, unit));
  }

  choice(key, label, options) {
    const select = element("select", { name: key }, ...options.map(([value, text]) => element("option", { value }, text)));
    select.addEventListener("change", () => this.onSet({ [key]: select.value }));
    return element("label", {}, element("span", {}, label), select);
  }

  show(fields) {
    for (const [key, value] of Object.entries(fields)) {
      const input = this.root.querySelector(`[name="${key}"]`);
      if (!input || input === document.activeElement) continue;
      input.value = value ?? "";
      input.disabled = value === null;
    }
  }
}

// Schemes as checkboxes. Those with terms or keys of their own are typed.
export function schemeBoxes(root, known, chosen, onChange) {
  const names = [...new Set([...known, ...chosen])];
  root.replaceChildren(
    ...names.map((name) => {
      const box = element("input", { type: "checkbox", value: name });
      box.checked = chosen.includes(name);
      box.disabled = box.checked && chosen.length === 1;
      box.addEventListener("change", () => onChange(box.checked ? [...chosen, name] : chosen.filter((other) => other !== name)));
      return element("label", { class: "tick", title: name }, box, spoken(name));
    }),
  );
}
