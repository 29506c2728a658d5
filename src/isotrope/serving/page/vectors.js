// Cosines of unit vectors.
export function cosines(set, query) {
  const found = new Float32Array(set.length);
  for (let i = 0; i < set.length; i++) {
    let sum = 0;
    for (let d = 0, at = i * set.dim; d < set.dim; d++) sum += set.vectors[at + d] * query[d];
    found[i] = sum;
  }
  return found;
}

export const row = (set, i) => set.vectors.subarray(i * set.dim, (i + 1) * set.dim);

// The places of the k largest, the largest first.
export function largest(values, k, without = -1) {
  const places = [...values.keys()].filter((i) => i !== without);
  return places.sort((a, b) => values[b] - values[a] || a - b).slice(0, k);
}

// Spearman's rank correlation, ties at their mean rank.
export function spearman(xs, ys) {
  const [a, b] = [ranks(xs), ranks(ys)];
  const mean = (xs.length + 1) / 2;
  let both = 0, one = 0, other = 0;
  for (let i = 0; i < xs.length; i++) {
    both += (a[i] - mean) * (b[i] - mean);
    one += (a[i] - mean) ** 2;
    other += (b[i] - mean) ** 2;
  }
  return one && other ? both / Math.sqrt(one * other) : NaN;
}

function ranks(values) {
  const order = [...values.keys()].sort((a, b) => values[a] - values[b]);
  const found = new Array(values.length);
  for (let start = 0; start < order.length; ) {
    let end = start;
    while (end < order.length && values[order[end]] === values[order[start]]) end++;
    for (let i = start; i < end; i++) found[order[i]] = (start + 1 + end) / 2;
    start = end;
  }
  return found;
}
