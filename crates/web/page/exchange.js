// Reads dropped files, and offers results to take away.

import { $, app, on } from "./app.js";
import { FILE, command, python } from "./export.js";
import { element } from "./outcome.js";
import { START } from "./state.js";

const IS_PING = /^PING |bytes from .* time=/m;

export function listenForFiles() {
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("over");
  });
  addEventListener("dragleave", (event) => event.relatedTarget || document.body.classList.remove("over"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("over");
    take(event.dataTransfer.files[0]);
  });
  $("file").addEventListener("change", () => take($("file").files[0]));
}

async function take(file) {
  if (!file) return;
  const text = await file.text();
  if (IS_PING.test(text)) on.fail(`${file.name} is a measurement: run “airtcp fit ${file.name}”, and drop the scenario that it writes here.`);
  else on.go({ ...START, file: { name: file.name, text }, schemes: app.state.schemes });
}

export function listenForExports() {
  const offers = { "as-toml": () => app.toml, "as-command": () => command(app.state, app.base), "as-python": () => python(app.state, app.base) };
  for (const [id, text] of Object.entries(offers)) {
    $(id).addEventListener("click", () => {
      $("exported").textContent = text();
      $("export-box").hidden = false;
      for (const other of Object.keys(offers)) $(other).setAttribute("aria-pressed", String(other === id));
    });
  }
  $("copy").addEventListener("click", copy);
  $("save").addEventListener("click", save);
}

// If the page has no access to the clipboard, at least the text is selected.
async function copy() {
  getSelection().selectAllChildren($("exported"));
  await navigator.clipboard?.writeText($("exported").textContent).catch(() => {});
}

function save() {
  const link = element("a", { href: URL.createObjectURL(new Blob([app.toml], { type: "text/plain" })), download: FILE });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
