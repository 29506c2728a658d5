// Search in the text of the page, or in an index of the server.
import { ask, unitVectors } from "./api.js";
import { corpus, encoded } from "./corpus.js";
import { attempt, byId, element } from "./dom.js";
import { cosines, largest, row } from "./vectors.js";

const FOUND = 10;

export function start(info) {
  const form = byId("search-form"), where = byId("where");
  where.append(...info.indexes.map((one) => element("option", { value: one.name }, `index ${one.name} (${one.rows.toLocaleString("en")} rows)`)));
  where.parentElement.hidden = !info.indexes.length;
  where.addEventListener("change", () => {
    form.querySelector("[data-only]").hidden = Boolean(where.value);
    byId("corpus").hidden = Boolean(where.value);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(form.querySelector("button"), async () => {
      const query = byId("query").value.trim();
      const hits = where.value ? await inIndex(query, where.value) : await inText(query, form.querySelector("[data-models]").value);
      byId("search-result").replaceChildren(element("div", { class: "card" }, list(hits)));
    });
  });
}

async function inText(query, model) {
  const texts = corpus(), set = await encoded(model);
  const near = cosines(set, row(await unitVectors([query], model), 0));
  return largest(near, FOUND).map((i) => [near[i], texts[i]]);
}

async function inIndex(query, index) {
  const found = await ask("/search", { query, index, k: FOUND, strip_html: true });
  return found.hits.map((hit) => [hit.cosine, columns(hit.columns)]);
}

function columns(cells) {
  const shown = Object.entries(cells).filter(([, value]) => value !== null && value !== "");
  return element("dl", {}, ...shown.flatMap(([name, value]) => [element("dt", {}, name),
    element("dd", {}, typeof value === "object" ? JSON.stringify(value) : value)]));
}

export function list(hits) {
  return element("ol", { class: "hits" }, ...hits.map(([cosine, text]) => element("li", {},
    element("span", { class: "cosine" }, cosine.toFixed(3)), element("span", {}, text))));
}
