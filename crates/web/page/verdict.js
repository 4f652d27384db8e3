// Describes the run in one or two sentences.

import { spoken } from "./palette.js";
import { percents, plural, rateText, seconds, timeText } from "./units.js";

// Share of the capacity from which losses have not held the sender back.
const FULL = 0.75;

// `models`: the runs on show, perhaps only their beginning.
export function sentence(models) {
  const told = models.map((model) => clause(model, model.run)).join(". ");
  const [{ end, scenario }] = models;
  return `${end < seconds(scenario.duration) ? `In the first ${timeText(end)}: ` : ""}${told}.`;
}

function clause(model, run) {
  const name = spoken(model.scheme);
  if (run.flows.every(({ measured, bytes_received: received }) => !measured || !received)) return `Nothing of ${name} arrives`;
  if (!run.bound_bps || model.media.length) return `${name} carries ${rateText(Number(run.goodput_bps.toPrecision(3)))}${taken(run.media)}`;
  const beside = run.flows.filter(({ measured }, flow) => !measured && model.crossing.has(flow)).reduce((sum, flow) => sum + flow.goodput_bps, 0);
  // A run may lose less than the bound expects.
  const whole = Math.max(run.bound_bps, run.goodput_bps + beside);
  const share = run.goodput_bps / whole;
  const [own, left] = percents([share, beside / whole]);
  const head = `${name} uses ${own} of this link`;
  if (beside) return `${head} and leaves ${left} to its neighbour`;
  const corrupted = run.flows[model.main].losses_corruption;
  if (share > FULL) return corrupted ? `${head}, although ${plural(corrupted, "packet")} ${corrupted === 1 ? "was" : "were"} corrupted` : head;
  return head + reason(model);
}

// How much of the time each medium was taken.
function taken(media) {
  const told = media.map(({ name, idle_s: idle, busy_s: busy, collided_s: collided }) => {
    const [free, , collisions] = percents([idle, busy, collided].map((part) => part / (idle + busy + collided)));
    return `; “${name}” is free for ${free} of the time, and frames collide for ${collisions}`;
  });
  return told.join("");
}

// The dominant cause of the window's cuts.
function reason({ cuts }) {
  const many = (...causes) => cuts.filter(({ cause }) => causes.includes(cause)).length;
  const [corrupted, dropped, nothing] = [many("corruption"), many("overflow", "aqm"), many("nothing")];
  const most = Math.max(corrupted, dropped, nothing);
  if (most === 0) return "";
  if (corrupted === most) return `: it took ${plural(corrupted, "corrupted packet")} for congestion`;
  if (dropped === most) return `: it cut its window ${plural(dropped, "time")} because a queue dropped packets`;
  return `: it cut its window ${plural(nothing, "time")} although nothing was lost`;
}
