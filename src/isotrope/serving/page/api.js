// What the page asks the server for.
import { byId } from "./dom.js";

const KEY = "isotrope-key";
const AT_ONCE = 128; // texts in one request: small enough to show how far it is
const TRIES = 5;

export async function ask(path, body) {
  for (let turn = 1; ; turn++) {
    const key = sessionStorage.getItem(KEY);
    const headers = { ...(key && { Authorization: `Bearer ${key}` }), ...(body && { "Content-Type": "application/json" }) };
    const answer = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body) })
      .catch(() => { throw new Error("The server does not answer."); });
    if (answer.ok) return answer.json();
    const found = await answer.json().catch(() => ({}));
    if (answer.status === 429 && turn < TRIES) {
      await new Promise((done) => setTimeout(done, 1000 * Number(answer.headers.get("Retry-After") || 1)));
      continue;
    }
    if (answer.status === 401) byId("key-form").hidden = false;
    throw new Error(found.error?.message || `The server answered with status ${answer.status}.`);
  }
}

export const hasKey = () => Boolean(sessionStorage.getItem(KEY));

export function useKey(key) {
  sessionStorage.setItem(KEY, key);
  byId("key-form").hidden = true;
}

// Vectors of length one, one after another in one array.
export async function unitVectors(texts, model, progress = () => {}) {
  let vectors = null, dim = 0;
  for (let start = 0; start < texts.length; start += AT_ONCE) {
    const input = texts.slice(start, start + AT_ONCE);
    const { data } = await ask("/v1/embeddings", { input, model, encoding_format: "base64", normalize: true });
    for (const one of data) {
      const row = floats(one.embedding);
      dim = row.length;
      vectors ??= new Float32Array(texts.length * dim);
      vectors.set(row, (start + one.index) * dim);
    }
    progress(start + data.length);
  }
  return { vectors, dim, length: texts.length };
}

function floats(base64) {
  const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
  return new Float32Array(bytes.buffer); // little-endian, as every browser's machine is
}
