// Makes the runs that the page plans, job by job, in slices: a new plan ends the old one within milliseconds.

import { Engine } from "./engine.js";
import { modelOf } from "./model.js";

let generation = 0;
let engine;

onmessage = ({ data }) => {
  if (data.wasm) engine = compiled(data.wasm);
  else carryOut(data);
};

// `text`: gzipped, in base64.
async function compiled(text) {
  const letters = atob(text);
  const packed = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place++) packed[place] = letters.charCodeAt(place);
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
  for (const { key, request, draws } of plan.jobs) {
    if (!(await goesOn())) return;
    try {
      const answer = request.do ? lab.ask(request) : await lab.run(request, goesOn);
      if (!answer) return;
      const model = draws && modelOf(answer, draws.scenario, draws.scheme, draws.end);
      delete answer.tables;
      postMessage({ generation, key, answer, model }, model ? buffersOf(model) : []);
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

// Columns are transferred to the page, not copied.
function buffersOf({ flows, queue, sides }) {
  const columns = [flows, queue, ...sides].flatMap(Object.values);
  return columns.filter(ArrayBuffer.isView).map(({ buffer }) => buffer);
}
