// Writes the state as a command and as Python; the simulator itself writes the scenario file.

import { baseText, overrides } from "./state.js";

export const FILE = "scenario.toml";

const quoted = (text) => (/^[\w./=,:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

// The scenario as it is compared here, with its schemes and seeds: read, it is the file that repeats the page.
export function asked(state, base) {
  const schemes = ["schemes", JSON.stringify(state.schemes)];
  return { text: baseText(state), overrides: [...overrides(state, base), schemes, ["seeds", String(state.seeds)]] };
}

// On the built-in link the command says everything. Elsewhere it takes the scenario file, which has all of it.
export function command(state, base) {
  if (baseText(state) !== null) return `airtcp compare ${FILE}`;
  const sets = overrides(state, base).map(([key, value]) => `--set ${quoted(`${key}=${value}`)}`);
  const schemes = `--schemes ${quoted(state.schemes.join(","))}`;
  return ["airtcp compare", ...sets, schemes, `--seeds ${state.seeds}`].join(" \\\n  ");
}

export function python(state, base) {
  if (baseText(state) !== null) return program(`airtcp.compare("${FILE}")`);
  const sets = overrides(state, base).map(([key, value]) => `    (${JSON.stringify(key)}, ${JSON.stringify(value)}),\n`);
  const list = sets.length ? `[\n${sets.join("")}]` : "[]";
  const asked = `scenario, ${JSON.stringify(state.schemes)}, seeds=${state.seeds}`;
  return program(`airtcp.compare(${asked})`, `scenario = airtcp.Scenario.built_in(${list})\n`);
}

const program = (compared, before = "") => `import airtcp\n\n${before}found = ${compared}\nprint(found)\n`;
