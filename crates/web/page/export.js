// Writes the state as a command and as Python; the simulator itself writes the scenario file.

import { baseText, overrides } from "./state.js";

export const FILE = "scenario.toml";

const quoted = (text) => (/^[\w./=,:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

export function command(state, base) {
  const sets = overrides(state, base).map(([key, value]) => `--set ${quoted(`${key}=${value}`)}`);
  const scenario = baseText(state) === null ? [] : [quoted(state.file?.name ?? FILE)];
  const schemes = `--schemes ${quoted(state.schemes.join(","))}`;
  return ["airtcp compare", ...scenario, ...sets, schemes, `--seeds ${state.seeds}`].join(" \\\n  ");
}

export function python(state, base) {
  const sets = overrides(state, base).map(([key, value]) => `    (${JSON.stringify(key)}, ${JSON.stringify(value)}),\n`);
  const list = sets.length ? `[\n${sets.join("")}]` : "[]";
  const text = baseText(state);
  const scenario =
    text === null ? `airtcp.Scenario.built_in(${list})` : `airtcp.Scenario.load(${JSON.stringify(state.file?.name ?? FILE)}, ${list})`;
  return `import airtcp

scenario = ${scenario}
found = airtcp.compare(scenario, ${JSON.stringify(state.schemes)}, seeds=${state.seeds})
print(found)
`;
}
