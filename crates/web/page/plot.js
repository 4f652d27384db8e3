// A figure over time on a canvas: lines, steps, marks, levels, a cursor, zoom by dragging.

import { penOf } from "./lane.js";
import { variable } from "./palette.js";
import { round } from "./units.js";
import { upper } from "./model.js";

const LEFT = 58;
const [ROW, BAR] = [40, 22];
const RIGHT = 14;
const TOP = 10;
const BOTTOM = 24;

export class TimePlot {
  // `axes`: { window: [from, to], onZoom, onSeek }, shared by all figures.
  constructor(canvas, axes) {
    this.canvas = canvas;
    this.axes = axes;
    this.parts = { series: [], marks: [], levels: [] };
    this.cursor = document.createElement("div");
    this.cursor.className = "cursor";
    this.chosen = document.createElement("div");
    this.chosen.className = "chosen";
    canvas.after(this.cursor, this.chosen);
    this.measure();
    this.listen();
    this.watch();
  }

  show(parts) {
    this.parts = { ...this.parts, ...parts };
    this.isStale = true;
    if (this.isSeen) this.draw();
  }

  // Drawn only once it becomes visible.
  watch() {
    const seen = ([{ isIntersecting }]) => {
      this.isSeen = isIntersecting;
      if (isIntersecting && this.isStale) this.draw();
    };
    new IntersectionObserver(seen, { rootMargin: "300px" }).observe(this.canvas);
    addEventListener("beforeprint", () => this.draw());
  }

  // Read once per drawing: each time, the browser may lay out the page anew.
  measure() {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    this.area = { left: LEFT, right: width - RIGHT, top: TOP, bottom: height - BOTTOM, width, height };
  }

  x(t) {
    const [from, to] = this.axes.window;
    return this.area.left + ((t - from) / (to - from)) * (this.area.right - this.area.left);
  }

  time(x) {
    const [from, to] = this.axes.window;
    const share = (x - this.area.left) / (this.area.right - this.area.left);
    return from + Math.min(1, Math.max(0, share)) * (to - from);
  }

  point(t) {
    const x = this.x(t);
    this.cursor.hidden = x < this.area.left - 1 || x > this.area.right + 1;
    this.cursor.style.transform = `translateX(${x}px)`;
  }

  draw() {
    const { rows } = this.parts;
    this.canvas.style.height = rows ? `${TOP + BOTTOM + ROW * rows.length}px` : "";
    this.measure();
    const pen = penOf(this.canvas);
    pen.clearRect(0, 0, this.area.width, this.area.height);
    pen.font = `12px ${variable("font")}`;
    this.timeAxis(pen);
    if (rows) rows.forEach((row, place) => this.row(pen, row, TOP + ROW * place));
    else this.values(pen);
    this.isStale = false;
    this.canvas.dataset.drawn = "true";
  }

  // What has happened: a station's turns, say. The height is the share of the time that a pixel stands for.
  row(pen, { name, spans }, top) {
    const { left, right } = this.area;
    const bottom = top + ROW;
    let below = new Float64Array(Math.ceil(right - left));
    for (const { turns, isCollided, colour } of spans) {
      const shares = this.shares(turns, isCollided, below.length);
      pen.fillStyle = colour;
      shares.forEach((share, x) => {
        if (share > 0) pen.fillRect(left + x, bottom - (below[x] + share) * BAR, 1, share * BAR);
      });
      below = below.map((share, x) => share + shares[x]);
    }
    pen.strokeStyle = variable("grid");
    stroke(pen, [left, bottom], [right, bottom]);
    pen.textAlign = "left";
    pen.fillStyle = variable("muted");
    pen.fillText(name, left, top + 12);
  }

  // Of each pixel's time, the part in turns.
  shares(turns, isCollided, many) {
    const [from, to] = this.axes.window;
    const found = new Float64Array(many);
    for (const { begun, ended, collided } of turns) {
      for (let row = upper(ended, from); row < begun.length && begun[row] < to; row++) {
        if (collided[row] !== isCollided) continue;
        const [first, last] = [begun[row], ended[row]].map((t) => Math.min(many, Math.max(0, ((t - from) / (to - from)) * many)));
        for (let x = Math.floor(first); x < last; x++) found[x] += Math.min(last, x + 1) - Math.max(first, x);
      }
    }
    return found;
  }

  values(pen) {
    const [low, high] = this.range();
    const y = (value) => this.area.bottom - ((value - low) / (high - low)) * (this.area.bottom - this.area.top);
    this.valueAxis(pen, low, high, y);
    pen.save();
    pen.beginPath();
    pen.rect(this.area.left, this.area.top - 4, this.area.right - this.area.left, this.area.bottom - this.area.top + 8);
    pen.clip();
    for (const series of this.parts.series) this.line(pen, series, y);
    for (const mark of this.parts.marks) this.mark(pen, mark, y);
    pen.restore();
    for (const level of this.parts.levels) this.level(pen, level, y, high);
  }

  // The range of the visible values, from zero unless the figure says otherwise.
  range() {
    const [from, to] = this.axes.window;
    let [low, high] = this.parts.fromZero === false ? [Infinity, -Infinity] : [0, 0];
    for (const { t, values } of this.parts.series) {
      const last = Math.min(t.length, upper(t, to) + 1);
      for (let row = Math.max(0, upper(t, from) - 1); row < last; row++) {
        const value = values[row];
        if (value > high) high = value;
        if (value < low) low = value;
      }
    }
    for (const { value, counts } of this.parts.levels) if (counts) high = Math.max(high, value);
    if (this.parts.most) high = Math.min(high, this.parts.most);
    if (!(high > low)) [low, high] = [Number.isFinite(low) ? low : 0, (Number.isFinite(low) ? low : 0) + 1];
    const room = 0.06 * (high - low);
    return [low === 0 ? 0 : low - room, high + room];
  }

  valueAxis(pen, low, high, y) {
    const { left, right, bottom } = this.area;
    pen.lineWidth = 1;
    pen.textBaseline = "middle";
    for (const tick of ticks(low, high, Math.max(2, (bottom - TOP) / 42))) {
      pen.strokeStyle = variable("grid");
      stroke(pen, [left, y(tick)], [right, y(tick)]);
      pen.fillStyle = variable("muted");
      pen.textAlign = "right";
      pen.fillText(round(tick, 6), left - 8, y(tick));
    }
    pen.textBaseline = "alphabetic";
  }

  timeAxis(pen) {
    const { left, right, bottom } = this.area;
    const [from, to] = this.axes.window;
    pen.lineWidth = 1;
    pen.fillStyle = variable("muted");
    pen.textAlign = "center";
    for (const tick of ticks(from, to, (right - left) / 90)) {
      const x = this.x(tick);
      pen.strokeStyle = variable("grid");
      stroke(pen, [x, bottom], [x, bottom + 4]);
      pen.fillText(`${round(tick, 8)}`, Math.min(x, right - 14), bottom + 17);
    }
    pen.strokeStyle = variable("line");
    stroke(pen, [left, bottom], [right, bottom]);
    pen.textAlign = "right";
    pen.fillStyle = variable("muted");
    pen.fillText("s", right + 10, bottom + 17);
  }

  // With more points than pixels, the lowest and the highest of each pixel.
  line(pen, { t, values, colour, isStep, width = 1.8, dash = [] }, y) {
    const [from, to] = this.axes.window;
    const first = Math.max(0, upper(t, from) - 1);
    const last = Math.min(t.length, upper(t, to) + 1);
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.lineJoin = "round";
    pen.setLineDash(dash);
    pen.beginPath();
    const draw = last - first > 2.5 * this.area.width ? this.dense : this.sparse;
    draw.call(this, pen, t, values, first, last, y, isStep);
    pen.stroke();
    pen.setLineDash([]);
  }

  sparse(pen, t, values, first, last, y, isStep) {
    let isDown = false;
    for (let row = first; row < last; row++) {
      if (!Number.isFinite(values[row])) {
        isDown = false;
        continue;
      }
      const [px, py] = [this.x(t[row]), y(values[row])];
      if (isDown && isStep) pen.lineTo(px, y(values[row - 1]));
      if (isDown) pen.lineTo(px, py);
      else pen.moveTo(px, py);
      isDown = true;
    }
  }

  dense(pen, t, values, first, last, y) {
    let [column, low, high, lastValue, isDown] = [null, Infinity, -Infinity, 0, false];
    const flush = () => {
      if (low > high) return;
      if (isDown) pen.lineTo(column, y(low));
      else pen.moveTo(column, y(low));
      pen.lineTo(column, y(high));
      pen.lineTo(column, y(lastValue));
      isDown = true;
    };
    for (let row = first; row < last; row++) {
      if (!Number.isFinite(values[row])) continue;
      const px = Math.round(this.x(t[row]));
      if (px !== column) {
        flush();
        [column, low, high] = [px, Infinity, -Infinity];
      }
      low = Math.min(low, values[row]);
      high = Math.max(high, values[row]);
      lastValue = values[row];
    }
    flush();
  }

  // Marks too many for their room become strokes along the time axis.
  mark(pen, { at, shape, colour }, y) {
    const [from, to] = this.axes.window;
    const seen = at.filter(({ t }) => t >= from && t <= to);
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = 1.6;
    const isRug = !["tick", "bar"].includes(shape) && seen.length > (this.area.right - this.area.left) / 9;
    for (const { t, value, to: other, label } of seen) {
      const [px, py] = [this.x(t), y(value)];
      if (shape === "bar") {
        stroke(pen, [px, py], [px, y(other)]);
        continue;
      }
      if (isRug) {
        pen.globalAlpha = 0.55;
        pen.fillRect(px - 0.5, this.area.bottom - 8, 1, 8);
        pen.globalAlpha = 1;
        continue;
      }
      SHAPES[shape](pen, px, py);
      if (label && seen.length <= 9) {
        pen.textAlign = px > this.area.right - 120 ? "right" : "left";
        pen.fillText(label, px + (px > this.area.right - 120 ? -8 : 8), Math.max(py - 6, this.area.top + 9));
      }
    }
  }

  level(pen, { value, label, colour = variable("muted") }, y, high) {
    if (value > high) return;
    pen.strokeStyle = colour;
    pen.lineWidth = 1.2;
    pen.setLineDash([5, 4]);
    stroke(pen, [this.area.left, y(value)], [this.area.right, y(value)]);
    pen.setLineDash([]);
    pen.textAlign = "right";
    const wide = pen.measureText(label).width;
    pen.fillStyle = variable("paper");
    pen.globalAlpha = 0.8;
    pen.fillRect(this.area.right - wide - 6, y(value) - 16, wide + 4, 14);
    pen.globalAlpha = 1;
    pen.fillStyle = colour;
    pen.fillText(label, this.area.right - 4, y(value) - 5);
  }

  listen() {
    const { canvas, chosen } = this;
    let from = null;
    const inside = (event) => event.clientX - canvas.getBoundingClientRect().left;
    const showChosen = (a, b) => {
      chosen.style.left = `${Math.min(a, b)}px`;
      chosen.style.width = `${Math.abs(a - b)}px`;
      chosen.hidden = Math.abs(a - b) < 6;
    };
    chosen.hidden = true;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      from = inside(event);
      if (event.pointerType === "mouse") canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (from !== null && event.pointerType === "mouse") showChosen(from, inside(event));
    });
    canvas.addEventListener("pointerup", (event) => {
      if (from === null) return;
      const to = inside(event);
      if (Math.abs(to - from) < 6) this.axes.onSeek(this.time(to));
      else this.axes.onZoom([this.time(Math.min(from, to)), this.time(Math.max(from, to))]);
      from = null;
      chosen.hidden = true;
    });
    canvas.addEventListener("pointercancel", () => {
      from = null;
      chosen.hidden = true;
    });
    canvas.addEventListener("dblclick", () => this.axes.onZoom(null));
    canvas.addEventListener("keydown", (event) => this.axes.onKey(event));
  }
}

const stroke = (pen, from, to) => {
  pen.beginPath();
  pen.moveTo(...from);
  pen.lineTo(...to);
  pen.stroke();
};

const SHAPES = {
  cross(pen, x, y) {
    stroke(pen, [x - 4, y - 4], [x + 4, y + 4]);
    stroke(pen, [x + 4, y - 4], [x - 4, y + 4]);
  },
  square: (pen, x, y) => pen.strokeRect(x - 3.5, y - 3.5, 7, 7),
  triangle(pen, x, y) {
    pen.beginPath();
    pen.moveTo(x, y - 5);
    pen.lineTo(x + 4.5, y + 3.5);
    pen.lineTo(x - 4.5, y + 3.5);
    pen.closePath();
    pen.fill();
  },
  ring(pen, x, y) {
    pen.beginPath();
    pen.arc(x, y, 5, 0, 2 * Math.PI);
    pen.stroke();
  },
  tick: (pen, x, y) => pen.fillRect(x - 1, y - 2, 2, 4),
};

// About that many round numbers.
export function ticks(low, high, many) {
  const rough = (high - low) / Math.max(many, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}
