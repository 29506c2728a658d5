(() => {
  const data = JSON.parse(document.getElementById("map-data").textContent);
  const dots = [...document.querySelectorAll("#map-points circle")];
  const texts = dots.map((dot) => dot.querySelector("title").textContent);
  const said = document.getElementById("map-said");
  const legend = document.getElementById("map-legend");
  const [view, colour, find] = ["map-view", "map-colour", "map-find"].map((id) => document.getElementById(id));
  let last = null;
  const say = (k) => {
    if (last !== null) dots[last].classList.remove("on");
    last = k;
    dots[k].classList.add("on");
    const values = Object.entries(data.colours).map(([name, one]) => one.values[k] < 0 ? "" : `${name}: ${one.names[one.values[k]]}`);
    said.textContent = texts[k];
    const more = document.createElement("div");
    more.className = "soft";
    more.textContent = values.filter(Boolean).join(" · ");
    said.append(more);
  };
  dots.forEach((dot, k) => {
    dot.querySelector("title").remove(); // the line below the map says it, also on a phone
    dot.addEventListener("pointerenter", () => say(k));
    dot.addEventListener("click", () => say(k));
    dot.addEventListener("focus", () => say(k));
  });
  const move = () => dots.forEach((dot, k) => {
    const [x, y] = data.points[view.value][k];
    dot.setAttribute("cx", x);
    dot.setAttribute("cy", y);
  });
  const paint = () => {
    const chosen = data.colours[colour.value];
    dots.forEach((dot, k) => dot.setAttribute("class", `c${chosen.values[k] < 0 ? 0 : chosen.values[k] + 1}`));
    legend.replaceChildren(...chosen.names.map((name, k) => {
      const item = document.createElement("li");
      const spot = document.createElement("i");
      spot.className = `c${k + 1}`;
      item.append(spot, name);
      return item;
    }));
    search();
  };
  const search = () => {
    const wanted = find.value.trim().toLowerCase();
    dots.forEach((dot, k) => dot.classList.toggle("out", wanted !== "" && !texts[k].toLowerCase().includes(wanted)));
  };
  view.addEventListener("change", move);
  colour.addEventListener("change", paint);
  find.addEventListener("input", search);
  document.getElementById("map-controls").hidden = false;
})();
