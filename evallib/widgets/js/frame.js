// The parts of the screen and where they stand: header, queue, paper, rail, tools, status line, key sheet.

function makeFrame(legend, parts, act) {
  const title = h("b", { title: legend.name }, legend.name);
  const progress = h("span", { class: "progress" });
  const coverage = h("span", { class: "coverage", hidden: true });
  const saved = h("span", { class: "saved" });
  const by = h("span", { class: "by" });
  const name = h("input", { type: "text", class: "name", "aria-label": "your name", placeholder: "your name, then Enter", "data-field": "line" });
  const facets = h("input", { type: "text", "aria-label": `filter the queue: ${legend.facets}`, placeholder: "filter", title: legend.facets, "data-field": "line", "aria-keyshortcuts": "/" });
  const status = h("div", { class: "status", role: "status", "aria-live": "polite" });
  const close = keyed("Esc", "close", () => act("help"));
  const rows = HELP.flatMap(([keys, text]) => [h("dt", {}, keys), h("dd", {}, text)]);
  const help = h("div", { class: "help", role: "dialog", "aria-label": "keys", hidden: true }, h("h3", {}, "Keys", close), h("dl", {}, ...rows));
  const tools = h(
    "div",
    { class: "tools", role: "toolbar", "aria-label": "tools" },
    ...[...MOVES, ...TOOLS].filter(([, command]) => command !== "facets").map(([key, command, words]) => keyed(key, words, () => act(command), { "data-command": command })),
  );
  const screen = h(
    "div",
    { class: "screen" },
    h(
      "header",
      {},
      title,
      h("span", { class: "mode" }, legend.blind ? "◐ blind" : "◉ sighted"),
      progress, saved, by,
      h("span", { class: "active" }, "keys active"),
      h("span", { class: "idle" }, "click here or press Tab for the keys"),
      coverage,
    ),
    h(
      "div",
      { class: "columns" },
      h("div", { class: "side" }, h("label", { class: "facets" }, h("kbd", {}, "/"), facets), parts.queue),
      parts.paper,
      parts.rail,
      help,
    ),
    tools,
    status,
  );
  const element = h("section", { class: "evallib-review", tabindex: 0, "aria-label": `review of ${legend.name}; press question mark for keys` }, screen);

  function drawHeader(author, place, total, now) {
    const minutes = now.left_s ? `~${Math.max(1, Math.round(now.left_s / 60))} min left` : "";
    const pace = now.pace_s ? `pace ${Math.max(1, Math.round(now.pace_s))} s` : "";
    const where = total ? `item ${(place + 1).toLocaleString()} of ${total.toLocaleString()}` : "nothing to read";
    progress.textContent = [where, `${now.read ?? 0} read`, pace, minutes].filter(Boolean).join(" · ");
    coverage.hidden = !now.coverage;
    coverage.textContent = now.coverage ? `covered: ${now.coverage}` : "";
    if (author) by.replaceChildren(`by ${author}`);
    else if (!by.contains(name)) by.replaceChildren("by ", name);
  }

  return {
    element, name, facets, help, status, drawHeader,
    say(text, kind = "") {
      status.textContent = text;
      status.dataset.kind = kind;
    },
    stamp() {
      saved.textContent = `saved ${new Date().toLocaleTimeString([], { hour12: false })}`;
    },
  };
}
