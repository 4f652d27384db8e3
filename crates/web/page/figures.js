// The senders' view on one time axis: window, sequence numbers, queue, round trips.

import { TimePlot } from "./plot.js";
import { FATES, KINDS, upper } from "./model.js";
import { segmentOf } from "./lane.js";
import { colourOf, dashOf, spoken, variable } from "./palette.js";
import { percent, plural } from "./units.js";

const CAUSES = { corruption: "corruption", overflow: "queue overflow", aqm: "queue management", outage: "outage", nothing: "no loss" };
const PACKET_BYTES = 1500;

export class Figures {
  constructor(root, axes) {
    this.root = root;
    this.axes = axes;
    this.plots = new Map();
  }

  show(models, fields) {
    const among = models.map(({ scheme }) => scheme);
    const wanted = [
      ...models.flatMap(air),
      window_(models, fields),
      ...models.map((model) => sequence(model, this.axes.window)),
      queue(models),
      roundTrips(models, fields),
    ];
    this.root.querySelector("[data-legend]").replaceChildren(...legend(among));
    const list = this.root.querySelector("[data-list]");
    const ids = new Set(wanted.map(({ id }) => id));
    for (const [id, { figure }] of this.plots) {
      if (!ids.has(id)) {
        figure.remove();
        this.plots.delete(id);
      }
    }
    wanted.forEach((figure, place) => {
      const { plot, figure: element } = this.plots.get(figure.id) ?? this.make(figure.id);
      // Moving it would lose the keyboard focus.
      if (list.children[place] !== element) list.insertBefore(element, list.children[place] ?? null);
      element.querySelector("h3").textContent = figure.title;
      element.querySelector("figcaption").textContent = figure.caption;
      plot.canvas.setAttribute("aria-label", `${figure.title}. ${figure.told}`);
      plot.show(figure.parts);
    });
  }

  make(id) {
    const figure = document.createElement("figure");
    figure.innerHTML = `<h3></h3><div class="plot"><canvas tabindex="0" role="img"></canvas></div><figcaption></figcaption>`;
    figure.dataset.figure = id;
    const made = { figure, plot: new TimePlot(figure.querySelector("canvas"), this.axes) };
    this.plots.set(id, made);
    return made;
  }

  point(t) {
    for (const { plot } of this.plots.values()) plot.point(t);
  }
}

const legend = (schemes) =>
  schemes.map((scheme) => {
    const item = document.createElement("span");
    item.className = "key";
    item.style.setProperty("--own", colourOf(scheme, schemes));
    item.textContent = spoken(scheme);
    return item;
  });

// The line style of a scheme.
const looks = (models) => {
  const among = models.map(({ scheme }) => scheme);
  return ({ scheme }) => ({ colour: colourOf(scheme, among), dash: dashOf(scheme, among) });
};

function window_(models, { rate, rtt, queue }) {
  const look = looks(models);
  const segments = (model, values) => values.map((value) => value / segmentOf(model));
  const series = models.flatMap((model) => [
    { t: model.flows.t, values: segments(model, model.flows.cwnd_bytes), ...look(model) },
    { t: model.flows.t, values: segments(model, model.flows.ssthresh_bytes), ...look(model), width: 1.2, dash: [2, 3] },
  ]);
  const marks = models.flatMap((model) => [
    cutMarks(model, "corruption", "cross"),
    cutMarks(model, "other", "square"),
    cutMarks(model, "nothing", "ring"),
  ]);
  const bdp = rate ? (rate * 1e3 * rtt) / 8 / PACKET_BYTES : null;
  const levels = bdp ? [{ value: bdp, label: "BDP", counts: true }, { value: bdp + queue, label: "BDP + queue" }] : [];
  const told = models.map((model) => `${spoken(model.scheme)} cut its window ${plural(model.cuts.length, "time")}`).join("; ");
  return {
    id: "window",
    title: "Congestion window",
    caption: "cwnd (line) and ssthresh (dots), in segments. Where a window is cut: × the loss was corruption, □ a queue dropped the packet, ○ nothing was lost.",
    told,
    parts: { series, marks, levels, most: 4 * bdp || undefined },
  };
}

function cutMarks(model, wanted, shape) {
  const at = model.cuts
    .filter(({ cause }) => wanted === (["corruption", "nothing"].includes(cause) ? cause : "other"))
    .map(({ t, kind, cause, before }) => ({
      t,
      value: before / segmentOf(model),
      label: `${kind === "timeout" ? "timeout" : "cut"}: ${CAUSES[cause]}`,
    }));
  return { at, shape, colour: wanted === "other" ? variable("ink") : variable("lost") };
}

// Who has the medium, a row for each station.
function air(model) {
  const name = spoken(model.scheme);
  return model.media.map((medium) => {
    const rows = medium.stations.map(({ name: station, turns }) => ({
      name: station,
      spans: [
        { turns, isCollided: 0, colour: looks([model])(model).colour },
        { turns, isCollided: 1, colour: variable("lost") },
      ],
    }));
    const share = medium.stations.map((station) => `${station.name} ${percent(airtime(station) / model.end)}`).join(", ");
    return {
      id: `air-${medium.name}-${model.scheme}`,
      title: `Who has “${medium.name}”: ${name}`,
      caption: "The share of the time in which each station sends and is acknowledged; red: others sent at once. Zoom in to see single turns.",
      told: `Share of the time: ${share}`,
      parts: { rows, series: [], marks: [], levels: [] },
    };
  });
}

const airtime = ({ turns }) => turns.reduce((sum, { begun, ended }) => ended.reduce((own, end, row) => own + end - begun[row], sum), 0);

const MB = 1e6;
const PACKETS_SHOWN = 1500;

function sequence(model, [from, to]) {
  const { flows, losses, resent } = model;
  const colour = variable("ink");
  const mark = (at, shape, hue) => ({ at: at.map(({ t, offset }) => ({ t, value: offset / MB })), shape, colour: hue });
  const isCorruption = ({ cause }) => cause === "corruption";
  const spurious = resent.filter(({ isSpurious }) => isSpurious);
  const marks = [
    ...packetTicks(model, from, to),
    ...sackBars(model, from, to),
    mark(resent, "triangle", variable("resent")),
    mark(losses.filter(isCorruption), "cross", variable("lost")),
    mark(losses.filter((loss) => !isCorruption(loss)), "square", variable("ink")),
    mark(spurious, "ring", variable("header")),
  ];
  const series = [
    { t: flows.t, values: flows.nxt_bytes.map((value) => value / MB), colour: variable("line"), width: 1 },
    { t: flows.t, values: flows.una_bytes.map((value) => value / MB), colour, width: 1.4 },
  ];
  const name = spoken(model.scheme);
  return {
    id: `sequence-${model.scheme}`,
    title: `Sequence numbers: ${name}`,
    caption: "MB acknowledged (dark) and sent (light). × corrupted, □ dropped by a queue, ▲ retransmission, ○ spurious retransmission; once you zoom in, each packet, and each SACK block as a green bar.",
    told: `${name} lost ${plural(losses.filter(isCorruption).length, "packet")} to corruption and ${losses.filter((loss) => !isCorruption(loss)).length} to queues, and resent ${resent.length}, ${spurious.length} of them spuriously`,
    parts: { series, marks, levels: [], fromZero: false },
  };
}

function packetTicks({ sides: [first], main }, from, to) {
  const [low, high] = [upper(first.sent, from), upper(first.sent, to)];
  if (high - low > PACKETS_SHOWN) return [];
  const at = [];
  for (let row = low; row < high; row++) {
    if (first.flow[row] === main && KINDS[first.kind[row]] === "data") at.push({ t: first.sent[row], value: first.offset[row] / MB });
  }
  return [{ at, shape: "tick", colour: variable("muted") }];
}

function sackBars({ sacks }, from, to) {
  const seen = sacks.filter(({ t }) => t >= from && t <= to);
  if (seen.length > PACKETS_SHOWN) return [];
  const at = seen.map((block) => ({ t: block.t, value: block.from / MB, to: block.to / MB }));
  return [{ at, shape: "bar", colour: variable("sack") }];
}

function queue(models) {
  const look = looks(models);
  const [{ bottleneck, scenario }] = models;
  const series = models.map((model) => {
    const { t, packets } = model.queue;
    return { t, values: packets, ...look(model), isStep: true, width: 1.3 };
  });
  const room = scenario.link[bottleneck / 2].queue?.packets;
  const drops = models.map((model) => ({
    at: overflows(model).map((t) => ({ t, value: room ?? 0 })),
    shape: "square",
    colour: look(model).colour,
  }));
  const marked = models.map((model) => ({ at: marksOf(model), shape: "triangle", colour: look(model).colour }));
  const isMarked = marked.some(({ at }) => at.length);
  const told = models.map((model, place) => `${spoken(model.scheme)}: ${plural(drops[place].at.length, "drop")}`).join("; ");
  return {
    id: "queue",
    title: `Queue before the link “${scenario.link[bottleneck / 2].name}”`,
    caption: `Packets waiting, and the room there is (dashed). □ a packet was dropped${isMarked ? ", ▲ one was marked" : ""}.`,
    told,
    parts: { series, marks: [...drops, ...marked], levels: room ? [{ value: room, label: "full", counts: false }] : [] },
  };
}

function overflows({ sides, bottleneck }) {
  const side = sides[bottleneck];
  const found = [];
  for (let row = 0; row < side.n; row++) if (["overflow", "aqm"].includes(FATES[side.fate[row]])) found.push(side.out[row]);
  return found;
}

// Length of the queue when a packet that was marked arrived at it.
function marksOf({ sides, bottleneck, queue: { t, packets } }) {
  const side = sides[bottleneck];
  const found = [];
  for (let row = 0; row < side.n; row++) {
    if (side.isMarked[row]) found.push({ t: side.sent[row], value: packets[Math.max(0, upper(t, side.sent[row]) - 1)] });
  }
  return found;
}

function roundTrips(models, { rtt }) {
  const look = looks(models);
  const series = models.flatMap((model) => {
    const { t, rtt_max_ns: values } = model.flows;
    return [{ t, values: values.map((value) => value / 1e6), ...look(model), width: 1.2 }];
  });
  return {
    id: "rtt",
    title: "Round trip time",
    caption: "As the senders measure it, in ms; dashed, the path’s own with an empty queue.",
    told: models.map(({ scheme, run, main }) => `${spoken(scheme)}: median ${Math.round(run.flows[main].rtt_p50_ms ?? 0)} ms`).join("; "),
    parts: { series, marks: [], levels: rtt ? [{ value: rtt, label: "empty queue", counts: true }] : [] },
  };
}
