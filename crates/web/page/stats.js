// Means and intervals, equal to those of python/airtcp/facts/stats.py to the last digit.

// The exactly rounded sum (Shewchuk 1997), as Python's fsum.
export function exactSum(values) {
  const parts = [];
  for (let x of values) {
    let kept = 0;
    for (let y of parts) {
      if (Math.abs(x) < Math.abs(y)) [x, y] = [y, x];
      const high = x + y;
      const low = y - (high - x);
      if (low) parts[kept++] = low;
      x = high;
    }
    parts.length = kept;
    parts.push(x);
  }
  return roundedOnce(parts);
}

function roundedOnce(parts) {
  let high = 0;
  let low = 0;
  let n = parts.length;
  while (n > 0 && low === 0) {
    const x = high;
    const y = parts[--n];
    high = x + y;
    low = y - (high - x);
  }
  if (n > 0 && low !== 0 && Math.sign(low) === Math.sign(parts[n - 1])) {
    const doubled = low * 2;
    if (high + doubled - high === doubled) high += doubled;
  }
  return high;
}

export const mean = (values) => exactSum(values) / values.length;

// The mean and the half-width of its 95 % confidence interval; null with fewer than two values.
export function estimate(values) {
  const n = values.length;
  const average = mean(values);
  if (n < 2) return { mean: average, halfWidth: null, n };
  const variance = exactSum(values.map((value) => (value - average) ** 2)) / (n - 1);
  return { mean: average, halfWidth: (studentQuantile(0.975, n - 1) * Math.sqrt(variance)) / Math.sqrt(n), n };
}

// Abramowitz and Stegun, 26.7.3 and 26.7.4.
function studentCdf(t, df) {
  const angle = Math.atan(t / Math.sqrt(df));
  const cosSquared = Math.cos(angle) ** 2;
  const odd = df % 2 === 1;
  let term = odd ? Math.cos(angle) : 1;
  let total = 0;
  for (let k = 1; k <= Math.floor(df / 2); k++) {
    total += term;
    term *= cosSquared * (odd ? (2 * k) / (2 * k + 1) : (2 * k - 1) / (2 * k));
  }
  const within = odd ? (2 / Math.PI) * (angle + Math.sin(angle) * total) : Math.sin(angle) * total;
  return 0.5 * (1 + within);
}

export function studentQuantile(p, df) {
  let low = 0;
  let high = 1;
  while (studentCdf(high, df) < p) high *= 2;
  while (high - low > 1e-12 * high) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (studentCdf(middle, df) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
