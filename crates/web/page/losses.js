// What corrupts packets on a path, beside the bit errors of the slider.

import { percent, round, scientific, seconds } from "./units.js";

export const isFirstOrder = (scenario) => Boolean(wireless(scenario).loss?.first_order);

// A sentence; empty if there is nothing else.
export function otherLosses(scenario) {
  const slider = wireless(scenario);
  const told = scenario.link.flatMap((link) => {
    const there = kinds(link.loss, link === slider);
    const back = kinds(link.reverse?.loss ?? link.loss, false);
    const both = kinds(link.loss, false);
    const on = scenario.link.length > 1 ? ` on “${link.name}”` : "";
    // The ACKs' direction is usually alike.
    if (String(back) === String(both)) return there.map((kind) => kind + on);
    return [...there.map((kind) => kind + on), ...back.map((kind) => `${kind}${on}, backwards`)];
  });
  return told.length ? `Other losses: ${told.join("; ")}.` : "";
}

const wireless = ({ link: links, base_station: name }) => links.find((link) => link.name === name) ?? links.at(-1);

function kinds(loss = {}, hasSlider) {
  const found = [];
  if (loss.ber && !hasSlider) found.push(`bit errors (${scientific(loss.ber)})`);
  if (loss.packet) found.push(`single packets (${percent(loss.packet)})`);
  if (loss.burst) found.push(`bursts (${percent(burstShare(loss.burst))})`);
  const listed = (loss.packets?.length ?? 0) + (loss.at?.length ?? 0);
  if (listed) found.push(`${listed} given packets`);
  const from = seconds(loss.start ?? "0s");
  return from ? found.map((kind) => `${kind} from ${round(from)} s on`) : found;
}

// The mean share of packets lost by the two-state chain.
function burstShare({ to_bad: worse, to_good: better, good_loss: good = 0, bad_loss: bad = 1 }) {
  const share = worse + better > 0 ? worse / (worse + better) : 0;
  return (1 - share) * good + share * bad;
}
