// Plans the worker's jobs: first what is drawn, then the other seeds, then the map.

import { $, app, on, player } from "./app.js";
import { BERS, LossMap, ROUND_TRIPS, SECONDS } from "./map.js";
import { goodputs } from "./outcome.js";
import { asked, command, python } from "./export.js";
import { START, baseText, fieldsOf, overrides } from "./state.js";
import { seconds } from "./units.js";

// Limit on the link's capacity over a detailed run, which keeps each packet and ends there.
const MOST_BITS = 1.5e9;

const lossMap = new LossMap($("map"), (place) => on.change({ sets: { ...app.state.sets, ...place } }));
const worker = startWorker();
let coming = []; // The detailed runs of this plan,
let end = 0; // and their duration.

function startWorker() {
  const code = URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" }));
  const started = new Worker(code);
  started.postMessage({ wasm: $("wasm").textContent });
  started.onmessage = ({ data }) => data.generation === app.generation && onDone(data);
  return started;
}

// Replaces the plan in progress.
function plan(jobs) {
  app.generation += 1;
  worker.postMessage({ generation: app.generation, jobs });
}

// With `told`, what was wrong with another state is still to be read.
export function begin(told = null) {
  app.runs = new Map(app.state.schemes.map((scheme) => [scheme, []]));
  app.exports = null;
  plan([{ key: ["base"], request: { do: "read", text: baseText(app.state) } }]);
  if (told === null) $("error").hidden = true;
  else tell(told);
  $("busy").hidden = false;
  on.begin();
}

export function tell(message) {
  $("error").textContent = message;
  $("error").hidden = false;
}

function onDone({ key: [what, ...rest], answer, model, error }) {
  if (error) onError(what, rest, error);
  else if (what === "base") onBase(answer);
  else if (what === "scenario") onScenario(answer);
  else if (what === "detail") onDetail(model, ...rest);
  else if (what === "export") onExport(answer);
  else if (what === "seed") onSeed(answer.run, rest[0]);
  else lossMap.add(...rest, answer.run);
}

// What cannot run is told and taken back, so that the page goes on: a scheme, or else the whole change.
function onError(what, about, error) {
  const { state } = app;
  const [scheme] = about;
  if (what === "detail" && state.schemes.length > 1) {
    const isOther = (name) => name !== scheme;
    app.state = { ...state, schemes: state.schemes.filter(isOther), lanes: state.lanes?.filter(isOther) ?? null };
    return begin(error);
  }
  if (what === "map") return lossMap.fail(...about);
  const before = app.shown ?? structuredClone(START);
  if (JSON.stringify(before) === JSON.stringify(state)) {
    plan([]);
    $("busy").hidden = true;
    return tell(error);
  }
  app.state = what === "detail" && app.shown === null ? { ...state, schemes: [...START.schemes] } : before;
  begin(error);
}

// Only now it is known which keys the reader's changes affect.
function onBase({ scenario }) {
  app.base = scenario;
  plan([{ key: ["scenario"], request: { do: "read", ...wanted() } }]);
}

function onScenario({ scenario }) {
  const fields = fieldsOf(scenario, app.state);
  Object.assign(app, { scenario, fields });
  on.scenario();
  const duration = seconds(scenario.duration);
  end = Math.min(duration, fields.rate ? Math.max(0.5, MOST_BITS / (fields.rate * 1e6)) : duration);
  coming = [];
  lossMap.begin(app.state.schemes, JSON.stringify([elsewhere(0, 0), app.state.schemes]));
  lossMap.mark(fields);
  plan([...detailedJobs(duration), exportJob(), ...seedJobs(duration), ...mapJobs()]);
}

const wanted = (sets = app.state.sets, duration = app.state.duration) => ({
  text: baseText(app.state),
  overrides: overrides({ ...app.state, sets, duration }, app.base),
});

const elsewhere = (ber, rtt) => wanted({ ...app.state.sets, ber, rtt }, Math.min(SECONDS, end));

function detailedJobs(duration) {
  const { state, scenario } = app;
  const of = wanted(state.sets, end < duration ? end : state.duration);
  return state.schemes.map((scheme) => ({
    key: ["detail", scheme, end === duration],
    request: { of, scheme, seed: scenario.seed, series_s: 0, packets: true },
    draws: { scenario, scheme, end },
  }));
}

const exportJob = () => ({ key: ["export"], request: { do: "read", ...asked(app.state, app.base) } });

function onExport({ toml }) {
  app.exports = { toml, command: command(app.state, app.base), python: python(app.state, app.base) };
  on.exports();
}

// The first seed's detailed run counts too, if it is complete.
function seedJobs(duration) {
  const of = wanted();
  const seeds = [...Array(app.state.seeds).keys()].map((place) => app.scenario.seed + place);
  if (end === duration) seeds.shift();
  return seeds.flatMap((seed) => app.state.schemes.map((scheme) => ({ key: ["seed", scheme], request: { of, scheme, seed } })));
}

// From the middle outwards, where winners change.
function mapJobs() {
  const places = BERS.flatMap((ber, column) => ROUND_TRIPS.map((rtt, row) => ({ ber, rtt, far: Math.hypot(column - 2.5, row - 2.5) })));
  places.sort((a, b) => a.far - b.far);
  return places.flatMap(({ ber, rtt }) => {
    const of = elsewhere(ber, rtt);
    const missing = app.state.schemes.filter((scheme) => !lossMap.knows(ber, rtt, scheme));
    return missing.map((scheme) => ({ key: ["map", ber, rtt, scheme], request: { of, scheme, seed: app.scenario.seed } }));
  });
}

function onDetail(model, scheme, isWhole) {
  coming.push(model);
  if (isWhole) onSeed(model.run, scheme);
  if (coming.length < app.state.schemes.length) return;
  app.models = coming;
  app.shown = structuredClone(app.state);
  player.end = end;
  on.models();
}

function onSeed(run, scheme) {
  const { runs, state, generation } = app;
  runs.get(scheme).push(run);
  goodputs($("goodputs"), runs, state.seeds);
  const isComplete = [...runs.values()].every((records) => records.length === state.seeds);
  if (isComplete) document.documentElement.dataset.compared = String(generation);
}
