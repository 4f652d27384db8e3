// Runs what the page plans, job by job, in slices: a new plan ends the old one within milliseconds.

import { Engine } from "./engine.js";

let generation = 0;
let engine;

onmessage = ({ data }) => {
  if (data.wasm) engine = compiled(data.wasm);
  else carryOut(data);
};

async function compiled(packed) {
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return Engine.of(await WebAssembly.compile(await new Response(unpacked).arrayBuffer()));
}

async function carryOut(plan) {
  generation = plan.generation;
  const lab = await engine;
  const goesOn = async () => {
    await breath();
    return generation === plan.generation;
  };
  for (const { key, request } of plan.jobs) {
    if (!(await goesOn())) return;
    try {
      const answer = request.do ? lab.ask(request) : await lab.run(request, goesOn);
      if (!answer) return;
      postMessage({ generation, key, answer }, columns(answer));
    } catch (error) {
      if (generation === plan.generation) postMessage({ generation, key, error: error.message });
    }
  }
}

// Lets messages in. A timer would wait for 4 ms.
function breath() {
  return new Promise((then) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      then();
    };
    port2.postMessage(null);
  });
}

// All columns share one buffer, which moves to the page instead of being copied.
function columns(answer) {
  const [first] = Object.values(answer.tables).flatMap(Object.values);
  return first ? [(first.codes ?? first).buffer] : [];
}
