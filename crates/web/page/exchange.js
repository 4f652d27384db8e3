// Reads dropped files, and offers results to take away.

import { $, app, on } from "./app.js";
import { FILE } from "./export.js";
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
  if (IS_PING.test(text)) on.tell(`${file.name} is a measurement: run “airtcp fit ${file.name}”, and drop the scenario that it writes here.`);
  else on.go({ ...START, file: { name: file.name, text }, schemes: app.state.schemes });
}

const OFFERS = { "as-toml": "toml", "as-command": "command", "as-python": "python" };

export function listenForExports() {
  for (const id of Object.keys(OFFERS)) {
    $(id).addEventListener("click", () => {
      for (const other of Object.keys(OFFERS)) $(other).setAttribute("aria-pressed", String(other === id));
      showExports();
    });
  }
  $("copy").addEventListener("click", copy);
  $("save").addEventListener("click", save);
}

// Nothing is offered while the page does not know it: it would be that of another state.
export function showExports() {
  const chosen = Object.keys(OFFERS).find((id) => $(id).getAttribute("aria-pressed") === "true");
  for (const id of Object.keys(OFFERS)) $(id).disabled = !app.exports;
  $("export-box").hidden = !app.exports || !chosen;
  $("needs-file").hidden = !app.exports?.command.endsWith(FILE);
  if (app.exports && chosen) $("exported").textContent = app.exports[OFFERS[chosen]];
}

// If the page has no access to the clipboard, at least the text is selected.
async function copy() {
  getSelection().selectAllChildren($("exported"));
  await navigator.clipboard?.writeText($("exported").textContent).catch(() => {});
}

function save() {
  const link = element("a", { href: URL.createObjectURL(new Blob([app.exports.toml], { type: "text/plain" })), download: FILE });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
