// What the page shows of states, and what it exports: node shown.mjs PAGE_FOLDER WASM < states > answers

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, wasm] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${folder}/${name}.js`));
const { Engine } = await load("engine");
const { estimate } = await load("stats");
const { modelOf, upper } = await load("model");
const { blockHeight, lineOf } = await load("lane");
const { percents, seconds } = await load("units");
const { sentence } = await load("verdict");
const { otherLosses } = await load("losses");
const { asked, command, python } = await load("export");
const { START, baseText, fieldsOf, fromHash, overrides, toHash, withScene } = await load("state");
const engine = await Engine.of(new WebAssembly.Module(readFileSync(wasm)));

async function modelsOf(state, of, scenario) {
  const found = [];
  for (const scheme of state.schemes) {
    const end = seconds(scenario.duration);
    const answer = await engine.run({ of, scheme, seed: scenario.seed, series_s: 0, packets: true });
    found.push(modelOf(answer, scenario, scheme, end));
  }
  return found;
}

// The least number of ACKs that any node is ever said to hold back, and the most.
function heldBack({ acks }) {
  let [least, most] = [0, 0];
  for (const node of acks) {
    for (const t of [...(node?.come ?? []), ...(node?.gone ?? [])]) {
      const held = upper(node.come, t) - upper(node.gone, t);
      [least, most] = [Math.min(least, held), Math.max(most, held)];
    }
  }
  return [least, most];
}

// How far the drawn queues reach, as a share of their boxes, at a hundred times of the run.
function fullest({ sides, scenario, end }) {
  const box = 70;
  let most = 0;
  for (const side of sides) {
    const room = scenario.link[side.side >> 1].queue?.packets ?? null;
    for (let step = 1; step < 100; step++) {
      const t = (step / 100) * end;
      let waiting = 0;
      for (let row = 0; row < side.n && side.sent[row] <= t; row++) if (t < side.start[row] && t <= side.out[row]) waiting++;
      most = Math.max(most, (waiting * blockHeight(box, room, waiting, side.side % 2 === 1)) / box);
    }
  }
  return most;
}

async function runsOf(state, of, scenario) {
  const found = {};
  for (const scheme of state.schemes) {
    found[scheme] = [];
    for (let seed = scenario.seed; seed < scenario.seed + state.seeds; seed++) {
      found[scheme].push((await engine.run({ of, scheme, seed })).run.goodput_bps);
    }
  }
  return found;
}

const answers = [];
for (const { scene, drawn, ...given } of JSON.parse(readFileSync(0, "utf8"))) {
  const chosen = scene ? withScene(scene) : START;
  const state = { ...chosen, ...given, sets: { ...chosen.sets, ...given.sets } };
  const { scenario: base } = engine.ask({ do: "read", text: baseText(state) });
  const of = { text: baseText(state), overrides: overrides(state, base) };
  const { scenario } = engine.ask({ do: "read", ...of });
  const answer = { state, ber: fieldsOf(scenario, state).ber, losses: otherLosses(scenario), again: fromHash(toHash(state, {}))[0] };
  if (drawn) {
    const models = await modelsOf(state, of, scenario);
    Object.assign(answer, {
      verdict: sentence(models),
      held: models.map(heldBack),
      fullest: models.map(fullest),
      shares: models.map(({ shares }) => shares),
      percents: models.map(({ shares }) => (shares ? percents(Object.values(shares)) : [])),
      lines: models.map((model) => [0.1, 0.5, 1].map((share) => lineOf(model, share * model.end))),
      corrupted: models.map(({ run }) => run.flows.reduce((sum, flow) => sum + flow.losses_corruption, 0)),
    });
  } else {
    const runs = await runsOf(state, of, scenario);
    const means = Object.fromEntries(Object.entries(runs).map(([scheme, values]) => [scheme, estimate(values).mean]));
    Object.assign(answer, { means, toml: engine.ask({ do: "read", ...asked(state, base) }).toml, command: command(state, base), python: python(state, base) });
  }
  answers.push(answer);
}
process.stdout.write(JSON.stringify(answers));
