// The run in one sentence, or two.

import { spoken } from "./palette.js";
import { percent, plural } from "./units.js";

// `models`: what is drawn. Losses are those that made the sender give way.
export function sentence(models, runs) {
  const told = models.map((model) => clause(model, runs.get(model.scheme)?.[0] ?? model.run));
  const text = told.join(". ");
  return text.endsWith(".") ? text : `${text}.`;
}

function clause(model, run) {
  const share = run.bound_bps ? run.goodput_bps / run.bound_bps : 0;
  const flow = run.flows[model.main];
  const cut = (cause) => model.cuts.filter((found) => found.cause === cause).length;
  const [corrupted, overflowed, nothing] = [cut("corruption"), cut("overflow") + cut("aqm"), cut("nothing")];
  const head = `${spoken(model.scheme)} uses ${percent(share)} of this link`;
  const [most] = [corrupted, overflowed, nothing].sort((a, b) => b - a);
  if (share > 0.85 && flow.losses_corruption > 0) {
    return `${head}, although ${plural(flow.losses_corruption, "packet")} ${flow.losses_corruption === 1 ? "was" : "were"} corrupted`;
  }
  if (most === 0) return `${head}`;
  if (corrupted === most) return `${head}: it took ${plural(corrupted, "corrupted packet")} for congestion`;
  if (overflowed === most) return `${head}: it cut its window ${plural(overflowed, "time")} because a queue dropped packets`;
  return `${head}: it cut its window ${plural(nothing, "time")} although nothing was lost`;
}
