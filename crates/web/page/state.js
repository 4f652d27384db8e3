// The reader's choices: a scenario, changes to it, schemes, seeds. The page's address stores them.

import { bps, seconds, trim } from "./units.js";
import { SCENES } from "./scenes.js";

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
  if (cross) set("flow", `[{ name = "main" }, { name = "cross", scheme = "${cross}", measure = false }]`);
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

// One-way delay of all links but the one that is changed.
function otherDelays(base) {
  if (!base) return 0;
  const others = base.link.filter(({ name }) => name !== base.base_station);
  return others.reduce((sum, { delay }) => sum + (seconds(delay ?? "0s") ?? 0), 0);
}

// The values of the fields for a complete scenario.
export function fieldsOf(scenario, state) {
  const link = scenario.link.find(({ name }) => name === scenario.base_station) ?? scenario.link.at(-1);
  const ways = scenario.link.map(({ delay, reverse }) => (seconds(delay ?? "0s") ?? 0) + (seconds(reverse?.delay ?? "0s") ?? 0));
  const rate = link.rate ? bps(link.rate) : null;
  return {
    rate: rate === null ? null : trim(rate / 1e6),
    rtt: trim(ways.reduce((sum, way) => sum + way, 0) * 1e3, 6),
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

// Returns the state and the view: time, window, speed.
export function fromHash(hash) {
  try {
    const { t, window, speed, ...chosen } = JSON.parse(decodeURIComponent(hash.slice(1)));
    return [checked({ ...START, ...chosen }), { t, window, speed }];
  } catch {
    return [structuredClone(START), {}];
  }
}

function checked(state) {
  const isScene = Number.isInteger(state.scene) && state.scene >= 1 && state.scene <= SCENES.length;
  const names = (Array.isArray(state.schemes) ? state.schemes : []).filter((name) => typeof name === "string");
  const seeds = Number.isInteger(state.seeds) ? Math.min(Math.max(state.seeds, 1), 30) : START.seeds;
  return { ...state, scene: isScene ? state.scene : null, seeds, schemes: names.length ? names : START.schemes, sets: { ...state.sets } };
}
