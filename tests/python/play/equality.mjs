// Runs requests in the WebAssembly, as the page's worker does: node equality.mjs PAGE_FOLDER WASM < requests > answers

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, wasm] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${folder}/${name}`));
const { Engine } = await load("engine.js");
const { estimate } = await load("stats.js");
const engine = await Engine.of(new WebAssembly.Module(readFileSync(wasm)));

const found = [];
for (const { of, schemes, seeds } of JSON.parse(readFileSync(0, "utf8"))) {
  const { scenario } = engine.ask({ do: "read", ...of });
  for (const scheme of schemes) {
    const runs = [];
    for (let seed = scenario.seed; seed < scenario.seed + seeds; seed++) {
      const watched = seed === scenario.seed ? { series_s: 0, packets: true } : {};
      runs.push((await engine.run({ of, scheme, seed, ...watched }, () => true, 3000)).run);
    }
    found.push({ scheme, runs, estimate: estimate(runs.map(({ goodput_bps }) => goodput_bps)) });
  }
}
process.stdout.write(JSON.stringify(found));
