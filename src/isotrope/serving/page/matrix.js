// Sentences against each other.
import { ask } from "./api.js";
import { attempt, byId, element, lines } from "./dom.js";

const MOST = 40;

export function start() {
  const form = byId("matrix-form");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(form.querySelector("button"), async () => {
      const first = lines(byId("sentences").value);
      if (first.length < 2) throw new Error("At least two different sentences are needed.");
      if (first.length > MOST) throw new Error(`${first.length} sentences, but only ${MOST} fit on a page.`);
      const found = await ask("/similarity", { first, model: form.querySelector("select").value });
      byId("matrix-result").replaceChildren(...table(first, found.similarity, found.model));
    });
  });
}

function table(sentences, cosines, model) {
  const others = cosines.flatMap((row, i) => row.filter((_, j) => j !== i));
  const low = Math.min(...others), high = Math.max(...others);
  const shades = `Colours go from ${low.toFixed(2)} to ${high.toFixed(2)}.`;
  const head = element("tr", {}, element("th", { scope: "col" }, ""),
    ...sentences.map((one, j) => element("th", { scope: "col", title: one }, j + 1)));
  const body = sentences.map((one, i) => element("tr", {},
    element("th", { scope: "row", title: one }, `${i + 1} ${one}`),
    ...cosines[i].map((value, j) => cell(value, i === j, (value - low) / (high - low || 1)))));
  const made = element("table", { "aria-labelledby": "matrix-title" }, element("thead", {}, head), element("tbody", {}, ...body));
  return [
    element("p", { id: "matrix-title", class: "hint" }, `Cosine similarity by ${model}. ${shades}`),
    element("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Similarity matrix" }, made),
  ];
}

function cell(value, same, share) {
  const made = element("td", { class: same ? "same" : "cell" }, same ? "" : value.toFixed(2));
  if (!same) made.style.setProperty("--share", share.toFixed(3));
  return made;
}
