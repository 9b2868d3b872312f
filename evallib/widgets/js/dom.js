// Elements made of text only. Whatever the kernel sends becomes a text node, never markup.

// Every element says that notebook shortcuts end here: JupyterLab looks at the focused element itself.
function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  element.setAttribute("data-lm-suppress-shortcuts", "true");
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined && value !== null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== "" && child !== null)); // strings become text nodes
  return element;
}

const SIGN = { "": "○", pass: "✓", fail: "✗", infra: "⚠", error: "⚠", unsure: "?", skip: "~", disputed: "◐" };
const signed = (word) => h("b", { class: "word", "data-word": word }, `${SIGN[word] ?? "–"} ${word || "open"}`);

// A button shows its key, says it to a screen reader, and gives the focus back to the screen.
function keyed(key, text, run, attributes = {}) {
  const said = { Esc: "Escape", "Ctrl+Enter": "Control+Enter", U: "Shift+U" }[key] ?? key;
  return h("button", { type: "button", onclick: run, "aria-keyshortcuts": said, ...attributes }, h("kbd", {}, key), h("span", {}, text));
}
