// Elements are made of text nodes only, never of HTML: what a file holds can't become markup.
export const byId = (id) => document.getElementById(id);

export function element(name, options = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(options)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.map((one) => (one instanceof Node ? one : document.createTextNode(String(one)))));
  return made;
}

export function say(message) {
  byId("problem").textContent = message;
  byId("problem").hidden = !message;
}

// Runs a step of the page: its button rests meanwhile, and what goes wrong is said.
export async function attempt(button, step) {
  say("");
  if (button) button.disabled = true;
  try {
    await step();
  } catch (error) {
    say(error.message || String(error));
  } finally {
    if (button) button.disabled = false;
  }
}

export const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
export const lines = (text) => [...new Set(text.split(/\r?\n/).map((one) => one.trim()).filter(Boolean))];
