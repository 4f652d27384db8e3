// The simulator in WebAssembly: requests in JSON, answers in JSON and columns. See crates/web/src/abi.rs.

export class Engine {
  constructor(instance) {
    this.wasm = instance.exports;
  }

  static async of(module) {
    return new Engine(await WebAssembly.instantiate(module, {}));
  }

  // Throws the simulator's error messages.
  ask(request) {
    const text = new TextEncoder().encode(JSON.stringify(request));
    // A call may replace the memory's buffer, so it is looked up afterwards.
    const place = this.wasm.airtcp_reserve(text.length);
    new Uint8Array(this.wasm.memory.buffer, place, text.length).set(text);
    const length = this.wasm.airtcp_call();
    const bytes = new Uint8Array(this.wasm.memory.buffer, this.wasm.airtcp_answer(), length).slice();
    const answer = read(bytes);
    if (answer.error) throw new Error(answer.error);
    return answer;
  }

  // Makes a whole run in slices; `pause` decides in between whether it continues. Returns nothing if it does not.
  async run(request, pause = () => true, events = 20000) {
    this.ask({ do: "begin", ...request });
    for (;;) {
      const answer = this.ask({ do: "advance", events });
      if (answer.run) return answer;
      if (!(await pause(answer.now_ns))) return null;
    }
  }
}

function read(bytes) {
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const answer = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const numbers = new Float64Array(bytes.buffer.slice(4 + length));
  for (const table of Object.values(answer.tables)) {
    for (const [name, { at, length: rows, words }] of Object.entries(table)) {
      const column = numbers.subarray(at, at + rows);
      table[name] = words.length ? { codes: column, words } : column;
    }
  }
  return answer;
}
