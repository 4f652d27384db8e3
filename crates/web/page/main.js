// The page: what is shown when, and what a change triggers.

import { $, app, on, player } from "./app.js";
import { begin, tell } from "./compute.js";
import { listenForExports, listenForFiles, showExports } from "./exchange.js";
import { Fields, schemeBoxes } from "./fields.js";
import { isFirstOrder, otherLosses } from "./losses.js";
import { capacity, element, goodputs, phase } from "./outcome.js";
import { SCENES } from "./scenes.js";
import { buildLanes, drawTime, lanes, listenToTransport } from "./stage.js";
import { DISCIPLINE_NAMES, START, fromHash, seedsFault, toHash, withScene } from "./state.js";
import { percent, plural, scientific, seconds, timeText } from "./units.js";
import { sentence } from "./verdict.js";
import { listenToZoom, point, rezoom } from "./zoom.js";

const LISTED = ["reno", "cubic", "bbr", "bbr3", "concord", "westwood-vt", "westwood", "vegas", "veno", "hybla", "spectcp", "reno+decoupling"];
const [LEAST_BER, MOST_BER] = [-8, -4]; // Powers of ten; the lowest stands for none.

const root = document.documentElement;
const setting = (sets) => change({ sets: { ...app.state.sets, ...sets } });
const form = new Fields($("fields"), setting, refuse);

Object.assign(on, { change, go, tell, time, begin: markStale, look: keepAddress, scenario: showScenario, models: showModels, exports: showExports });

// Until the new results are there, those on show belong to another state: they are faded, or of another scenario and gone.
function markStale() {
  root.dataset.stale = app.isFirst ? "gone" : "faded";
  $("main").setAttribute("aria-busy", "true");
  if (app.isFirst) $("verdict").textContent = "Simulating …";
  showExports();
}

function showModels() {
  delete root.dataset.stale;
  $("main").removeAttribute("aria-busy");
  goodputs($("goodputs"), app.runs, app.state.seeds);
  $("verdict").textContent = sentence(lanes());
  buildLanes();
  rezoom();
  capacity($("capacity"), app.models);
  const isShared = app.scenario.flow.length > 1 && app.fields.rate;
  $("alone").hidden = isShared;
  $("phase").hidden = !isShared;
  if (isShared) phase($("phase"), app.models, app.fields.rate * 1e6);
  $("busy").hidden = true;
  root.dataset.firstFigure ??= String(Math.round(performance.now()));
  root.dataset.ready = String(app.generation);
}

let isAsked = false;

// Collects any number of changes and draws once per frame.
function time() {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(() => {
    isAsked = false;
    drawTime();
    point();
    keepAddress();
  });
}

let isKept = false;

// Browsers limit how often the address may change.
function keepAddress() {
  if (isKept) return;
  isKept = true;
  setTimeout(() => {
    isKept = false;
    if (!app.isFirst) history.replaceState(null, "", toHash(app.state, view()) || location.pathname);
  }, 400);
}

// What the reader looks at, as far as it differs from the start.
function view() {
  const found = {};
  const exact = (t) => Number(t.toFixed(6));
  if (!player.isPlaying) found.t = exact(player.t);
  if (app.window[0] > 0 || app.window[1] < player.end) found.window = app.window.map(exact);
  if (player.speed !== 1 / 50) found.speed = player.speed;
  return found;
}

function showScenario() {
  const { state, scenario, fields } = app;
  form.show(fields);
  schemeBoxes($("schemes"), LISTED, state.schemes, (schemes) => change({ schemes }));
  showBer(fields.ber);
  $("seeds").value = String(state.seeds);
  $("about").textContent = describe(scenario, fields);
  $("other-losses").textContent = otherLosses(scenario);
  showScene(state.scene);
  $("goodput-told").textContent =
    `Mean of ${plural(state.seeds, "run")} of ${timeText(seconds(scenario.duration))}. Dots are seeds, the whisker is the 95 % ` +
    "confidence interval, the dashed line the bound. “airtcp compare” prints the same numbers.";
}

function showBer(ber) {
  const power = ber > 0 ? Math.log10(ber) : LEAST_BER;
  if (document.activeElement !== $("ber")) $("ber").value = String(Math.max(LEAST_BER, Math.min(MOST_BER, power)));
  const lost = isFirstOrder(app.scenario) ? Math.min(1, ber * 8 * 1500) : 1 - (1 - ber) ** (8 * 1500);
  $("ber-told").textContent = ber ? `${scientific(ber)}: ${percent(lost)} of full packets corrupted` : "none";
  $("ber").setAttribute("aria-valuetext", $("ber-told").textContent);
}

function showScene(number) {
  const scene = number && SCENES[number - 1];
  $("scene").hidden = !scene;
  [...$("scenes").children].forEach((button, place) => button.setAttribute("aria-pressed", String(number === place + 1)));
  if (!scene) return;
  $("scene-title").textContent = scene.title;
  $("scene-says").textContent = scene.says;
  $("scene-try").textContent = scene.attempt;
}

function describe({ name }, { rate, rtt, queue, discipline }) {
  const capacity = rate ? `${rate} Mbit/s` : "varying rate";
  const room = queue ? `${plural(queue, "packet")} (${DISCIPLINE_NAMES[discipline] ?? discipline})` : "not limited";
  return `${name}: ${capacity}, round trip ${rtt} ms, queue ${room}`;
}

function change(changes) {
  app.state = { ...app.state, ...changes };
  begin();
  keepAddress();
}

// The form keeps what holds.
function refuse(fault) {
  tell(fault);
  form.show(app.fields, true);
  $("seeds").value = String(app.state.seeds);
}

function go(state, looked = {}, left = []) {
  Object.assign(app, { state, looked, isFirst: true, window: [0, 1] });
  begin(unread(left));
}

const unread = (left) => (left.length ? `Left out of the address: ${left.join("; ")}` : null);

function setTheme(name) {
  root.dataset.theme = name;
  $("theme").textContent = name === "dark" ? "Light" : "Dark";
  redraw();
}

function redraw() {
  if (app.models.length && root.dataset.stale === undefined) showModels();
}

function listen() {
  $("ber").addEventListener("input", () => {
    const power = $("ber").valueAsNumber;
    setting({ ber: power <= LEAST_BER ? 0 : Number((10 ** power).toPrecision(2)) });
  });
  $("seeds").addEventListener("change", () => {
    const seeds = $("seeds").valueAsNumber;
    const fault = seedsFault(seeds);
    if (fault) refuse(fault);
    else change({ seeds });
  });
  $("add-scheme").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = $("scheme-name").value.trim();
    $("scheme-name").value = "";
    if (name && !app.state.schemes.includes(name)) change({ schemes: [...app.state.schemes, name] });
  });
  $("share").addEventListener("click", () => setting({ cross: "cubic" }));
  $("reset").addEventListener("click", () => go(structuredClone(START)));
  $("theme").addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));
  SCENES.forEach(({ title }, place) => {
    const button = element("button", { type: "button" }, `${place + 1} ${title}`);
    button.addEventListener("click", () => go(withScene(place + 1)));
    $("scenes").append(button);
  });
  // The address in the event is the one asked for: `keepAddress` may have replaced the current one since.
  addEventListener("hashchange", (event) => {
    const [state, looked, left] = fromHash(new URL(event.newURL).hash);
    go(state, looked, left);
  });
  addEventListener("resize", redraw);
}

setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
listen();
listenToTransport();
listenToZoom();
listenForFiles();
listenForExports();
begin(unread(app.left));
