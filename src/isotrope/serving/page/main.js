import { ask, hasKey, useKey } from "./api.js";
import * as beside from "./beside.js";
import * as corpus from "./corpus.js";
import { attempt, byId, element, say } from "./dom.js";
import * as grade from "./grade.js";
import * as matrix from "./matrix.js";
import * as search from "./search.js";

const tabs = [...document.querySelectorAll("[role=tab]")];

function open(tab, focus = false) {
  for (const one of tabs) {
    const chosen = one === tab;
    one.setAttribute("aria-selected", String(chosen));
    one.tabIndex = chosen ? 0 : -1;
    byId(one.getAttribute("aria-controls")).hidden = !chosen;
  }
  const name = tab.getAttribute("aria-controls");
  const elsewhere = { matrix: true, search: Boolean(byId("where").value), grade: !byId("grading").hidden };
  byId("corpus").hidden = Boolean(elsewhere[name]);
  history.replaceState(null, "", `#${name}`);
  say("");
  if (focus) tab.focus();
}

tabs.forEach((tab, i) => {
  tab.addEventListener("click", () => open(tab));
  tab.addEventListener("keydown", (event) => {
    const to = { ArrowRight: i + 1, ArrowLeft: i - 1 + tabs.length, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    open(tabs[to % tabs.length], true);
  });
});

function offerModels(models) {
  for (const choice of document.querySelectorAll("[data-models]")) {
    const second = "second" in choice.dataset, none = "none" in choice.dataset;
    choice.replaceChildren(...models.map((one) => element("option", { value: one.id }, one.id)));
    if (none) choice.append(element("option", { value: "" }, "no other"));
    if (second) choice.selectedIndex = Math.min(1, choice.options.length - 1);
    if (models.length < 2 && !none) choice.closest("label").hidden = true;
  }
}

async function begin() {
  const info = await ask("/info");
  byId("serving").textContent = `serves ${info.models.map((one) => `${one.id} (${one.dim} dimensions)`).join(", ")}`;
  document.querySelector("footer").hidden = hasKey(); // a link can't carry a key
  offerModels(info.models);
  corpus.start(info.limits);
  matrix.start();
  search.start(info);
  beside.start(info);
  grade.start(info);
  open(tabs.find((one) => `#${one.getAttribute("aria-controls")}` === location.hash) ?? tabs[0]);
  document.body.dataset.ready = "yes";
}

byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  useKey(byId("key").value.trim());
  byId("key").value = "";
  attempt(null, begin);
});
attempt(null, begin);
