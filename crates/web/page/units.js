// Quantities in the notation of scenario files, and in readable form.

const TIMES = { ns: 1e-9, us: 1e-6, "µs": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600 };
const RATES = { "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9 };

function quantity(text, units) {
  const [, number, unit] = /^([\d.eE+-]+)\s*(.+)$/.exec(String(text)) ?? [];
  return unit in units ? Number(number) * units[unit] : null;
}

export const seconds = (text) => quantity(text, TIMES);
export const bps = (text) => quantity(text, RATES);

// Without trailing noise: 0.1 + 0.2 is 0.3.
export const trim = (value, digits = 10) => Number(value.toPrecision(digits));

export const rateText = (value) =>
  value >= 1e9 ? `${round(value / 1e9)} Gbit/s`
  : value >= 1e6 ? `${round(value / 1e6)} Mbit/s`
  : value >= 1e3 ? `${round(value / 1e3)} kbit/s`
  : `${round(value)} bit/s`;

export function timeText(value) {
  if (value === 0) return "0 s";
  const [unit, factor] = value < 1e-3 ? ["µs", 1e6] : value < 1 ? ["ms", 1e3] : ["s", 1];
  return `${round(value * factor)} ${unit}`;
}

export function round(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  return String(trim(value, digits));
}

export const percent = (share) => `${share < 0.1 && share > 0 ? round(share * 100, 2) : Math.round(share * 100)} %`;

// Shares of one whole as text: what is shown is not more than 100 % together.
export function percents(shares) {
  const shown = shares.map((share) => (share < 0.1 && share > 0 ? trim(share * 100, 2) : Math.round(share * 100)));
  const excess = shown.reduce((sum, value) => sum + value, 0) - 100;
  const most = shown.indexOf(Math.max(...shown));
  if (excess > 0 && shares.reduce((sum, share) => sum + share, 0) < 1 + 1e-9) shown[most] = Math.floor(shown[most] - excess);
  return shown.map((value) => `${value} %`);
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

// 1.5 × 10⁻⁶
export function scientific(value) {
  if (!value) return "0";
  const [mantissa, exponent] = value.toExponential(1).split("e");
  const raised = [...String(Math.abs(Number(exponent)))].map((digit) => SUPERSCRIPTS[digit]).join("");
  const power = `10${Number(exponent) < 0 ? "⁻" : ""}${raised}`;
  return Number(mantissa) === 1 ? power : `${Number(mantissa)} × ${power}`;
}

export const count = (value) => Math.round(value).toLocaleString("en-GB").replaceAll(",", "\u202f");
export const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
