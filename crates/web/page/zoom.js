// The time axis that all figures share.

import { $, app, on, player } from "./app.js";
import { Figures } from "./figures.js";

const figures = new Figures($("figures"), {
  get window() {
    return app.window;
  },
  onZoom: zoom,
  onSeek: (t) => player.seek(t),
  onKey,
});

export const point = () => figures.point(player.t);

// Without a window, shows the whole run.
export function zoom(window) {
  const [from, to] = window ?? [0, player.end];
  const least = Math.max(1e-3, player.end * 1e-5);
  if (to - from >= least) app.window = [Math.max(0, from), Math.min(player.end, to)];
  $("whole").disabled = app.window[0] === 0 && app.window[1] === player.end;
  figures.show(app.models, app.fields);
  point();
  on.look();
}

// After other runs arrived: keeps the window as far as possible.
export const rezoom = () => zoom(app.window[1] > player.end || app.window[1] <= 1 ? null : app.window);

function zoomBy(factor) {
  const half = ((app.window[1] - app.window[0]) * factor) / 2;
  const middle = Math.min(Math.max(player.t, half), Math.max(half, player.end - half));
  zoom([middle - half, middle + half]);
}

export function listenToZoom() {
  $("whole").addEventListener("click", () => zoom(null));
  $("closer").addEventListener("click", () => zoomBy(0.25));
}

function onKey(event) {
  const wide = app.window[1] - app.window[0];
  const keys = {
    ArrowLeft: () => player.seek(player.t - wide / 100),
    ArrowRight: () => player.seek(player.t + wide / 100),
    "+": () => zoomBy(0.5),
    "=": () => zoomBy(0.5),
    "-": () => zoomBy(2),
    Home: () => zoom(null),
  };
  if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  keys[event.key]();
}
