// What all parts of the page share: the reader's choice, and what was computed for it.

import { Player } from "./player.js";
import { fromHash } from "./state.js";

export const $ = (id) => document.getElementById(id);

const [state, looked] = fromHash(location.hash);

export const app = {
  state,
  looked, // Time, window and speed of the address.
  isFirst: true, // Nothing was shown of this state's scenario yet.
  base: null, // The base scenario, complete.
  scenario: null, // The same with the reader's changes.
  toml: "",
  fields: {},
  models: [], // Detailed runs that are shown, in the order of the schemes.
  runs: new Map(), // Of each scheme, the records so far.
  losses: [], // When a packet dies or a window is cut in the lanes that are shown.
  window: [0, 1], // Of the figures over time.
  generation: 0, // Of the plan that is carried out.
};

// What main.js decides, for parts that it imports itself.
export const on = { change() {}, go() {}, time() {}, look() {}, scenario() {}, models() {}, fail() {} };

export const player = new Player(() => on.time());
