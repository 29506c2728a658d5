// The text that search, neighbours and grading work on: in this tab only, with its vectors under each model.
import { ask, unitVectors } from "./api.js";
import { attempt, byId, count, element, lines } from "./dom.js";

const LARGEST_FILE = 8 * 2 ** 20; // bytes
let texts = [], vectors = {}, file = null, most = 2048;

export function start(limits) {
  most = limits.inputs;
  byId("pasted").addEventListener("input", () => {
    const found = lines(byId("pasted").value);
    file = null;
    byId("file").value = "";
    byId("column-choice").hidden = true;
    take(found.slice(0, most), found.length > most ? `; ${count(found.length - most, "line")} beyond the limit left out` : "");
  });
  byId("file").addEventListener("change", () => attempt(null, async () => {
    const chosen = byId("file").files[0];
    if (!chosen) return;
    if (chosen.size > LARGEST_FILE) throw new Error(`${chosen.name} is larger than ${LARGEST_FILE / 2 ** 20} MiB.`);
    file = { name: chosen.name, content: await chosen.text() };
    await read();
  }));
  byId("column").addEventListener("change", () => attempt(null, () => read(byId("column").value)));
  byId("example").addEventListener("click", () => attempt(byId("example"), async () => {
    const found = await ask("/texts/example");
    byId("pasted").value = found.texts.join("\n");
    byId("pasted").dispatchEvent(new Event("input"));
  }));
}

async function read(column) {
  const found = await ask("/texts", { ...file, ...(column && { column }) });
  byId("pasted").value = "";
  byId("column").replaceChildren(...found.columns.map((one) => element("option", { value: one, selected: one === found.column }, one)));
  byId("column-choice").hidden = found.columns.length < 2;
  const left = found.left_out ? `; ${count(found.left_out, "row")} blank, repeated or beyond the limit left out` : "";
  take(found.texts, ` from ${file.name}, column ${found.column}${left}`);
}

function take(found, more) {
  texts = found;
  vectors = {};
  byId("corpus-state").textContent = texts.length ? `${count(texts.length, "text")}${more}.` : "No text yet.";
}

export function corpus() {
  if (texts.length < 2) throw new Error("First paste at least two texts, choose a file, or use the example sentences.");
  return texts;
}

export async function encoded(model) {
  const mine = corpus(), bar = byId("encoding");
  if (vectors[model]) return vectors[model];
  bar.max = mine.length;
  bar.value = 0;
  bar.hidden = false;
  try {
    const found = await unitVectors(mine, model, (done) => { bar.value = done; });
    if (mine === texts) vectors[model] = found;
    return found;
  } finally {
    bar.hidden = true;
  }
}
