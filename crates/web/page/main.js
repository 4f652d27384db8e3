// The page: the state, the worker that computes it, and everything that shows it.

import { FILE, command, python } from "./export.js";
import { DISCIPLINE_NAMES, Fields, schemeBoxes } from "./fields.js";
import { Figures } from "./figures.js";
import { drawLane, laneLabel, lineOf } from "./lane.js";
import { BERS, LossMap, ROUND_TRIPS, SECONDS } from "./map.js";
import { deathTime, upper } from "./model.js";
import { capacity, element, goodputs, phase } from "./outcome.js";
import { colourOf, spoken } from "./palette.js";
import { Player, SPEEDS } from "./player.js";
import { SCENES } from "./scenes.js";
import { START, baseText, fieldsOf, fromHash, overrides, toHash, withScene } from "./state.js";
import { percent, plural, scientific, seconds, timeText } from "./units.js";
import { sentence } from "./verdict.js";

const $ = (id) => document.getElementById(id);
const LISTED = ["reno", "cubic", "bbr", "bbr3", "concord", "westwood-vt", "westwood", "vegas", "veno", "hybla", "spectcp", "reno+decoupling"];
const MOST_SEEDS = 30;
// More packets than this are neither drawn nor kept: the detailed run ends earlier.
const MOST_BITS = 1.5e9;
const IS_PING = /^PING |bytes from .* time=/m;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

let [state, looked] = fromHash(location.hash);
let base = null; // The base scenario, complete.
let scenario = null; // The same with the reader's changes.
let toml = "";
let fields = {};
let generation = 0;
let models = []; // What is shown, in the order of the schemes; what is being computed.
let coming = [];
let runs = new Map();
let losses = [];
let end = 0; // Of the detailed runs that are coming.
let isFirst = true;

const axes = { window: [0, 1], onZoom: zoom, onSeek: (t) => player.seek(t), onKey: onFigureKey };
const player = new Player(onTime);
const figures = new Figures($("figures"), axes);
const lossMap = new LossMap($("map"), (place) => change({ sets: { ...state.sets, ...place } }));
const form = new Fields($("fields"), (sets) => change({ sets: { ...state.sets, ...whole(sets) } }));

const whole = (sets) => ("queue" in sets ? { queue: Math.round(sets.queue) } : sets);

// Computing

const worker = startWorker();

function startWorker() {
  const code = URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" }));
  const started = new Worker(code);
  started.postMessage({ wasm: $("wasm").textContent });
  started.onmessage = ({ data }) => data.generation === generation && onDone(data);
  return started;
}

function plan(jobs) {
  generation += 1;
  worker.postMessage({ generation, jobs });
}

function begin() {
  runs = new Map(state.schemes.map((scheme) => [scheme, []]));
  plan([{ key: ["base"], request: { do: "read", text: baseText(state) } }]);
  $("error").hidden = true;
  $("busy").hidden = false;
}

const wanted = (sets = state.sets, duration = state.duration) => ({
  text: baseText(state),
  overrides: overrides({ ...state, sets, duration }, base),
});

function onDone({ key: [what, ...rest], answer, model, error }) {
  if (error) {
    plan([]);
    return fail(error);
  }
  if (what === "base") {
    base = answer.scenario;
    plan([{ key: ["scenario"], request: { do: "read", ...wanted() } }]);
  } else if (what === "scenario") {
    scenario = answer.scenario;
    toml = answer.toml;
    fields = fieldsOf(scenario, state);
    showFields();
    planRuns();
  } else if (what === "detail") onDetail(model, ...rest);
  else if (what === "seed") onSeed(answer.run, rest[0]);
  else lossMap.add(...rest, answer.run);
}

function fail(message) {
  $("error").textContent = message;
  $("error").hidden = false;
  $("busy").hidden = true;
}

// First what is drawn, then the other seeds, then the map.
function planRuns() {
  const duration = seconds(scenario.duration);
  const shown = Math.min(duration, shownSeconds());
  const first = scenario.seed;
  const of = wanted();
  const detailed = wanted(state.sets, shown < duration ? shown : state.duration);
  const jobs = state.schemes.map((scheme) => ({
    key: ["detail", scheme, shown === duration],
    request: { of: detailed, scheme, seed: first, series_s: 0, packets: true },
    draws: { scenario, scheme, end: shown },
  }));
  for (let seed = first; seed < first + state.seeds; seed++) {
    if (seed === first && shown === duration) continue;
    for (const scheme of state.schemes) jobs.push({ key: ["seed", scheme], request: { of, scheme, seed } });
  }
  coming = [];
  end = shown;
  lossMap.begin(state.schemes, JSON.stringify([elsewhere(0, 0), state.schemes]));
  lossMap.mark(fields);
  plan([...jobs, ...mapJobs()]);
}

const shownSeconds = () => (fields.rate ? Math.max(0.5, MOST_BITS / (fields.rate * 1e6)) : Infinity);

const elsewhere = (ber, rtt) => wanted({ ...state.sets, ber, rtt }, Math.min(SECONDS, end));

// From the middle outwards, where winners change.
function mapJobs() {
  const places = BERS.flatMap((ber, column) => ROUND_TRIPS.map((rtt, row) => ({ ber, rtt, far: Math.hypot(column - 2.5, row - 2.5) })));
  places.sort((a, b) => a.far - b.far);
  return places.flatMap(({ ber, rtt }) => {
    const of = elsewhere(ber, rtt);
    const missing = state.schemes.filter((scheme) => !lossMap.knows(ber, rtt, scheme));
    return missing.map((scheme) => ({ key: ["map", ber, rtt, scheme], request: { of, scheme, seed: scenario.seed } }));
  });
}

function onDetail(model, scheme, isWhole) {
  coming.push(model);
  if (isWhole) onSeed(model.run, scheme);
  if (coming.length < state.schemes.length) return;
  models = coming;
  player.end = end;
  showRun();
}

function onSeed(run, scheme) {
  runs.get(scheme)?.push(run);
  goodputs($("goodputs"), runs, state.seeds);
  if ([...runs.values()].every((records) => records.length === state.seeds)) document.documentElement.dataset.compared = generation;
}

// Showing

function showRun() {
  const shown = lanes();
  losses = shown.flatMap((model) => [...model.cuts.map(({ t }) => t), ...deaths(model)]).sort((a, b) => a - b);
  $("verdict").textContent = sentence(shown);
  buildLanes(shown);
  if (isFirst) enter();
  else player.seek(Math.min(player.t, player.end));
  zoom(axes.window[1] > player.end || axes.window[1] <= 1 ? null : axes.window);
  capacity($("capacity"), models);
  const isShared = scenario.flow.length > 1 && fields.rate;
  $("alone").hidden = isShared;
  $("phase").hidden = !isShared;
  if (isShared) phase($("phase"), models, fields.rate * 1e6);
  $("scrub").max = String(player.end);
  drawTicks();
  $("busy").hidden = true;
  document.documentElement.dataset.firstFigure ??= String(Math.round(performance.now()));
  document.documentElement.dataset.ready = String(generation);
}

function lanes() {
  const there = models.map(({ scheme }) => scheme);
  const chosen = (state.lanes ?? []).filter((scheme) => there.includes(scheme));
  return [...new Set([...chosen, ...there])].slice(0, 2).map((name) => models[there.indexOf(name)]);
}

function deaths(model) {
  return model.sides.flatMap((side) => {
    const found = [];
    for (let row = 0; row < side.n; row++) if (side.fate[row] > 1) found.push(deathTime(side, row));
    return found;
  });
}

// The first opening: at the address's time, or shortly before the first loss.
function enter() {
  isFirst = false;
  if (SPEEDS.includes(looked.speed)) player.speed = looked.speed;
  $("speed").value = String(SPEEDS.indexOf(player.speed));
  if (Array.isArray(looked.window)) axes.window = looked.window;
  player.seek(looked.t ?? Math.max(0, interesting() - 0.06));
  if (!calm.matches && looked.t === undefined) player.play();
}

// A packet that dies in the first lane, once slow start is over.
function interesting() {
  const [first] = lanes();
  const death = first.losses.find(({ t, cause }) => t > 1 && cause === "corruption") ?? first.cuts.find(({ t }) => t > 1);
  return death?.t ?? losses.find((t) => t > 0.5) ?? 1;
}

function buildLanes(shown) {
  const list = $("lanes");
  list.replaceChildren(
    ...shown.map((model) => {
      const select = element("select", { "aria-label": "scheme of this lane" }, ...state.schemes.map((name) => element("option", { value: name }, spoken(name))));
      select.value = model.scheme;
      select.addEventListener("change", () => swapLane(model.scheme, select.value));
      const colour = colourOf(model.scheme, state.schemes);
      return element(
        "section",
        { class: "lane", style: { "--own": colour } },
        element("header", {}, select, element("output", { class: "line" })),
        element("canvas", { role: "img", "aria-label": laneLabel(model, player.t) }),
      );
    }),
  );
  onTime();
}

function swapLane(old, chosen) {
  const names = lanes().map(({ scheme }) => scheme);
  change({ lanes: names.includes(chosen) ? names.toReversed() : names.map((name) => (name === old ? chosen : name)) }, true);
}

let isAsked = false;

function onTime() {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(() => {
    isAsked = false;
    drawTime();
  });
}

let toldAt = 0;

function drawTime() {
  const shown = lanes();
  const among = models.map(({ scheme }) => scheme);
  [...$("lanes").children].forEach((section, place) => {
    const model = shown[place];
    if (!model) return;
    const canvas = section.querySelector("canvas");
    drawLane(canvas, model, player.t, player.speed, colourOf(model.scheme, among));
    section.querySelector("output").textContent = lineOf(model, player.t);
    if (!player.isPlaying) canvas.setAttribute("aria-label", laneLabel(model, player.t));
  });
  figures.point(player.t);
  $("scrub").value = String(player.t);
  $("clock").textContent = `${player.t.toFixed(4)} s`;
  $("play").textContent = player.isPlaying ? "Pause" : "Play";
  $("play").setAttribute("aria-pressed", String(player.isPlaying));
  $("pace").textContent = player.speed === 1 ? "real time" : `1/${Math.round(1 / player.speed)} speed`;
  if (!player.isPlaying || performance.now() - toldAt > 1000) {
    toldAt = performance.now();
    keepAddress();
  }
}

let addressTimer = 0;

// Browsers refuse to hear of it too often.
function keepAddress() {
  clearTimeout(addressTimer);
  addressTimer = setTimeout(() => {
    if (isFirst) return;
    const view = {};
    if (!player.isPlaying) view.t = Number(player.t.toFixed(6));
    if (axes.window[0] > 0 || axes.window[1] < player.end) view.window = axes.window.map((t) => Number(t.toFixed(6)));
    if (player.speed !== 1 / 50) view.speed = player.speed;
    history.replaceState(null, "", toHash(state, view) || location.pathname);
  }, 300);
}

function zoom(window) {
  const [from, to] = window ?? [0, player.end];
  const least = Math.max(1e-3, player.end * 1e-5);
  axes.window = to - from < least ? axes.window : [Math.max(0, from), Math.min(player.end, to)];
  $("whole").disabled = axes.window[0] === 0 && axes.window[1] === player.end;
  if (models.length) figures.show(models, fields);
  figures.point(player.t);
  keepAddress();
}

function zoomBy(factor) {
  const half = ((axes.window[1] - axes.window[0]) * factor) / 2;
  const middle = Math.min(Math.max(player.t, half), Math.max(half, player.end - half));
  zoom([middle - half, middle + half]);
}

function onFigureKey(event) {
  const wide = axes.window[1] - axes.window[0];
  const keys = {
    ArrowLeft: () => player.seek(player.t - wide / 100),
    ArrowRight: () => player.seek(player.t + wide / 100),
    "+": () => zoomBy(0.5),
    "=": () => zoomBy(0.5),
    "-": () => zoomBy(2),
    Home: () => zoom(null),
  };
  if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  keys[event.key]();
}

// Losses along the scrubber: where there are many, the strip is darker.
function drawTicks() {
  const wide = 400;
  const bins = new Float64Array(wide);
  for (const t of losses) bins[Math.min(wide - 1, Math.floor((t / player.end) * wide))] += 1;
  const most = Math.max(...bins, 1);
  const stops = [...bins].map((many, bin) => {
    const share = Math.round(100 * Math.sqrt(many / most));
    return `color-mix(in srgb, var(--lost) ${share}%, transparent) ${((bin / wide) * 100).toFixed(2)}% ${(((bin + 1) / wide) * 100).toFixed(2)}%`;
  });
  $("ticks").style.background = `linear-gradient(to right, ${stops.join(",")})`;
}

function showFields() {
  form.show(fields);
  schemeBoxes($("schemes"), LISTED, state.schemes, (schemes) => change({ schemes }));
  const exponent = fields.ber > 0 ? Math.log10(fields.ber) : -8;
  if (document.activeElement !== $("ber")) $("ber").value = String(Math.max(-8, Math.min(-4, exponent)));
  const lost = 1 - (1 - fields.ber) ** 12000;
  $("ber-told").textContent = fields.ber ? `${scientific(fields.ber)}: ${percent(lost)} of full packets corrupted` : "none";
  $("ber").setAttribute("aria-valuetext", $("ber-told").textContent);
  $("seeds").value = String(state.seeds);
  $("about").textContent = describe();
  const scene = state.scene && SCENES[state.scene - 1];
  $("scene").hidden = !scene;
  if (scene) {
    $("scene-title").textContent = scene.title;
    $("scene-says").textContent = scene.says;
    $("scene-try").textContent = scene.attempt;
  }
  [...$("scenes").children].forEach((button, place) => button.setAttribute("aria-pressed", String(state.scene === place + 1)));
  $("goodput-told").textContent = `Mean of ${plural(state.seeds, "run")} of ${timeText(seconds(scenario.duration))}. Dots are seeds, the whisker is the 95 % confidence interval, the dashed line the bound. “airtcp compare” prints the same numbers.`;
}

function describe() {
  const { rate, rtt, queue, discipline } = fields;
  const capacity = rate ? `${rate} Mbit/s` : "varying rate";
  const room = queue ? `${plural(queue, "packet")} (${DISCIPLINE_NAMES[discipline] ?? discipline})` : "not limited";
  return `${scenario.name}: ${capacity}, round trip ${rtt} ms, queue ${room}`;
}

// Changing

function change(changes, isOnlyShown = false) {
  state = { ...state, ...changes };
  if (isOnlyShown) return showRun();
  begin();
  keepAddress();
}

function go(next) {
  state = next;
  looked = {};
  isFirst = true;
  axes.window = [0, 1];
  begin();
}

function listen() {
  $("play").addEventListener("click", () => {
    if (player.t >= player.end) player.seek(0);
    player.play(!player.isPlaying);
  });
  $("step").addEventListener("click", () => {
    player.play(false);
    player.seek(nextStep(player.t));
  });
  $("next").addEventListener("click", () => {
    const found = losses.find((t) => t > player.t + 1e-6);
    if (found === undefined) return;
    // Played, a loss comes a moment after the jump; paused, it is there.
    const before = player.isPlaying ? 0.3 * player.speed : 0;
    player.seek(Math.max(player.t, found - before) + 1e-6);
  });
  $("scrub").addEventListener("input", () => player.seek($("scrub").valueAsNumber));
  $("speed").addEventListener("input", () => {
    player.speed = SPEEDS[$("speed").valueAsNumber];
    onTime();
  });
  $("ber").addEventListener("input", () => {
    const ber = $("ber").valueAsNumber <= -8 ? 0 : Number((10 ** $("ber").valueAsNumber).toPrecision(2));
    change({ sets: { ...state.sets, ber } });
  });
  $("seeds").addEventListener("change", () => {
    const seeds = Math.min(MOST_SEEDS, Math.max(1, Math.round($("seeds").valueAsNumber || 5)));
    change({ seeds });
  });
  $("add-scheme").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = $("scheme-name").value.trim();
    if (name && !state.schemes.includes(name)) change({ schemes: [...state.schemes, name] });
    $("scheme-name").value = "";
  });
  $("share").addEventListener("click", () => change({ sets: { ...state.sets, cross: "cubic" } }));
  $("whole").addEventListener("click", () => zoom(null));
  $("closer").addEventListener("click", () => zoomBy(0.25));
  $("reset").addEventListener("click", () => go(structuredClone(START)));
  $("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  SCENES.forEach(({ title }, place) => {
    const button = element("button", { type: "button" }, `${place + 1} ${title}`);
    button.addEventListener("click", () => go(withScene(place + 1)));
    $("scenes").append(button);
  });
  addEventListener("keydown", onKey);
  addEventListener("hashchange", () => {
    const [next, view] = fromHash(location.hash);
    go(next);
    looked = view;
  });
  addEventListener("resize", redraw);
  listenForFiles();
  listenForExports();
}

// The next moment at which a packet is sent or comes out, in a lane that is shown.
function nextStep(t) {
  let soonest = player.end;
  for (const { sides } of lanes()) {
    for (const side of sides) {
      const next = side.sent[upper(side.sent, t + 1e-7)];
      if (next < soonest) soonest = next;
    }
  }
  return Math.min(soonest, t + 0.05);
}

function onKey(event) {
  const isTyping = /^(input|select|textarea|button|summary)$/i.test(event.target.tagName);
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = { " ": "play", ".": "step", n: "next" };
  if (!keys[event.key]) return;
  event.preventDefault();
  $(keys[event.key]).click();
}

function listenForFiles() {
  const take = async (file) => {
    if (!file) return;
    const text = await file.text();
    if (IS_PING.test(text)) fail(`${file.name} is a measurement: run “airtcp fit ${file.name}”, and drop the scenario that it writes here.`);
    else go({ ...START, file: { name: file.name, text }, schemes: state.schemes });
  };
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("over");
  });
  addEventListener("dragleave", (event) => event.relatedTarget || document.body.classList.remove("over"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("over");
    take(event.dataTransfer.files[0]);
  });
  $("file").addEventListener("change", () => take($("file").files[0]));
}

function listenForExports() {
  const offers = { "as-toml": () => toml, "as-command": () => command(state, base), "as-python": () => python(state, base) };
  for (const [id, text] of Object.entries(offers)) {
    $(id).addEventListener("click", () => {
      $("exported").textContent = text();
      $("export-box").hidden = false;
      for (const other of Object.keys(offers)) $(other).setAttribute("aria-pressed", String(other === id));
    });
  }
  $("copy").addEventListener("click", async () => {
    const range = document.createRange();
    range.selectNodeContents($("exported"));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    await navigator.clipboard?.writeText($("exported").textContent).catch(() => {});
  });
  $("save").addEventListener("click", () => {
    const link = element("a", { href: URL.createObjectURL(new Blob([toml], { type: "text/plain" })), download: FILE });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  $("theme").textContent = name === "dark" ? "Light" : "Dark";
  redraw();
}

function redraw() {
  if (!models.length) return;
  showRun();
  goodputs($("goodputs"), runs, state.seeds);
}

setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
listen();
begin();
