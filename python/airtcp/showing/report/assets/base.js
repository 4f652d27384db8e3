// What the other parts share: the page's data, small helpers, and what the reader has chosen.

const report = JSON.parse(document.getElementById("report-data").textContent);
const root = document.documentElement;

/** Schemes hidden by section, parts hidden by figure, and what of the axes is looked at. */
const chosen = { hidden: new Map(), parts: new Map(), ranges: new Map(), heights: new Map() };

const variable = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
const isNarrow = () => window.innerWidth < 700;
const isTouch = () => window.matchMedia("(pointer: coarse)").matches;

/** Plotly reads tags in text; names of a scenario must not be any. */
const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/** Breaks a name into lines where its parts meet, as `airtcp.showing.wrapping` does; a list of plain texts for Plotly. */
function broken(text, most) {
  const lines = [""];
  const parts = String(text).split(/(?<=[:,/\s])|(?=[+@])/).flatMap((part) => part.match(new RegExp(`.{1,${most}}`, "gu")) || []);
  for (const part of parts) {
    if ((lines.at(-1) + part).trimEnd().length <= most) lines[lines.length - 1] += part;
    else lines.push(part);
  }
  return lines.map((line) => plain(line.trimEnd()));
}

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function button(label, onClick, attributes = {}) {
  const element = make("button", { type: "button", ...attributes }, label);
  element.addEventListener("click", onClick);
  return element;
}

function save(text, file, type) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** `share` of the colour over the page's ground. */
function mixed(colour, share) {
  const parts = (hex) => [1, 3, 5].map((place) => parseInt(hex.slice(place, place + 2), 16));
  const ground = parts(variable("paper"));
  return `rgb(${parts(colour).map((part, place) => Math.round(part * share + ground[place] * (1 - share)))})`;
}
