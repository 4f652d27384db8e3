// The reader's choices: a scenario, changes to it, schemes, seeds. The page's address stores them.

import { isNetwork, roundTripOf } from "./network.js";
import { bps, trim } from "./units.js";
import { SCENES } from "./scenes.js";

// The numbers of the form: label, unit, least and greatest value.
export const NUMBERS = {
  rate: ["Rate", "Mbit/s", 0.01, 10000],
  rtt: ["Round trip", "ms", 0, 5000],
  queue: ["Queue", "packets", 1, 100000],
  burst: ["Lost in bursts", "%", 0, 90],
  burstLength: ["Burst length", "packets", 1, 1000],
  jitter: ["Delay variation", "ms", 0, 2000],
};
const WHOLE = new Set(["queue"]);
export const RIVALS = ["", "cubic", "reno", "bbr", "concord"];
export const DISCIPLINE_NAMES = { droptail: "DropTail", red: "RED", codel: "CoDel", "fq-codel": "FQ-CoDel" };
export const MOST_SEEDS = 30;
const MOST_SECONDS = 3600;

export const START = {
  scene: null, // Its number, from 1; its scenario is then the base.
  file: null, // { name, text } of a dropped scenario file, which is then the base.
  sets: {}, // Changed fields.
  schemes: ["reno", "bbr"],
  seeds: 5,
  duration: null,
  lanes: null, // The two schemes that are drawn; null for the first two.
};

// The text of the base scenario; null for the built-in one.
export const baseText = (state) => state.file?.text ?? (state.scene && SCENES[state.scene - 1].text) ?? null;

export const withScene = (number) => {
  const { sets = {}, schemes, duration = null } = SCENES[number - 1];
  return { ...START, scene: number, sets: { ...sets }, schemes: [...schemes], duration };
};

// Overrides for `--set`. `base`: the complete base scenario.
export function overrides(state, base) {
  const found = [];
  const link = base ? base.base_station : "wireless";
  const set = (key, value) => found.push([key, String(value)]);
  const { rate, rtt, queue, discipline, ber, burst, burstLength, jitter, cross } = state.sets;
  if (rate !== undefined) set(`${link}.rate`, `${trim(rate)}Mbit/s`);
  if (rtt !== undefined) set(`${link}.delay`, `${trim(Math.max(0, rtt / 2 - otherDelays(base) * 1e3))}ms`);
  if (isAnother(discipline, base)) set(`${link}.queue`, queueTable(discipline, queue));
  else if (queue !== undefined) set(`${link}.queue.packets`, queue);
  if (ber !== undefined) set(`${link}.loss.ber`, ber);
  if (burst) set(`${link}.loss.burst`, burstTable(burst / 100, burstLength ?? 5));
  if (jitter) set(`${link}.jitter`, `{ distribution = "uniform", high = "${jitter}ms", overtaking = false }`);
  if (cross) set("flow", besideTable(cross, base));
  if (state.duration) set("duration", `${state.duration}s`);
  return found;
}

// Disciplines have different keys, so the whole table is replaced.
const queueTable = (discipline, packets) => `{ discipline = "${discipline}"${packets === undefined ? "" : `, packets = ${packets}`} }`;

function isAnother(discipline, base) {
  const now = base?.link.find(({ name }) => name === base.base_station)?.queue?.discipline ?? "droptail";
  return discipline !== undefined && discipline !== now;
}

// A two-state chain that loses everything in the bad state: as long as so many packets on average, and that share of the
// time. With a large share, bursts are longer: the next state then does not depend on the last.
function burstTable(share, length) {
  const leave = trim(Math.min(1 / length, 1 - share), 6);
  return `{ to_bad = ${trim((leave * share) / (1 - share), 6)}, to_good = ${leave}, bad_loss = 1 }`;
}

// One-way delay of what is crossed beside the link that is changed.
const otherDelays = (base) => (base ? (roundTripOf(base) - roundTripOf(base, base.base_station)) / 2 : 0);

// The flow that is followed, and another one beside it.
function besideTable(cross, base) {
  const way = base && isNetwork(base) ? wayTable(base.flow.find(({ measure }) => measure)) : "";
  return `[{ name = "main"${way} }, { name = "cross", scheme = "${cross}", measure = false${way} }]`;
}

// The way of a flow's first copy, as more keys of a table.
function wayTable({ access, ...flow }) {
  const keys = ["direction", "enter", "leave", "from", "to", "via", "return_via"].filter((key) => flow[key] !== undefined);
  const own = access?.length ? `, access = { delay = "${access[0].delay}", rate = "${access[0].rate}" }` : "";
  return keys.map((key) => `, ${key} = ${JSON.stringify(flow[key])}`).join("") + own;
}

// Says what is wrong with a number of the form; nothing if it is fine.
export function numberFault(key, value) {
  const [label, unit, least, most] = NUMBERS[key];
  const isFine = Number.isFinite(value) && value >= least && value <= most && (Number.isInteger(value) || !WHOLE.has(key));
  return isFine ? null : `${label}: ${WHOLE.has(key) ? "a whole number" : "a number"} from ${least} to ${most} ${unit}`;
}

export const seedsFault = (value) =>
  Number.isInteger(value) && value >= 1 && value <= MOST_SEEDS ? null : `Seeds: a whole number from 1 to ${MOST_SEEDS}`;

// The values of the fields for a complete scenario.
export function fieldsOf(scenario, state) {
  const link = scenario.link.find(({ name }) => name === scenario.base_station) ?? scenario.link.at(-1);
  const rate = link.rate ? bps(link.rate) : null;
  return {
    rate: rate === null ? null : trim(rate / 1e6),
    rtt: trim(roundTripOf(scenario) * 1e3, 6),
    queue: link.queue?.packets ?? null,
    discipline: link.queue?.discipline ?? "droptail",
    ber: link.loss?.ber ?? 0,
    burst: state.sets.burst ?? 0,
    burstLength: state.sets.burstLength ?? 5,
    jitter: state.sets.jitter ?? 0,
    cross: state.sets.cross ?? "",
  };
}

// Only differences from the start are written.
export function toHash(state, view) {
  const kept = Object.entries(state).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(START[key]));
  const all = { ...Object.fromEntries(kept), ...view };
  return Object.keys(all).length ? `#${encodeURIComponent(JSON.stringify(all))}` : "";
}

// Returns the state, the view (time, window, speed), and what of the address is left out, because it makes no sense.
export function fromHash(hash) {
  if (hash.length < 2) return [structuredClone(START), {}, []];
  try {
    const { t, window, speed, ...chosen } = JSON.parse(decodeURIComponent(hash.slice(1)));
    return checked(chosen, { t, window, speed });
  } catch {
    return [structuredClone(START), {}, ["it is no state of this page"]];
  }
}

const isNumber = (value, least = 0, most = Infinity) => Number.isFinite(value) && value >= least && value <= most;
const isListOfNames = (value) => Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === "string");
const isFileRead = (value) => typeof value?.name === "string" && typeof value?.text === "string";

const STATE = {
  scene: (value) => Number.isInteger(value) && value >= 1 && value <= SCENES.length,
  file: isFileRead,
  sets: (value) => typeof value === "object" && value !== null,
  schemes: isListOfNames,
  seeds: (value) => !seedsFault(value),
  duration: (value) => isNumber(value, 0.001, MOST_SECONDS),
  lanes: isListOfNames,
};
const VIEW = {
  t: (value) => isNumber(value),
  window: (value) => Array.isArray(value) && value.length === 2 && value.every((end) => isNumber(end)) && value[0] < value[1],
  speed: (value) => isNumber(value),
};
const SETS = {
  ...Object.fromEntries(Object.keys(NUMBERS).map((key) => [key, (value) => !numberFault(key, value)])),
  ber: (value) => isNumber(value, 0, 1),
  discipline: (value) => Object.hasOwn(DISCIPLINE_NAMES, value),
  cross: (value) => RIVALS.includes(value),
};

function checked(chosen, view) {
  const left = [];
  const kept = (given, checks, usual = {}) => {
    const fine = ([key, value]) => value !== undefined && (value === usual[key] || checks[key]?.(value));
    const entries = Object.entries(given).filter(([, value]) => value !== undefined && value !== null);
    left.push(...entries.filter((entry) => !fine(entry)).map(([key, value]) => `${key} = ${JSON.stringify(value)}`));
    return Object.fromEntries(entries.filter(fine));
  };
  const state = { ...structuredClone(START), ...kept(chosen, STATE, START) };
  state.sets = kept(state.sets, SETS);
  state.schemes = [...new Set(state.schemes)];
  return [state, kept(view, VIEW), left];
}
