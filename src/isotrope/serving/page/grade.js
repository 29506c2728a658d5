// Pairs are graded with the keyboard and downloaded as a table. Grades survive a reload of the tab, and nothing else.
import { ask } from "./api.js";
import { corpus } from "./corpus.js";
import { attempt, byId, count, element, say } from "./dom.js";
import { spearman } from "./vectors.js";

const KEPT = "isotrope-grading", ENOUGH = 10;
const MEANINGS = [
  "different topics", "the same topic only", "some details shared", "roughly the same", "the same except for details", "the same",
];
let state = null; // { models, pairs, grades, at, saved }

export function start(info) {
  const form = byId("grade-form");
  byId("grade-second").hidden = info.models.length < 2;
  byId("grade-how").textContent = info.models.length > 1
    ? "Most pairs are those on which two models disagree most; every fourth is from the whole range."
    : "Pairs are chosen over the whole range of similarities.";
  byId("grades").append(...MEANINGS.map((meaning, grade) => element("button", {
    type: "button", "aria-pressed": "false", onclick: () => set(grade),
  }, element("strong", {}, grade), element("span", {}, meaning))));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(form.querySelector("button"), choose);
  });
  byId("pass").addEventListener("click", () => set(null));
  byId("back").addEventListener("click", back);
  byId("download").addEventListener("click", download);
  byId("again").addEventListener("click", again);
  byId("so-far").addEventListener("toggle", scores);
  document.addEventListener("keydown", pressed);
  window.addEventListener("beforeunload", (event) => { if (state && graded().length > state.saved) event.preventDefault(); });
  state = JSON.parse(sessionStorage.getItem(KEPT) || "null");
  if (state) show();
}

async function choose() {
  const models = [...byId("grade-form").querySelectorAll("[data-models]")].map((one) => one.value).filter(Boolean);
  const found = await ask("/pairs", { texts: corpus(), models: [...new Set(models)], count: Number(byId("count").value) });
  state = { models: found.models, pairs: found.pairs, grades: found.pairs.map(() => undefined), at: 0, saved: 0 };
  keep();
  show();
  byId("grading").scrollIntoView({ block: "nearest" });
}

function pressed(event) {
  const typing = event.target.closest?.("input, textarea, select");
  if (!state || byId("grade").hidden || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const grade = "012345".indexOf(event.key);
  if (event.key.length === 1 && grade >= 0) set(grade);
  else if (event.key.toLowerCase() === "s") set(null);
  else if (event.key === "Backspace") back();
  else return;
  event.preventDefault();
}

function set(grade) {
  if (state.at >= state.pairs.length) return;
  state.grades[state.at] = grade;
  state.at += 1;
  keep();
  show();
}

function back() {
  state.at = Math.max(0, state.at - 1);
  keep();
  show();
}

const graded = () => state.pairs.map((pair, i) => ({ ...pair, score: state.grades[i] })).filter((one) => Number.isInteger(one.score));
const keep = () => sessionStorage.setItem(KEPT, JSON.stringify(state));

function show() {
  const done = graded().length, pair = state.pairs[state.at], over = !pair;
  byId("grading").hidden = false;
  byId("grade-form").hidden = true;
  if (!byId("grade").hidden) byId("corpus").hidden = true;
  byId("grade-place").textContent = over
    ? `All ${count(state.pairs.length, "pair")} seen, ${done} graded. Download them below.`
    : `Pair ${state.at + 1} of ${state.pairs.length}, ${done} graded`;
  byId("pair").hidden = byId("grades").hidden = byId("grade-question").hidden = byId("pass").hidden = byId("grade-keys").hidden = over;
  byId("pair-first").textContent = pair?.first ?? "";
  byId("pair-second").textContent = pair?.second ?? "";
  [...byId("grades").children].forEach((one, grade) => one.setAttribute("aria-pressed", String(state.grades[state.at] === grade)));
  byId("back").disabled = state.at === 0;
  byId("download").disabled = !done;
  byId("download").textContent = `Download ${count(done, "grade")}`;
  scores();
}

// Tab-separated files of isotrope have no quoting, so a text must be one line.
const oneLine = (text) => text.replace(/\s+/g, " ").trim();

function download() {
  const rows = graded().map((one) => [one.score, oneLine(one.first), oneLine(one.second)].join("\t"));
  const table = ["score\tsentence1\tsentence2", ...rows].join("\n") + "\n";
  const link = element("a", { href: URL.createObjectURL(new Blob([table], { type: "text/tab-separated-values" })), download: "grades.tsv" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  state.saved = graded().length;
  keep();
}

function again() {
  if (graded().length > state.saved && !confirm("Some grades have not been downloaded. Start again without them?")) return;
  state = null;
  sessionStorage.removeItem(KEPT);
  say("");
  byId("grading").hidden = true;
  byId("grade-form").hidden = byId("corpus").hidden = false;
}

function scores() {
  if (!state || !byId("so-far").open) return;
  const done = graded();
  if (done.length < ENOUGH) {
    byId("scores").replaceChildren(element("p", {}, `After ${ENOUGH} grades you see how each model ranks your pairs.`));
    return;
  }
  const grades = done.map((one) => one.score);
  const items = state.models.map((model, m) => element("li", {},
    element("span", { class: "cosine" }, spearman(done.map((one) => one.cosines[m]), grades).toFixed(2)), element("span", {}, model)));
  const caution = state.models.length > 1
    ? "Most pairs were chosen because the models disagree about them. That shows quickly which is better, and overstates by how much."
    : "Pairs from the whole range are easier to rank than the close ones that a search has to tell apart.";
  byId("scores").replaceChildren(
    element("p", {}, `Spearman correlation with your ${count(done.length, "grade")}:`), element("ul", { class: "hits" }, ...items),
    element("p", { class: "hint" }, caution),
    element("p", {}, "With the downloaded file:"),
    element("pre", {}, ...unbroken("isotrope evaluate MODEL MODEL --pairs grades.tsv"), "\n",
      ...unbroken("isotrope train TEXT --model MODEL --dev grades.tsv --output runs/mine")));
}

// A line that is too long breaks between words, never behind the dashes of an option.
const unbroken = (line) => line.split(" ").flatMap((word) => [element("span", { class: "unbroken" }, word), " "]);
