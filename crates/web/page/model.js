// Prepares one detailed run for drawing: columns in seconds, and every packet's way over each link.

import { isNetwork, linksOf, routeOf } from "./network.js";
import { bps, seconds } from "./units.js";

const NS = 1e-9;
export const KINDS = ["data", "resent", "ack", "header", "header-ack", "repair"];
export const FATES = ["", "delivered", "overflow", "aqm", "corruption", "outage"];
const CORRUPTED = FATES.indexOf("corruption");
const RESENT = KINDS.indexOf("resent");
const ACK = KINDS.indexOf("ack");
const FLIES = new Set(["delivered", "corruption", "outage", ""].map((fate) => FATES.indexOf(fate)));

export function modelOf(answer, scenario, scheme, end) {
  const { run, tables } = answer;
  const main = run.flows.findIndex(({ measured }) => measured);
  const model = { scheme, run, end, main, scenario };
  model.flows = rowsOf(tables.flows, FLOW_COLUMNS, rowsWith(tables.flows.flow, main));
  model.links = linksOf(scenario);
  model.isNetwork = isNetwork(scenario);
  const turns = model.links.flatMap((_, index) => [0, 1].map((way) => turnsOf(tables.turns, 2 * index + way)));
  model.sides = model.links.flatMap((link, index) =>
    [0, 1].map((way) => sideOf(tables.packets, 2 * index + way, wayOf(link, way), turns[2 * index + way], end)),
  );
  model.media = mediaOf(run.links, turns);
  model.route = model.isNetwork
    ? routeOf(scenario, model.links, run.flows[main].name, run.flows[main].index)
    : { there: [...scenario.link.keys()].map((index) => 2 * index), back: [...scenario.link.keys()].map((index) => 2 * index + 1).reverse() };
  model.bottleneck = 2 * scenario.link.findIndex(({ name }) => name === scenario.base_station);
  model.queue = rowsOf(tables.queues, ["packets"], rowsWith(tables.queues.link, model.bottleneck));
  model.losses = eventsOf(tables.events, "loss", main);
  model.resent = resentOf(model);
  model.cuts = cutsOf(model, tables.events);
  model.crossing = dataFlowsOf(model.sides[model.bottleneck]);
  model.shares = sharesOf(model);
  model.sacks = sacksOf(model, tables.packets);
  model.acks = scenario.link.map((_, place) => (place && !model.isNetwork ? acksAt(model.sides[2 * place + 1], model.sides[2 * place - 1]) : null));
  return model;
}

const FLOW_COLUMNS = ["cwnd_bytes", "ssthresh_bytes", "srtt_ns", "in_flight_bytes", "una_bytes", "nxt_bytes", "received_bytes", "rtt_max_ns"];

const wayOf = (link, way) => ({
  rate: bps((way && link.reverse?.rate) || link.rate || "") ?? null,
  delay: seconds((way && link.reverse?.delay) || link.delay || "0s") ?? 0,
  isSteady: !(way ? link.reverse : link)?.jitter && !(way ? link.reverse : link)?.spikes && !link.log && !link.channel,
});

function rowsWith(column, wanted) {
  const rows = new Uint32Array(column.length);
  let many = 0;
  for (let row = 0; row < column.length; row++) if (column[row] === wanted) rows[many++] = row;
  return rows.slice(0, many);
}

// Returns a column at some rows, times a factor.
function at(column, rows, factor = 1) {
  const found = new Float64Array(rows.length);
  for (let place = 0; place < rows.length; place++) found[place] = column[rows[place]] * factor;
  return found;
}

// Times in seconds, as `t`.
function rowsOf(table, columns, rows) {
  const found = { t: at(table.time_ns, rows, NS) };
  for (const name of columns) found[name] = at(table[name], rows);
  return found;
}

// The turns of one direction of a link on its medium, in order of time.
function turnsOf(turns, side) {
  const rows = rowsWith(turns.link, side);
  return { begun: at(turns.begun_ns, rows, NS), ended: at(turns.ended_ns, rows, NS), collided: at(turns.collided, rows) };
}

// Who takes turns on each medium, and when. `sides` are the directions of links, as a run's record has them.
function mediaOf(sides, turns) {
  const media = new Map();
  sides.forEach(({ medium, transmitter }, side) => {
    if (!medium) return;
    if (!media.has(medium)) media.set(medium, new Map());
    const stations = media.get(medium);
    if (!stations.has(transmitter)) stations.set(transmitter, []);
    stations.get(transmitter).push(turns[side]);
  });
  const named = (stations) => [...stations].map(([name, own]) => ({ name, turns: own }));
  return [...media].map(([name, stations]) => ({ name, stations: named(stations) }));
}

function eventsOf(events, kind, flow) {
  const found = [];
  for (let row = 0; row < events.time_ns.length; row++) {
    if (events.flow[row] === flow && word(events.kind, row) === kind) {
      found.push({ t: events.time_ns[row] * NS, cause: word(events.cause, row), offset: events.offset_bytes[row] });
    }
  }
  return found;
}

const word = (column, row) => (column.words ? column.words[column.codes[row]] : "");

// The packets of one direction of one link, in order of entry. `start`: the transmitter begins to send it; `off`: its
// last bit has left; `out`: it has arrived, or would have; for a packet that the queue drops, the time of the drop.
function sideOf(packets, side, way, turns, end) {
  const rows = rowsWith(packets.link, side);
  const n = rows.length;
  const code = (column, names) => {
    const codes = (column.words ?? []).map((name) => Math.max(0, names.indexOf(name)));
    const found = new Uint8Array(n);
    for (let place = 0; place < n; place++) found[place] = codes[column.codes[rows[place]]];
    return found;
  };
  const found = {
    ...way,
    side,
    n,
    sent: at(packets.sent_ns, rows, NS),
    out: at(packets.out_ns, rows, NS),
    bytes: at(packets.bytes, rows),
    flow: at(packets.flow, rows),
    offset: at(packets.offset_bytes, rows),
    isMarked: at(packets.marked, rows),
    kind: code(packets.kind, KINDS),
    fate: code(packets.fate, FATES),
    start: new Float64Array(n).fill(Infinity),
    off: new Float64Array(n).fill(Infinity),
  };
  if (turns.begun.length) take(found, turns, end);
  else fly(found, end);
  found.alive = aliveFrom(found, end);
  return found;
}

// In order of arrival; the transmitter has served them in that order too, unless they overtake.
function fly(side, end) {
  let free = 0;
  for (const row of inOrderOfArrival(side)) {
    const air = side.rate ? (side.bytes[row] * 8) / side.rate : 0;
    const arrives = Number.isNaN(side.out[row]) ? Infinity : side.out[row];
    const begun = Math.max(side.sent[row], free);
    const off = side.isSteady && arrives < Infinity ? arrives - side.delay : Math.min(begun + air, arrives);
    side.start[row] = Math.max(side.sent[row], Math.min(begun, off - air));
    side.off[row] = off;
    if (arrives === Infinity) side.out[row] = Math.max(off + side.delay, end);
    free = off;
  }
}

// On a medium, a packet leaves in the last turn that has begun before it arrives.
function take(side, { begun }, end) {
  for (let row = 0; row < side.n; row++) {
    if (!FLIES.has(side.fate[row])) continue;
    const turn = upper(begun, side.out[row] - side.delay) - 1;
    side.start[row] = Math.max(side.sent[row], begun[turn] ?? end);
    side.off[row] = side.start[row];
    if (Number.isNaN(side.out[row])) side.out[row] = end;
  }
}

// That is usually the order of entry.
function inOrderOfArrival(side) {
  const out = (row) => (Number.isNaN(side.out[row]) ? Infinity : side.out[row]);
  const flying = [];
  let isSorted = true;
  for (let row = 0; row < side.n; row++) {
    if (!FLIES.has(side.fate[row])) continue;
    if (flying.length && out(flying.at(-1)) > out(row)) isSorted = false;
    flying.push(row);
  }
  return isSorted ? flying : flying.sort((a, b) => (out(a) < out(b) ? -1 : out(a) > out(b) ? 1 : a - b));
}

const BUCKETS = 4096;

// For each interval, the first row that may still be on the link.
function aliveFrom(side, end) {
  const first = new Uint32Array(BUCKETS + 1).fill(side.n);
  for (let row = 0; row < side.n; row++) {
    const last = Math.min(BUCKETS, Math.floor(((side.out[row] + 0.2) / end) * BUCKETS));
    first[last] = Math.min(first[last], row);
  }
  for (let bucket = BUCKETS - 1; bucket >= 0; bucket--) first[bucket] = Math.min(first[bucket], first[bucket + 1]);
  return first;
}

// Rows that may be on the link at `t`, or have just died there.
export function rowsAt(side, t, end) {
  const bucket = Math.min(BUCKETS, Math.max(0, Math.floor((t / end) * BUCKETS)));
  return [side.alive[bucket], upper(side.sent, t)];
}

// The index of the first value above `wanted`.
export function upper(values, wanted) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Where on the link a corrupted packet dies: anywhere, but always at the same place.
export const diesAt = (row) => 0.3 + 0.5 * (((row * 2654435761) >>> 0) / 2 ** 32);

export function deathTime(side, row) {
  if (side.fate[row] === CORRUPTED) return side.off[row] + diesAt(row) * (side.out[row] - side.off[row]);
  return side.out[row];
}

// All retransmissions. If the data arrives sooner than this copy could, an earlier one brought it: the copy is
// spurious.
function resentOf({ sides, main, route: { there } }) {
  const last = sides[there.at(-1)];
  const arrived = new Map();
  for (let row = 0; row < last.n; row++) {
    if (last.flow[row] !== main || last.kind[row] > RESENT || FATES[last.fate[row]] !== "delivered") continue;
    arrived.set(last.offset[row], Math.min(last.out[row], arrived.get(last.offset[row]) ?? Infinity));
  }
  const soonest = there.reduce((sum, side) => sum + sides[side].delay, 0);
  const first = sides[there[0]];
  const found = [];
  for (let row = 0; row < first.n; row++) {
    if (first.flow[row] !== main || first.kind[row] !== RESENT) continue;
    const [t, offset] = [first.sent[row], first.offset[row]];
    found.push({ t, offset, isSpurious: arrived.get(offset) < t + soonest });
  }
  return found;
}

// The first block of each selective acknowledgment, when it reaches the sender.
function sacksOf({ flows, main, sides, route }, packets) {
  const side = route.back.at(-1);
  const back = sides[side];
  const rows = rowsWith(packets.link, side);
  const [from, to] = [at(packets.sack_from_bytes, rows), at(packets.sack_to_bytes, rows)];
  const found = [];
  for (let row = 0; row < back.n; row++) {
    if (Number.isNaN(from[row]) || back.flow[row] !== main || FATES[back.fate[row]] !== "delivered") continue;
    const una = flows.una_bytes[Math.max(0, upper(flows.t, back.out[row] + 1e-12) - 1)] ?? 0;
    found.push({ t: back.out[row], from: una + from[row], to: una + to[row] });
  }
  return found;
}

// Of the ACKs that pass a node, from the link `behind` to the link `ahead`: when they arrive and when they leave. Only
// those flows pass it that are seen on both links: others begin or end here. An ACK that arrives is the next one of its
// flow to leave; what leaves beyond that was made here. So no more has left than has arrived.
export function acksAt(behind, ahead) {
  const arrivals = acksByFlow(behind, "out", (row) => FATES[behind.fate[row]] === "delivered");
  const departures = acksByFlow(ahead, "sent", () => true);
  const [come, gone] = [[], []];
  for (const [flow, times] of arrivals) {
    if (!departures.has(flow)) continue;
    come.push(...times);
    gone.push(...released(times, departures.get(flow)));
  }
  return { come: Float64Array.from(come).sort(), gone: Float64Array.from(gone).sort() };
}

function acksByFlow(side, column, isWanted) {
  const found = new Map();
  for (let row = 0; row < side.n; row++) {
    if (side.kind[row] !== ACK || !isWanted(row)) continue;
    const flow = side.flow[row];
    if (!found.has(flow)) found.set(flow, []);
    found.get(flow).push(side[column][row]);
  }
  for (const times of found.values()) times.sort((a, b) => a - b);
  return found;
}

// The times at which something leaves that has arrived; both are ordered.
function released(arrivals, departures) {
  const found = [];
  let arrived = 0;
  for (const t of departures) {
    while (arrived < arrivals.length && arrivals[arrived] <= t) arrived++;
    if (found.length < arrived) found.push(t);
  }
  return found;
}

// The true cause of each reduction of the sender's window.
function cutsOf(model, events) {
  const { main, flows } = model;
  const causes = new Map(model.losses.map(({ offset, cause }) => [offset, cause]));
  const found = [];
  for (const kind of ["fast-retransmit", "timeout"]) {
    for (const { t, offset } of eventsOf(events, kind, main)) {
      const row = upper(flows.t, t - 1e-9) - 1;
      const before = flows.cwnd_bytes[Math.max(0, row)];
      found.push({ t, kind, offset, cause: causes.get(offset) ?? "nothing", before, after: leastSoon(flows, row, t) });
    }
  }
  return found.filter(({ before, after }) => after < 0.95 * before).sort((a, b) => a.t - b.t);
}

// The share of the window that is left two round trips later.
function leastSoon(flows, row, t) {
  const until = t + 2 * (flows.srtt_ns[Math.max(0, row)] * NS || 0.1);
  let least = Infinity;
  for (let at = Math.max(0, row); at < flows.t.length && flows.t[at] <= until; at++) {
    const ssthresh = flows.ssthresh_bytes[at];
    least = Math.min(least, flows.cwnd_bytes[at], at > row && ssthresh > 0 ? Math.max(ssthresh, flows.cwnd_bytes[at]) : Infinity);
  }
  return least;
}

// The flows whose data crosses a link in this direction.
function dataFlowsOf(side) {
  const found = new Set();
  for (let row = 0; row < side.n; row++) if (side.kind[row] <= RESENT) found.add(side.flow[row]);
  return found;
}

const HEADER_BYTES = 52;

// Shares of the time at the narrowest link, at most 1 together. Null if its rate varies.
export function sharesOf(model) {
  const side = model.sides[model.bottleneck];
  if (!side.rate) return null;
  const bytes = { useful: 0, headers: 0, again: 0, corrupted: 0, control: 0, others: 0 };
  const seen = new Set();
  for (let row = 0; row < side.n; row++) {
    const fate = FATES[side.fate[row]];
    // What the transmitter has not sent by the end took none of the time until then.
    if (fate === "overflow" || fate === "aqm" || fate === "" || side.off[row] > model.end) continue;
    const [length, kind] = [side.bytes[row], KINDS[side.kind[row]]];
    if (kind.startsWith("header") || kind === "repair") bytes.control += length;
    else if (side.flow[row] !== model.main) bytes.others += length;
    else if (fate !== "delivered") bytes.corrupted += length;
    else if (kind === "ack") bytes.headers += length;
    else if (seen.has(side.offset[row])) bytes.again += length;
    else {
      const headers = Math.min(length, HEADER_BYTES);
      seen.add(side.offset[row]);
      bytes.headers += headers;
      bytes.useful += length - headers;
    }
  }
  const sum = Object.values(bytes).reduce((all, part) => all + part, 0);
  // Where the delay varies, the times at which packets leave the transmitter are estimates.
  const all = Math.max((side.rate * model.end) / 8, sum);
  const shares = Object.fromEntries(Object.entries(bytes).map(([part, of]) => [part, of / all]));
  shares.idle = Math.max(0, 1 - sum / all);
  return shares;
}
