// The lanes and their controls: play, step, next loss, speed, the scrubber.

import { $, app, on, player } from "./app.js";
import { drawLane, laneLabel, lineOf } from "./lane.js";
import { deathTime, upper } from "./model.js";
import { element } from "./outcome.js";
import { colourOf, spoken } from "./palette.js";
import { SPEEDS } from "./player.js";

const calm = matchMedia("(prefers-reduced-motion: reduce)");

// The schemes whose runs are on show.
export const shownSchemes = () => app.models.map(({ scheme }) => scheme);

// The models of the two lanes: those chosen by the reader, else the first ones.
export function lanes() {
  const there = shownSchemes();
  const chosen = (app.state.lanes ?? []).filter((scheme) => there.includes(scheme));
  return [...new Set([...chosen, ...there])].slice(0, 2).map((name) => app.models[there.indexOf(name)]);
}

export function buildLanes() {
  const shown = lanes();
  app.losses = shown.flatMap((model) => [...model.cuts.map(({ t }) => t), ...deaths(model)]).sort((a, b) => a - b);
  $("lanes").replaceChildren(...shown.map(lane));
  $("scrub").max = String(player.end);
  drawTicks();
  if (app.isFirst) enter();
  else player.seek(Math.min(player.t, player.end));
}

function lane(model) {
  const options = shownSchemes().map((name) => element("option", { value: name }, spoken(name)));
  const select = element("select", { "aria-label": "scheme of this lane" }, ...options);
  select.value = model.scheme;
  select.addEventListener("change", () => swap(model.scheme, select.value));
  return element(
    "section",
    { class: "lane", style: { "--own": colourOf(model.scheme, shownSchemes()) } },
    element("header", {}, select, element("output", { class: "line" })),
    element("canvas", { role: "img", "aria-label": laneLabel(model, player.t) }),
  );
}

function swap(old, chosen) {
  const names = lanes().map(({ scheme }) => scheme);
  app.state.lanes = names.includes(chosen) ? names.toReversed() : names.map((name) => (name === old ? chosen : name));
  on.models();
}

function deaths(model) {
  return model.sides.flatMap((side) => {
    const found = [];
    for (let row = 0; row < side.n; row++) if (side.fate[row] > 1) found.push(deathTime(side, row));
    return found;
  });
}

// On the first opening: at the address's time, or shortly before a loss.
function enter() {
  const { looked } = app;
  app.isFirst = false;
  if (SPEEDS.includes(looked.speed)) player.speed = looked.speed;
  $("speed").value = String(SPEEDS.indexOf(player.speed));
  if (Array.isArray(looked.window)) app.window = looked.window;
  player.seek(looked.t ?? Math.max(0, interesting() - 0.06));
  if (!calm.matches && looked.t === undefined) player.play();
}

// A packet that dies in the first lane after slow start.
function interesting() {
  const [first] = lanes();
  const death = first.losses.find(({ t, cause }) => t > 1 && cause === "corruption") ?? first.cuts.find(({ t }) => t > 1);
  return death?.t ?? app.losses.find((t) => t > 0.5) ?? 1;
}

export function drawTime() {
  const sections = [...$("lanes").children];
  lanes().forEach((model, place) => {
    const canvas = sections[place].querySelector("canvas");
    drawLane(canvas, model, player.t, player.speed, colourOf(model.scheme, shownSchemes()));
    sections[place].querySelector("output").textContent = lineOf(model, player.t);
    if (!player.isPlaying) canvas.setAttribute("aria-label", laneLabel(model, player.t));
  });
  $("scrub").value = String(player.t);
  $("clock").textContent = `${player.t.toFixed(4)} s`;
  $("play").textContent = player.isPlaying ? "Pause" : "Play";
  $("play").setAttribute("aria-pressed", String(player.isPlaying));
  $("pace").textContent = player.speed === 1 ? "real time" : `1/${Math.round(1 / player.speed)} speed`;
}

// Losses along the scrubber: the strip is darker where there are many.
function drawTicks() {
  const wide = 400;
  const bins = new Float64Array(wide);
  for (const t of app.losses) bins[Math.min(wide - 1, Math.floor((t / player.end) * wide))] += 1;
  const most = Math.max(...bins, 1);
  const stops = [...bins].map((many, bin) => {
    const share = Math.round(100 * Math.sqrt(many / most));
    return `color-mix(in srgb, var(--lost) ${share}%, transparent) ${((bin / wide) * 100).toFixed(2)}% ${(((bin + 1) / wide) * 100).toFixed(2)}%`;
  });
  $("ticks").style.background = `linear-gradient(to right, ${stops.join(",")})`;
}

export function listenToTransport() {
  $("play").addEventListener("click", () => {
    if (player.t >= player.end) player.seek(0);
    player.play(!player.isPlaying);
  });
  $("step").addEventListener("click", () => {
    player.play(false);
    player.seek(nextStep(player.t));
  });
  $("next").addEventListener("click", () => {
    const found = app.losses.find((t) => t > player.t + 1e-6);
    if (found === undefined) return;
    // While playing, the jump ends shortly before the loss; while paused, at the loss.
    const before = player.isPlaying ? 0.3 * player.speed : 0;
    player.seek(Math.max(player.t, found - before) + 1e-6);
  });
  $("scrub").addEventListener("input", () => player.seek($("scrub").valueAsNumber));
  $("speed").addEventListener("input", () => {
    player.speed = SPEEDS[$("speed").valueAsNumber];
    on.time();
  });
  addEventListener("keydown", onKey);
}

// The next time at which a packet is sent in a lane on show.
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
