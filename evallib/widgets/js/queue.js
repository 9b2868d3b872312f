// The queue as a windowed list: a bar as tall as all items, and elements only for those in sight.

const BLOCK = 100;
const HEIGHT = 40; // of a row, in pixels

// A long case is cut, its sample never: repeats of one case differ in nothing else.
function nameOf(name) {
  const [given, ...rest] = name.split(" · ");
  return h("span", { class: "name" }, h("span", { class: "case" }, given), h("span", {}, rest.map((part) => ` · ${part}`).join("")));
}

// Of two runs with long names the ends tell which is which.
const noteOf = (note) => note.split(" · ").map((part) => (part.length > 16 ? `${part.slice(0, 5)}…${part.slice(-9)}` : part)).join(" · ");

function makeQueue({ pick, want }) {
  const rows = new Map(); // place in the queue to its row, as far as it was sent
  const asked = new Set();
  const bar = h("div", { class: "bar", role: "presentation" });
  const element = h("div", { class: "queue", role: "listbox", tabindex: 0, "aria-label": "queue", onscroll: () => draw() }, bar);
  const prefix = `q${Math.random().toString(36).slice(2, 8)}-`;
  let total = 0;
  let at = 0;

  function option(place) {
    const row = rows.get(place);
    const selected = place === at;
    const parts = row
      ? [h("span", { class: "sign" }, SIGN[row.mark] ?? "●"), nameOf(row.name), h("span", { class: "note" }, noteOf(row.note))]
      : [h("span", { class: "sign" }, "…"), h("span", { class: "name" }, String(place + 1))];
    return h(
      "div",
      {
        class: "row", role: "option", id: prefix + place, "data-mark": row?.mark, "aria-selected": String(selected),
        "aria-posinset": place + 1, "aria-setsize": total, style: `top: ${place * HEIGHT}px; height: ${HEIGHT}px`,
        title: row && `${row.mark || "open"}: ${row.name}${row.note ? ` (${row.note})` : ""}`, onclick: () => pick(place),
      },
      ...parts,
    );
  }

  function draw() {
    const tall = element.clientHeight || 600;
    const from = Math.max(0, Math.floor(element.scrollTop / HEIGHT) - 4);
    const to = Math.min(total, Math.ceil((element.scrollTop + tall) / HEIGHT) + 4);
    bar.style.height = `${total * HEIGHT}px`;
    bar.replaceChildren(...Array.from({ length: Math.max(0, to - from) }, (_, index) => option(from + index)));
    if (total) element.setAttribute("aria-activedescendant", prefix + at);
    for (let place = from; place < to; place += 1) {
      const block = Math.floor(place / BLOCK) * BLOCK;
      if (rows.has(place) || asked.has(block)) continue;
      asked.add(block);
      want(block, Math.min(total, block + BLOCK));
    }
  }

  return {
    element,
    row: (place) => rows.get(place),
    take(start, some) {
      some.forEach((row, index) => rows.set(start + index, row));
      asked.delete(Math.floor(start / BLOCK) * BLOCK);
    },
    set(place, row) {
      rows.set(place, row);
    },
    forget() {
      rows.clear();
      asked.clear();
    },
    // only scrolls when the item would be out of sight, so that the list stays calm
    show(place, of) {
      at = place;
      total = of;
      bar.style.height = `${total * HEIGHT}px`;
      const tall = element.clientHeight || 600;
      if (at * HEIGHT < element.scrollTop) element.scrollTop = at * HEIGHT;
      else if ((at + 1) * HEIGHT > element.scrollTop + tall) element.scrollTop = (at + 1) * HEIGHT - tall;
      draw();
    },
  };
}
