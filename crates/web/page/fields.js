// The form: the path, a competing flow, the schemes.

import { element } from "./outcome.js";
import { spoken } from "./palette.js";
import { DISCIPLINE_NAMES, NUMBERS, RIVALS, numberFault } from "./state.js";

export class Fields {
  constructor(root, onSet, onFault) {
    this.root = root;
    this.onSet = onSet;
    this.onFault = onFault;
    const numbers = Object.entries(NUMBERS).map(([key, [label, unit, min, max]]) => this.number(key, label, unit, min, max));
    const discipline = this.choice("discipline", "Discipline", Object.entries(DISCIPLINE_NAMES));
    const cross = this.choice("cross", "Competing flow", RIVALS.map((name) => [name, name ? spoken(name) : "none"]));
    numbers.splice(3, 0, discipline);
    root.append(...numbers, cross);
  }

  number(key, label, unit, min, max) {
    const input = element("input", { type: "number", name: key, min, max, step: "any" });
    input.addEventListener("change", () => {
      const fault = numberFault(key, input.valueAsNumber);
      if (fault) this.onFault(fault);
      else this.onSet({ [key]: input.valueAsNumber });
    });
    return element("label", {}, element("span", {}, label), input, element("small", {}, unit));
  }

  choice(key, label, options) {
    const select = element("select", { name: key }, ...options.map(([value, text]) => element("option", { value }, text)));
    select.addEventListener("change", () => this.onSet({ [key]: select.value }));
    return element("label", {}, element("span", {}, label), select);
  }

  show(fields, isRefused = false) {
    for (const [key, value] of Object.entries(fields)) {
      const input = this.root.querySelector(`[name="${key}"]`);
      // What the reader is typing stays, unless it is refused.
      if (!input || (input === document.activeElement && !isRefused)) continue;
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
