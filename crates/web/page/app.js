// State that all parts of the page share: the reader's choices and their results.

import { Player } from "./player.js";
import { fromHash } from "./state.js";

export const $ = (id) => document.getElementById(id);

const [state, looked, left] = fromHash(location.hash);

export const app = {
  state,
  looked, // Time, window and speed from the address.
  left, // What of the address makes no sense.
  shown: null, // The state whose results are on show.
  isFirst: true, // Nothing of this state's scenario has been shown yet.
  base: null, // The base scenario, complete.
  scenario: null, // The base scenario with the reader's changes.
  exports: null, // The state to take away, once it is known; the same for all of them.
  fields: {},
  models: [], // The detailed runs on show, in the order of the schemes.
  runs: new Map(), // The records so far, by scheme.
  losses: [], // Times of lost packets and window cuts in the lanes on show.
  window: [0, 1], // The interval of the figures over time.
  generation: 0, // The plan in progress.
};

// Callbacks of main.js, for modules that it imports.
export const on = { change() {}, go() {}, time() {}, look() {}, scenario() {}, models() {}, exports() {}, tell() {}, begin() {} };

export const player = new Player(() => on.time());
