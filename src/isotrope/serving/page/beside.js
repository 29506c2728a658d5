// Neighbours of a sentence under two models; what only one of them finds is marked.
import { unitVectors } from "./api.js";
import { corpus, encoded } from "./corpus.js";
import { attempt, byId, count, element } from "./dom.js";
import { list } from "./search.js";
import { cosines, largest, row } from "./vectors.js";

const FOUND = 8, MOST_COMPARED = 1000, MOST_DIFFERENT = 12;

export function start(info) {
  const form = byId("beside-form");
  byId("beside-alone").hidden = info.models.length > 1;
  byId("differ").hidden = info.models.length < 2;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(form.querySelector("button"), () => show(byId("beside-query").value.trim()));
  });
  byId("differ").addEventListener("click", () => attempt(byId("differ"), differ));
}

const models = () => [...byId("beside-form").querySelectorAll("[data-models]")].map((one) => one.value);

async function show(query) {
  const texts = corpus(), found = [];
  for (const model of models()) {
    const set = await encoded(model);
    const near = cosines(set, row(await unitVectors([query], model), 0));
    found.push({ model, near, places: largest(near, FOUND, texts.indexOf(query)) });
  }
  const columns = found.map(({ model, near, places }, side) => {
    const other = new Set(found[1 - side].places);
    const hits = places.map((i) => [near[i], other.has(i) ? texts[i] : element("mark", {}, texts[i])]);
    return element("section", { class: "card" }, element("h2", {}, model), list(hits));
  });
  const shared = found[0].places.filter((i) => found[1].places.includes(i)).length;
  const said = models()[0] === models()[1] ? "Choose two different models." :
    `${shared} of ${found[0].places.length} are the same; what only one model finds is marked.`;
  byId("beside-result").replaceChildren(element("p", {}, said), element("div", { class: "two" }, ...columns));
}

async function differ() {
  const texts = corpus().slice(0, MOST_COMPARED), sets = [];
  for (const model of models()) sets.push({ ...(await encoded(model)), length: texts.length });
  const shared = [];
  for (let i = 0; i < texts.length; i++) {
    const [one, other] = sets.map((set) => new Set(largest(cosines(set, row(set, i)), FOUND, i)));
    shared.push([...one].filter((place) => other.has(place)).length);
    if (i % 50 === 0) await new Promise(requestAnimationFrame); // the page stays alive
  }
  const least = largest(shared.map((one) => -one), MOST_DIFFERENT);
  const items = least.map((i) => element("li", {}, element("span", { class: "cosine" }, `${shared[i]} of ${FOUND}`),
    element("button", { type: "button", class: "linkish", onclick: () => pick(texts[i]) }, texts[i])));
  const mean = shared.reduce((sum, one) => sum + one, 0) / shared.length;
  byId("beside-result").replaceChildren(element("div", { class: "card" },
    element("p", {}, `On average ${mean.toFixed(1)} of ${FOUND} neighbours are the same, over ${count(texts.length, "text")}. They differ most for:`),
    element("ol", { class: "hits" }, ...items)));
}

function pick(text) {
  byId("beside-query").value = text;
  attempt(null, () => show(text));
}
