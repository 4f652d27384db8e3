// Draws one scheme's path at one instant: nodes, queues as stacks, packets on the links, and those lost there.

import { FATES, KINDS, deathTime, diesAt, rowsAt, upper } from "./model.js";
import { heightOf, placesOf } from "./network.js";
import { spoken, variable } from "./palette.js";
import { rateText, round } from "./units.js";

const [DATA, RESENT, ACK, HEADER] = ["data", "resent", "ack", "header"].map((kind) => KINDS.indexOf(kind));
const DENSE = 900;

export function drawLane(canvas, model, t, speed, colour) {
  canvas.style.height = model.isNetwork ? `${heightOf(model.scenario, model.links)}px` : "";
  const pen = penOf(canvas);
  if (model.isNetwork) return drawNetwork(canvas, pen, model, t, speed, colour);
  const scene = layout(canvas, model);
  const look = lookOf(pen, model, t, speed, colour);
  pen.clearRect(0, 0, scene.width, scene.height);
  for (const hop of scene.hops) drawPipes(look, hop);
  for (const hop of scene.hops) {
    drawSide(look, model, model.sides[hop.side], hop);
    drawSide(look, model, model.sides[hop.side + 1], backwards(hop));
  }
  for (const node of scene.nodes) drawNode(look, node, model);
}

const lookOf = (pen, model, t, speed, colour) => ({ pen, colour, ...theme(), linger: Math.max(0.45 * speed, 1e-4), t, end: model.end });

// Each link is drawn as in a row, along its own axis.
function drawNetwork(canvas, pen, model, t, speed, colour) {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const { nodes, places } = placesOf(model.scenario, model.links, width, height);
  const look = lookOf(pen, model, t, speed, colour);
  pen.clearRect(0, 0, width, height);
  places.forEach(({ x, y, long, angle }, index) => {
    const hop = {
      side: 2 * index,
      left: Math.min(24, long / 4),
      right: long - 9,
      there: { y: -4, thick: 8 },
      back: { y: 8, thick: 5 },
      stack: { x: 10, width: 8, bottom: 0, top: -26 },
      room: model.links[index].queue?.packets ?? null,
      isBare: true,
    };
    pen.save();
    pen.translate(x, y);
    pen.rotate(angle);
    drawPipes(look, hop);
    drawSide(look, model, model.sides[hop.side], hop);
    drawSide(look, model, model.sides[hop.side + 1], backwards(hop));
    pen.restore();
  });
  for (const node of nodes) drawDot(look, node);
}

// Where a node's name stands: beside the node, or below it.
const NAME_PLACES = { left: [-12, 4, "right"], right: [12, 4, "left"], below: [0, 24, "center"] };

function drawDot({ pen, ink, paper, muted, font }, { x, y, name, side, isCrowded }) {
  pen.fillStyle = paper;
  pen.strokeStyle = ink;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.arc(x, y, isCrowded ? 3 : 7, 0, 2 * Math.PI);
  pen.fill();
  pen.stroke();
  if (isCrowded) return;
  pen.fillStyle = muted;
  pen.font = `11px ${font}`;
  const [dx, dy, align] = NAME_PLACES[side];
  pen.textAlign = align;
  pen.fillText(name, x + dx, y + dy);
}

export function penOf(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
}

const theme = () => ({
  ink: variable("ink"),
  muted: variable("muted"),
  pipe: variable("pipe"),
  line: variable("line"),
  paper: variable("paper"),
  lost: variable("lost"),
  header: variable("header"),
  other: variable("other"),
  font: variable("font"),
});

// Links share the width equally; each is a queue, then the pipe.
function layout(canvas, model) {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const links = model.scenario.link;
  const isNarrow = width < 560;
  const edge = isNarrow ? 16 : 34;
  const each = (width - 2 * edge) / links.length;
  const there = Math.round(height * 0.62);
  const back = there + (isNarrow ? 24 : 30);
  const queue = isNarrow ? 26 : 40;
  const hops = links.map((link, index) => {
    const left = edge + index * each;
    return {
      side: 2 * index,
      name: link.name,
      left: left + queue + 14,
      right: left + each - 12,
      there: { y: there, thick: 20 },
      back: { y: back, thick: 12 },
      stack: { x: left + 12, width: queue, bottom: there + 10, top: 20 },
      room: link.queue?.packets ?? null,
    };
  });
  const places = [...links.keys(), links.length];
  const nodes = places.map((place) => ({ x: edge + place * each, y: (there + back) / 2, name: nodeName(model, place), place, width }));
  return { width, height, hops, nodes };
}

function nodeName({ scenario: { link: links, base_station: wireless } }, place) {
  if (place === 0) return "sender";
  if (place === links.length) return "receiver";
  return links[place].name === wireless ? "base station" : "router";
}

// Draws the reverse direction: the pipe's ends are swapped, and its queue is on the far side.
const backwards = (hop) => ({
  ...hop,
  left: hop.right,
  right: hop.left,
  there: hop.back,
  stack: { x: hop.right - 6, width: 10, bottom: hop.back.y + 6, top: hop.back.y + 6 - 30 },
  isBack: true,
});

function drawPipes({ pen, pipe, line, muted, font }, hop) {
  for (const way of [hop.there, hop.back]) {
    pen.fillStyle = pipe;
    pen.beginPath();
    pen.roundRect(hop.left, way.y - way.thick / 2 - 3, hop.right - hop.left, way.thick + 6, 6);
    pen.fill();
  }
  const { x, width, bottom, top } = hop.stack;
  pen.strokeStyle = line;
  pen.lineWidth = 1;
  pen.setLineDash([3, 3]);
  pen.beginPath();
  pen.moveTo(x - 4, top);
  pen.lineTo(x + width + 4, top);
  pen.stroke();
  pen.setLineDash([]);
  pen.beginPath();
  pen.moveTo(x - 2, top);
  pen.lineTo(x - 2, bottom);
  pen.lineTo(x + width + 2, bottom);
  pen.lineTo(x + width + 2, top);
  pen.stroke();
  if (hop.isBare) return;
  pen.fillStyle = muted;
  pen.font = `11px ${font}`;
  pen.textAlign = "left";
  pen.fillText(hop.room === null ? "queue" : `queue, room for ${hop.room}`, x - 4, top - 7);
}

function drawNode({ pen, ink, paper, muted, lost, font, t }, { x, y, name, place, width }, model) {
  pen.fillStyle = paper;
  pen.strokeStyle = ink;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.roundRect(x - 7, y - 30, 14, 60, 5);
  pen.fill();
  pen.stroke();
  pen.fillStyle = muted;
  pen.font = `11px ${font}`;
  pen.textAlign = x < 60 ? "left" : x > width - 60 ? "right" : "center";
  pen.fillText(name, x < 60 ? x - 7 : x > width - 60 ? x + 7 : x, y + 43);
  const held = heldBack(model, place, t);
  if (!held) return;
  pen.fillStyle = lost;
  pen.textAlign = "right";
  pen.fillText(`has held back ${held} ACK${held === 1 ? "" : "s"}`, x + 7, y - 38);
}

// ACKs that arrived at a node between two links and have not left it.
function heldBack({ acks }, place, t) {
  if (!acks[place]) return 0;
  const { come, gone } = acks[place];
  return upper(come, t) - upper(gone, t);
}

function drawSide(look, model, side, hop) {
  const [from, to] = rowsAt(side, look.t, look.end);
  const [waiting, flying, dying] = [[], [], []];
  for (let row = from; row < to; row++) {
    const death = deathTime(side, row);
    const isLost = FATES[side.fate[row]] !== "delivered" && side.fate[row] > 0;
    if (look.t > death) {
      if (isLost && look.t < death + look.linger) dying.push([row, (look.t - death) / look.linger]);
    } else if (look.t < side.start[row]) waiting.push(row);
    else flying.push(row);
  }
  stack(look, model, side, waiting, hop);
  if (flying.length > DENSE) crowd(look, model, side, flying, hop);
  else for (const row of flying) fly(look, model, side, row, hop);
  for (const [row, age] of dying) die(look, side, row, hop, age);
}

const hue = (look, model, side, row) =>
  side.kind[row] >= HEADER ? look.header
  : side.kind[row] === ACK ? look.muted
  : side.flow[row] === model.main ? look.colour
  : look.other;

// A block per packet: a full queue fills the box.
function stack(look, model, side, waiting, hop) {
  const { x, width, bottom, top } = hop.stack;
  const step = blockHeight(bottom - top, hop.room, waiting.length, hop.isBack);
  const gap = step > 3 ? 1 : 0;
  waiting.sort((a, b) => side.start[a] - side.start[b] || a - b);
  waiting.forEach((row, place) => {
    const small = side.kind[row] >= ACK;
    look.pen.fillStyle = hue(look, model, side, row);
    look.pen.fillRect(x + (small ? width * 0.3 : 0), bottom - (place + 1) * step + gap / 2, small ? width * 0.4 : width, step - gap);
  });
}

const USUAL_ROOM = 50;

// Low blocks are easier to see, but never leave the box: a queue with no room in packets may hold any number.
export function blockHeight(high, room, waiting, isBack) {
  const wanted = Math.max(high / Math.max(room ?? USUAL_ROOM, 1), isBack ? 1.5 : 0);
  return Math.min(wanted, high / Math.max(waiting, 1));
}

// Position in the pipe of a packet that left the transmitter at `since`.
function along(look, side, row, since, hop) {
  const delay = Math.max(side.out[row] - side.off[row], 1e-6);
  return hop.left + Math.min(1, Math.max(0, (look.t - since) / delay)) * (hop.right - hop.left);
}

function fly(look, model, side, row, hop) {
  const head = along(look, side, row, side.start[row], hop);
  const tail = along(look, side, row, side.off[row], hop);
  const middle = (head + tail) / 2;
  shape(look, model, side, row, middle, hop.there, Math.abs(head - tail), hop.isBack ? -1 : 1);
}

function shape(look, model, side, row, x, { y, thick }, length, way) {
  const { pen, paper } = look;
  pen.fillStyle = pen.strokeStyle = hue(look, model, side, row);
  const kind = side.kind[row];
  if (kind >= HEADER) return diamond(pen, x, y, kind === HEADER ? 7 : 5, kind === HEADER);
  if (kind === ACK) return arrow(pen, x, y, way);
  const long = Math.max(length - 1.5, 4);
  pen.beginPath();
  pen.roundRect(x - long / 2, y - thick / 2, long, thick, Math.min(3, long / 3));
  pen.fill();
  if (side.isMarked[row]) dot(pen, x, y, look.header, paper);
  if (kind === RESENT) {
    pen.fillStyle = paper;
    pen.fillRect(x - long / 2 + 1.5, y - 3, Math.max(long - 3, 1), 6);
  }
}

// The packet's ECN mark: congestion experienced.
function dot(pen, x, y, colour, ground) {
  pen.beginPath();
  pen.arc(x, y, 5, 0, 2 * Math.PI);
  pen.fillStyle = ground;
  pen.fill();
  pen.beginPath();
  pen.arc(x, y, 3, 0, 2 * Math.PI);
  pen.fillStyle = colour;
  pen.fill();
}

function diamond(pen, x, y, size, isFull) {
  pen.beginPath();
  pen.moveTo(x - size, y);
  pen.lineTo(x, y - size);
  pen.lineTo(x + size, y);
  pen.lineTo(x, y + size);
  pen.closePath();
  pen.lineWidth = 1.5;
  if (isFull) pen.fill();
  else pen.stroke();
}

function arrow(pen, x, y, way) {
  pen.beginPath();
  pen.moveTo(x + 5 * way, y);
  pen.lineTo(x - 3 * way, y - 4.5);
  pen.lineTo(x - 3 * way, y + 4.5);
  pen.closePath();
  pen.fill();
}

// Too many to tell apart: draws their density along the pipe.
function crowd(look, model, side, flying, hop) {
  const [low, high] = [Math.min(hop.left, hop.right), Math.max(hop.left, hop.right)];
  const bins = new Float64Array(Math.ceil((high - low) / 3));
  for (const row of flying) {
    const x = along(look, side, row, (side.start[row] + side.off[row]) / 2, hop);
    bins[Math.min(bins.length - 1, Math.floor((x - low) / 3))] += side.kind[row] === DATA ? 1 : 0.6;
  }
  const most = Math.max(...bins);
  look.pen.fillStyle = hue(look, model, side, flying[0]);
  bins.forEach((many, bin) => {
    const tall = (hop.there.thick * many) / most;
    look.pen.fillRect(low + bin * 3, hop.there.y - tall / 2, 2.4, tall);
  });
}

// `age` from 0 to 1. A corrupted packet dies in mid-air, at its own place; an overflow drops off the top of the
// queue.
function die(look, side, row, hop, age) {
  const { pen, lost } = look;
  pen.save();
  pen.globalAlpha = 1 - age * age;
  if (["overflow", "aqm"].includes(FATES[side.fate[row]])) {
    const { x, width, top } = hop.stack;
    pen.translate(x + width / 2 + 34 * age, top - 4 + 90 * age * age);
    pen.rotate(age * 2.2);
    pen.fillStyle = lost;
    pen.fillRect(-width * 0.4, -4, width * 0.8, 8);
  } else {
    const x = hop.left + diesAt(row) * (hop.right - hop.left);
    const { y } = hop.there;
    pen.strokeStyle = pen.fillStyle = lost;
    pen.lineWidth = 3;
    pen.beginPath();
    pen.arc(x, y, 13 + 14 * age, 0, 2 * Math.PI);
    pen.globalAlpha *= 0.22;
    pen.fill();
    pen.globalAlpha = 1 - age * age;
    pen.beginPath();
    for (const [dx, dy] of [[-9, -9], [9, -9]]) {
      pen.moveTo(x + dx, y + dy);
      pen.lineTo(x - dx, y - dy);
    }
    pen.stroke();
  }
  pen.restore();
}

// The text beside the lane, also for screen readers.
export function lineOf(model, t) {
  const { flows } = model;
  const row = upper(flows.t, t) - 1;
  if (row < 0) return "connecting";
  const segment = segmentOf(model);
  const received = flows.received_bytes[row];
  const window = round(flows.cwnd_bytes[row] / segment, 2);
  const soFar = t > 0 ? rateText(Number(((received * 8) / t).toPrecision(2))) : "–";
  return `window ${window} segments · in flight ${round(flows.in_flight_bytes[row] / segment, 2)} · ${soFar} so far`;
}

const SEGMENTS = new WeakMap();

// The payload of most of its data packets.
export function segmentOf(model) {
  if (!SEGMENTS.has(model)) {
    const { sides, main, route } = model;
    const first = sides[route.there[0]];
    let most = 0;
    for (let row = 0; row < Math.min(first.n, 2000); row++) {
      if (first.flow[row] === main && first.kind[row] === DATA) most = Math.max(most, first.bytes[row]);
    }
    SEGMENTS.set(model, Math.max(most - 52, 1));
  }
  return SEGMENTS.get(model);
}

export const laneLabel = (model, t) => `${spoken(model.scheme)} at ${t.toFixed(3)} s: ${lineOf(model, t)}`;
