"use strict";

/** Makes an element. All elements are made here: their content becomes text, never markup. */
function element(name, options = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(options)) {
    if (key === "class") made.className = value;
    else if (key === "text") made.textContent = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key.startsWith("--")) made.style.setProperty(key, value);
    else if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

/** Fills a select with [value, text] pairs, and keeps the choice if it is still there. */
function choices(select, pairs) {
  const before = select.value;
  select.replaceChildren(...pairs.map(([value, text]) => element("option", { value, text })));
  if (pairs.some(([value]) => value === before)) select.value = before;
}
