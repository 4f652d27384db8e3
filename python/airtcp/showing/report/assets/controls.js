// Buttons: schemes, parts of figures, zoom, theme, copy and save.

const SYMBOLS = {
  circle: "M12 3a5 5 0 1 0 .01 0z",
  square: "M7.5 3.5h9v9h-9z",
  diamond: "M12 2l6 6-6 6-6-6z",
  "triangle-down": "M6 3.5h12l-6 10z",
  "triangle-up": "M12 2.5l6 10H6z",
  pentagon: "M12 2l6 4.5-2.3 7H8.3L6 6.500z",
  cross: "M10 2.500h4v3.500h3.500v4h-3.500v3.500h-4v-3.500h-3.500v-4h3.500z",
};

/** A bit of the scheme's line with its symbol. */
function swatch({ colour, symbol, dash }) {
  const dashes = { solid: "", longdash: "7 3", dot: "2 2", dashdot: "7 2 2 2" };
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 16");
  svg.setAttribute("aria-hidden", "true");
  svg.innerHTML = `<path d="M0 8h24" stroke="${colour}" stroke-width="2" stroke-dasharray="${dashes[dash]}"/><path d="${SYMBOLS[symbol]}" fill="${colour}"/>`;
  return svg;
}

function schemeButtons(section) {
  const name = section.dataset.schemes;
  const schemes = report.schemes[name];
  const hidden = chosen.hidden.get(name) || new Set();
  chosen.hidden.set(name, hidden);
  const bar = section.querySelector(":scope > .schemes, :scope > details > .schemes");
  if (!bar) return;
  const show = () => {
    bar.querySelectorAll("button[data-scheme]").forEach((each) => each.setAttribute("aria-pressed", String(!hidden.has(each.dataset.scheme))));
    drawAll((figure) => figure.scope === name);
  };
  schemes.forEach((scheme) => {
    const toggle = (event) => {
      if (event.altKey) schemes.forEach((other) => (other === scheme ? hidden.delete(other) : hidden.add(other)));
      else if (!hidden.delete(scheme)) hidden.add(scheme);
      show();
    };
    bar.append(button(scheme, toggle, { "aria-pressed": "true", "data-scheme": scheme }));
  });
  if (schemes.length > 2) {
    bar.append(button("All", () => { hidden.clear(); show(); }, { class: "quiet" }));
    bar.append(button("None", () => { schemes.forEach((scheme) => hidden.add(scheme)); show(); }, { class: "quiet" }));
    bar.append(make("span", { class: "hint" }, "Alt-click: show only this scheme"));
  }
}

function paintSwatches() {
  document.querySelectorAll("section[data-schemes]").forEach((section) => {
    const schemes = report.schemes[section.dataset.schemes];
    section.querySelectorAll(":scope > .schemes button[data-scheme], :scope > details > .schemes button[data-scheme]").forEach((each) => {
      each.querySelector("svg")?.remove();
      each.prepend(swatch(look(placeOf(each.dataset.scheme))));
    });
  });
}

/** How symbols of parts look as letters. */
const GLYPHS = {
  "x-thin": "✕", "cross-thin": "+", "square-open": "☐", "circle-open": "○", "triangle-up-open": "△",
  "triangle-down-open": "▽", star: "★", line: "━", dash: "╍", dot: "┅", band: "▒", diamond: "◆", "line-ns": "|", circle: "●",
};

function partButtons(figure) {
  const bar = figure.element.querySelector(".parts");
  const hidden = chosen.parts.get(figure.name);
  (figure.spec.parts || []).forEach((part) => {
    const label = part.symbol ? `${GLYPHS[part.symbol] || ""} ${part.name}` : part.name;
    const toggle = () => {
      if (!hidden.delete(part.name)) hidden.add(part.name);
      each.setAttribute("aria-pressed", String(!hidden.has(part.name)));
      draw(figure);
    };
    const each = button(label, toggle, { "aria-pressed": String(!hidden.has(part.name)) });
    bar.append(each);
  });
}

function zoomButtons(figure) {
  const bar = figure.element.querySelector(".zoom");
  const add = (glyph, label, act) => bar.append(button(glyph, act, { "aria-label": label, title: label, class: "quiet" }));
  if (isZoomable(figure)) {
    add("−", "Zoom out", () => zoomBy(figure, 2, 0));
    add("+", "Zoom in", () => zoomBy(figure, 0.5, 0));
    add("◀", "Earlier", () => zoomBy(figure, 1, -0.5));
    add("▶", "Later", () => zoomBy(figure, 1, 0.5));
    add("Reset", "Show everything", () => zoomTo(figure, null));
  }
  add("SVG", "Save as SVG", () => Plotly.downloadImage(figure.plot, { format: "svg", filename: figure.name.replace("at-", "") }));
}

function sourceButtons(details) {
  const text = () => details.querySelector("code").textContent;
  details.querySelector(".copy").addEventListener("click", async (event) => {
    try {
      await navigator.clipboard.writeText(text());
      event.target.textContent = "Copied";
    } catch {
      window.getSelection().selectAllChildren(details.querySelector("code"));
    }
  });
  details.querySelector(".save").addEventListener("click", () => save(text(), details.dataset.file, "text/plain"));
}

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

function setTheme(isDark) {
  root.dataset.theme = isDark ? "dark" : "light";
  document.getElementById("theme").setAttribute("aria-pressed", String(isDark));
  paintSwatches();
  drawAll();
}

function themeButton() {
  let own = null;
  document.getElementById("theme").addEventListener("click", () => {
    own = root.dataset.theme !== "dark";
    setTheme(own);
  });
  prefersDark.addEventListener("change", () => own === null && setTheme(prefersDark.matches));
}
