// The reviewer's screen. It draws what the kernel sends, as text only, and forwards decisions.
// Nothing here decides: each decision is one message, and the screen moves on when the kernel says it is on the disk.

const PATIENCE_MS = 3000;
const SIGN = { "": "○", pass: "✓", fail: "✗", infra: "⚠", unsure: "?" };
const KEY = { pass: "p", fail: "f", infra: "i", unsure: "u" };
const MEANS = { pass: "I would accept it", fail: "I would not", infra: "not the target's doing", unsure: "cannot tell" };
const WELCOME = "Read the answer, choose, say why, save. Nothing is recorded before you save.";
const nameOf = (id) => `${id.case} · ${id.sample}`;
const HELP = [
  ["p f i u", "pass, fail, infrastructure, unsure"],
  ["1 – 9", "why strict and you differ; 0 says nothing"],
  ["c", "read the whole answer, or one failed check"],
  ["r", "write the reason; Esc leaves the field"],
  ["Enter", "save and go on (in a field: Ctrl+Enter)"],
  ["j k ↓ ↑", "next, previous"],
  ["Space", "scroll the answer; Shift+Space back"],
  ["t", "open or fold everything that is folded"],
  ["z", "take the last saved reading back"],
  ["?", "show or hide these keys"],
];

// Every element says that notebook shortcuts end here: JupyterLab looks at the focused element itself.
function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  element.setAttribute("data-lm-suppress-shortcuts", "true");
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children); // strings become text nodes, never markup
  return element;
}

function button(text, key, onclick, attributes = {}) {
  return h("button", { type: "button", onclick, "aria-keyshortcuts": key, ...attributes }, h("kbd", {}, key), text);
}

function checkCard(check) {
  const marks = [check.critical ? "critical" : "", check.judged ? "judged by a model" : ""].filter(Boolean);
  return h(
    "li",
    { class: "check", "data-verdict": check.verdict },
    h("b", {}, `${SIGN[check.verdict] ?? "–"} ${check.id}`),
    marks.length ? h("span", { class: "marks" }, marks.join(", ")) : "",
    check.says ? h("p", { class: "says" }, check.says) : "",
    h("p", {}, check.reason),
  );
}

function answerText(segments) {
  if (!segments.some(([text]) => text.trim())) return [h("em", {}, "(the answer is empty)")];
  return segments.map(([text, checks]) =>
    checks.length ? h("mark", { title: `hit of ${checks.join(", ")}` }, text) : text,
  );
}

function folded(folds) {
  const sections = new Map();
  for (const fold of folds) sections.set(fold.section, [...(sections.get(fold.section) ?? []), fold]);
  return [...sections].map(([name, some]) =>
    h(
      "div",
      { class: "folds" },
      h("h4", {}, `${name} (${some.length})`),
      ...some.map((f) => h("details", {}, h("summary", {}, f.line), h("pre", {}, f.text))),
    ),
  );
}

function reading(sheet) {
  const asked = sheet.asked.map((text) => h("div", { class: "asked" }, text));
  return [
    h("h3", {}, sheet.name, sheet.title ? h("small", {}, sheet.title) : ""),
    h("h4", {}, asked.length > 1 ? `asked, in ${asked.length} steps` : "asked"),
    ...(asked.length ? asked : [h("em", {}, "(the source does not say)")]),
    h("h4", {}, "answer"),
    h("div", { class: "answer" }, ...answerText(sheet.answer)),
    ...folded(sheet.folds),
  ];
}

function verdicts(sheet) {
  return [
    h("h4", {}, "strict scoring says"),
    h("p", { class: "strict", "data-verdict": sheet.strict }, h("b", {}, `${SIGN[sheet.strict] ?? "–"} ${sheet.strict}`), sheet.why),
    h("ul", {}, ...sheet.against.map(checkCard)),
    sheet.others.length
      ? h("details", {}, h("summary", {}, `${sheet.others.length} other checks`), h("ul", {}, ...sheet.others.map(checkCard)))
      : "",
    ...(sheet.said.length ? [h("h4", {}, "read before"), ...sheet.said.map((line) => h("p", { class: "said" }, line))] : []),
  ];
}

function render({ model, el }) {
  const legend = model.get("legend");
  const sender = `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`;
  let sent = 0;
  let pending = null; // the message that waits for its answer, or had none: the same decision keeps its number
  let timer = 0;
  let shown = null; // the sheet on the screen
  let choice = {};

  // the screen

  const progress = h("span", { class: "progress" });
  const by = h("span", { class: "by" });
  const name = h("input", { type: "text", "aria-label": "your name", placeholder: "your name", oninput: () => keep("author", name.value) });
  const queue = h("div", { class: "queue", role: "listbox", tabindex: 0, "aria-label": "queue" });
  const paper = h("div", { class: "paper", tabindex: 0, role: "group", "aria-label": "what is read" });
  const checks = h("div", { class: "checks", tabindex: 0, role: "group", "aria-label": "what strict scoring says" });
  const target = button("", "c", () => nextTarget(), { class: "target" });
  const readings = legend.readings.map((one) =>
    button(`${SIGN[one]} ${one}`, KEY[one], () => choose({ reading: one }), { class: "reading", "data-reading": one, title: MEANS[one] }),
  );
  const causes = legend.causes.map(([one, meaning], index) =>
    button(one, String(index + 1), () => choose({ cause: choice.cause === one ? "" : one }), { class: "cause", "data-cause": one, title: meaning }),
  );
  const meaning = h("p", { class: "meaning" });
  const reason = h("textarea", { rows: 3, "aria-label": "reason, required", placeholder: "a sentence that a stranger can judge", oninput: () => choose({ reason: reason.value }), onblur: () => model.save_changes() });
  const save = button("save, next", "Ctrl+Enter", () => decide(), { class: "save", "aria-keyshortcuts": "Control+Enter Enter" });
  const undo = button("take back", "z", () => takeBack());
  const status = h("div", { class: "status", role: "status", "aria-live": "polite" }, WELCOME);
  const help = h("dl", { class: "help", hidden: true }, ...HELP.flatMap(([k, text]) => [h("dt", {}, k), h("dd", {}, text)]));
  const rail = h(
    "div",
    { class: "rail" },
    checks,
    h(
      "div",
      { class: "decision" },
      h("h4", {}, "your reading of"),
      target,
      h("div", { class: "readings", role: "group", "aria-label": "reading" }, ...readings),
      h("h4", {}, "why strict and you differ"),
      h("div", { class: "causes", role: "group", "aria-label": "cause" }, ...causes),
      meaning,
      h("h4", {}, h("kbd", {}, "r"), "reason (required)"),
      reason,
      h("div", { class: "acts" }, save, undo),
    ),
  );
  const root = h(
    "section",
    { class: "evallib-review", tabindex: 0, "aria-label": `review of run ${legend.run}; press question mark for keys` },
    h(
      "header",
      {},
      h("b", {}, legend.run),
      h("span", {}, legend.chosen),
      progress,
      h("span", { class: "active" }, "keys active"),
      h("span", { class: "idle" }, "click or Tab here for keys"),
      by,
      button("keys", "?", () => toggleHelp()),
    ),
    help,
    h("div", { class: "columns" }, queue, paper, rail),
    status,
  );

  const say = (text, kind = "") => {
    status.textContent = text;
    status.dataset.kind = kind;
  };
  const toggleHelp = () => (help.hidden = !help.hidden);

  // what survives a reload is kept in the kernel

  let later = 0;
  function keep(trait, value, wait = 300) {
    model.set(trait, value);
    clearTimeout(later);
    later = setTimeout(() => model.save_changes(), wait);
  }
  function keepDraft(wait) {
    const drafts = { ...model.get("drafts") };
    if (choice.reading || choice.cause || choice.reason) drafts[shown.name] = choice;
    else delete drafts[shown.name];
    keep("drafts", drafts, wait);
  }

  // drawing

  function drawQueue() {
    const { start, rows, read, by: author } = model.get("window");
    const at = model.get("position");
    queue.replaceChildren(
      ...rows.map((row, index) =>
        h(
          "div",
          { role: "option", class: "row", "data-state": row.state, "aria-selected": String(start + index === at), onclick: () => go(start + index) },
          h("span", { class: "sign", role: "img", "aria-label": row.state || "unread" }, SIGN[row.state]),
          h("span", { class: "name" }, row.name),
          h("span", { class: "why" }, row.against),
        ),
      ),
    );
    queue.querySelector("[aria-selected=true]")?.scrollIntoView?.({ block: "nearest" });
    progress.textContent = legend.total ? `${at + 1} of ${legend.total} · ${read} read` : "nothing to read";
    if (author) by.replaceChildren(`by ${author}`);
    else if (!by.contains(name)) by.replaceChildren("by ", name);
  }

  function drawSheet() {
    const sheet = model.get("window").sheets[String(model.get("position"))];
    if (!sheet) {
      shown = null;
      paper.replaceChildren(h("em", {}, legend.total ? "one moment …" : "Nothing to read: every answer passed."));
      checks.replaceChildren();
    } else if (JSON.stringify(sheet) !== JSON.stringify(shown)) {
      const another = sheet.name !== shown?.name;
      shown = sheet;
      paper.replaceChildren(...reading(sheet));
      checks.replaceChildren(...verdicts(sheet));
      if (another) open(model.get("drafts")[sheet.name] ?? {});
    }
    rail.toggleAttribute("inert", !sheet);
  }

  function open(draft) {
    choice = { reading: "", cause: "", check: "", reason: "", ...draft };
    reason.value = choice.reason;
    paper.scrollTop = 0;
    rail.scrollTop = 0;
    drawChoice();
  }

  function drawChoice() {
    for (const one of readings) one.setAttribute("aria-pressed", String(one.dataset.reading === choice.reading));
    for (const one of causes) one.setAttribute("aria-pressed", String(one.dataset.cause === choice.cause));
    meaning.textContent = legend.causes.find(([one]) => one === choice.cause)?.[1] ?? "";
    target.lastChild.textContent = choice.check ? `check ${choice.check}` : "the whole answer";
    root.dataset.waiting = String(timer !== 0);
    reason.readOnly = timer !== 0;
  }

  // acting

  function choose(change) {
    if (!shown || timer) return;
    choice = { ...choice, ...change };
    drawChoice();
    keepDraft("reason" in change ? 300 : 0);
  }

  function nextTarget() {
    const all = ["", ...shown.against.map((check) => check.id)];
    choose({ check: all[(all.indexOf(choice.check) + 1) % all.length] });
  }

  function go(place) {
    if (timer) return say("saving …");
    const to = Math.max(0, Math.min(place, legend.total - 1));
    if (to === model.get("position")) return;
    model.set("position", to);
    model.save_changes();
    root.focus({ preventScroll: true });
  }

  function decide() {
    if (!shown) return;
    const author = model.get("window").by || name.value.trim();
    if (!choice.reading) return ask(root, "Choose first: p pass, f fail, i infra, u unsure.");
    if (!choice.reason.trim()) return ask(reason, "A reason is required: one sentence that a stranger can judge.");
    if (!author) return ask(name, "Type your name first: a reading without a reviewer cannot be saved.");
    send({ kind: "decide", id: shown.id, author, ...choice });
  }

  const takeBack = () => send({ kind: "undo" });

  function ask(field, text) {
    say(text, "ask");
    field.focus({ preventScroll: true });
  }

  function send(message) {
    if (timer) return;
    const again = pending && JSON.stringify({ ...pending, seq: 0 }) === JSON.stringify({ ...message, seq: 0 });
    const seq = again ? pending.seq : `${sender}-${++sent}`;
    pending = { ...message, seq };
    timer = setTimeout(() => {
      timer = 0;
      drawChoice();
      say("NOT SAVED: no answer from the kernel. Your words are still here; run the cell again, or save once more.", "bad");
    }, PATIENCE_MS);
    say("saving …");
    drawChoice();
    model.send(pending);
  }

  function answered(reply) {
    if (reply.seq !== pending?.seq) return;
    clearTimeout(timer);
    timer = 0;
    // an answer that comes late must not pull away a reviewer who went on to another sample
    const stayed = pending.kind === "undo" || nameOf(pending.id) === shown?.name;
    if (reply.saved && pending.kind === "decide") forget(nameOf(pending.id));
    if (reply.saved && stayed) {
      model.set("position", reply.position);
      model.save_changes();
      root.focus({ preventScroll: true });
    }
    pending = null;
    drawQueue();
    drawChoice();
    say(reply.saved ? reply.says : `NOT SAVED: ${reply.says}`, reply.saved ? "good" : "bad");
  }

  function forget(name) {
    const drafts = { ...model.get("drafts") };
    delete drafts[name];
    keep("drafts", drafts, 0);
    if (shown?.name === name) open({});
  }

  // keys

  const step = (by) => () => go(model.get("position") + by);
  const scroll = (by) => () => paper.scrollBy({ top: by * paper.clientHeight * 0.85 });
  const repeating = new Set(["j", "k", "ArrowDown", "ArrowUp", " "]);
  const commands = {
    j: step(1), ArrowDown: step(1), k: step(-1), ArrowUp: step(-1),
    r: () => reason.focus({ preventScroll: true }),
    c: () => shown && nextTarget(),
    t: () => {
      const all = [...root.querySelectorAll("details")];
      const openAll = all.some((one) => !one.open);
      for (const one of all) one.open = openAll;
    },
    z: takeBack, "?": toggleHelp, Enter: decide, "-": () => choose({ reading: "unsure" }), 0: () => choose({ cause: "" }),
    Escape: () => (help.hidden = true),
  };
  for (const one of legend.readings) commands[KEY[one]] = () => choose({ reading: one });
  legend.causes.forEach(([one], index) => (commands[index + 1] = () => choose({ cause: one })));

  function commandFor(event) {
    const chord = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && chord) return decide;
    if (event.key === "s" && chord) return () => say("Ctrl+Enter saves the reading. To save the notebook, click outside first.");
    if (chord || event.altKey) return null;
    if (event.target.matches("textarea, input")) return event.key === "Escape" ? () => root.focus({ preventScroll: true }) : null;
    if (event.key === "Enter" && event.target.matches("button, summary")) return null;
    if ((event.target === paper || event.target === checks) && event.key.startsWith("Arrow")) return null;
    if (event.key === " ") return event.target.matches("button, summary") ? null : scroll(event.shiftKey ? -1 : 1);
    return commands[event.key.length === 1 ? event.key.toLowerCase() : event.key] ?? null;
  }

  function onKey(event) {
    event.stopPropagation(); // nothing typed here may reach the notebook
    const command = commandFor(event);
    if (!command) return;
    event.preventDefault();
    if (!event.repeat || repeating.has(event.key)) command();
  }

  root.addEventListener("keydown", onKey, true);

  const moved = () => {
    drawQueue();
    drawSheet();
  };
  model.on("change:position", moved);
  model.on("change:window", moved);
  model.on("msg:custom", answered);
  name.value = model.get("author");
  drawChoice();
  moved();
  el.append(root);
  return () => {
    model.off("change:position", moved);
    model.off("change:window", moved);
    model.off("msg:custom", answered);
    clearTimeout(timer);
  };
}

export default { render };
