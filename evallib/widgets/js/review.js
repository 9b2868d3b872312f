// The reviewer's screen: where it is, what is shown, and what each command does.
// Nothing is decided here: each act is one message, and the screen moves on when the kernel says it is on the disk.

const AROUND = 3; // sheets on either side that are in the browser before they are needed
const AT_ONCE = 6; // more are asked for in one go, so that not every step asks
const NO_CAUSE = { agree: "You agree with strict: Enter saves.", read: "Read it first: p, f, i or -.", done: "Saved before; a amends." };
const WELCOME = "Read the answer, then p, f or i. ? shows all keys.";

// What the screen asks for next, from what is known of the item and what is half said.
function phaseOf(sheet, draft) {
  if (draft.reading === "unsure") return "unsure";
  if (draft.reading) return draft.reading === sheet.strict?.agreeing ? "agree" : "differ";
  if (draft.amending || sheet.stage === "read") return "read";
  if (sheet.stage === "explain") return sheet.mine?.reading === sheet.strict?.agreeing ? "agree" : "differ";
  return "done";
}

function render({ model, el }) {
  const legend = model.get("legend");
  const sheets = new Map(); // item to its sheet
  const ids = new Map(); // place in the queue to its item
  const asked = new Set(); // places whose sheet was asked for
  const looked = new Map(); // item to the milliseconds it was in sight
  let at = model.get("position");
  let version = 0;
  let total = legend.total;
  let author = model.get("author");
  let words = ""; // what the queue was narrowed by
  let now = {};
  let aside = null; // an item that is read though it is not in the queue: the next check of an answer
  let sheet = null; // what is on the screen
  let draft = {};
  let view = { kind: "answer" };
  let rubricOpen = false;
  let since = 0;
  let ahead = []; // keys pressed while a save waits for its answer
  let pressed = 0; // when the key that is acted on was pressed

  const act = (command) => run(command, true);
  const queue = makeQueue({ pick: (place) => { go(place); focusRoot(); }, want: (from, to) => link.look({ rows: [from, to] }) });
  const paper = h("div", { class: "paper", tabindex: 0, role: "group", "aria-label": "what is read" });
  const rail = makeRail(legend, act);
  const frame = makeFrame(legend, { queue: queue.element, paper, rail: rail.element }, act);
  const root = frame.element;
  const link = makeLink(model, { onAnswer, onSilence, onLook });
  const say = frame.say;
  const hush = makeHush(say);
  const focusRoot = () => root.focus({ preventScroll: true });

  // drawing

  const phase = () => (sheet ? phaseOf(sheet, draft) : "read");

  function draw() {
    queue.show(at, total);
    frame.drawHeader(author, at, total, now);
    const found = sheets.get(aside ?? ids.get(at)) ?? null;
    if (found !== sheet || !found) swap(found);
    drawRail();
    prefetch();
  }

  function swap(found) {
    const another = found?.id !== sheet?.id;
    if (another) leave();
    sheet = found;
    if (!sheet) return paper.replaceChildren(h("em", { class: "empty" }, emptyWords()));
    view = { kind: "answer" };
    if (another) {
      rubricOpen = false;
      since = performance.now();
    }
    draft = { ...link.drafts.of(sheet) };
    drawPaper(another);
  }

  function emptyWords() {
    if (!author) return "Type your name above, then Enter: what you read is saved under it.";
    if (total) return "one moment …";
    return words ? `Nothing fits “${words}”. / asks for something else, an empty line for all.` : "Nothing to read here.";
  }

  function leave() {
    if (!sheet) return;
    looked.set(sheet.id, (looked.get(sheet.id) ?? 0) + performance.now() - since);
    if (sheet.unmasked || sheet.whole) sheets.delete(sheet.id); // masked and short again when it comes back
  }

  function drawPaper(fromTop) {
    const top = fromTop ? 0 : paper.scrollTop;
    paper.replaceChildren(...paperOf(sheet, view, act));
    paper.scrollTop = top;
    rail.fill(sheet, rubricOpen);
    if (fromTop) rail.grounds.scrollTop = 0;
  }

  function drawRail() {
    rail.element.toggleAttribute("inert", !sheet);
    root.dataset.waiting = String(link.waiting);
    if (sheet) rail.draw(sheet, phase(), draft, link.waiting, now.of > 0 && now.read === now.of);
  }

  function prefetch() {
    if (!author) return;
    const lacks = (place) => place >= 0 && place < total && !sheets.has(ids.get(place)) && !asked.has(place);
    const near = Array.from({ length: 2 * AROUND + 1 }, (_, index) => at - AROUND + index);
    if (!near.some(lacks)) return;
    const next = Array.from({ length: AT_ONCE + 1 }, (_, index) => at + index);
    for (const some of [next.filter(lacks), near.filter((place) => place < at && lacks(place))]) {
      for (const place of some) asked.add(place);
      if (some.length) link.look({ sheets: some });
    }
  }

  // what the kernel says

  function takeSheets(some) {
    for (const [place, one] of Object.entries(some ?? {})) {
      ids.set(Number(place), one.id);
      sheets.set(one.id, one);
      asked.delete(Number(place));
    }
  }

  function take(answer) {
    if (answer.version !== undefined && answer.version !== version) {
      version = answer.version;
      queue.forget();
      ids.clear();
      asked.clear();
    }
    total = answer.total ?? total;
    now = answer.progress ?? now;
    author = answer.author ?? author;
    words = answer.words ?? words;
    if (activeField() !== frame.facets) frame.facets.value = words;
    if (answer.fresh) sheets.clear(); // with the last reading the runs' names are told
    for (const id of answer.gone ?? []) sheets.delete(id);
    if (answer.rows) queue.take(answer.start, answer.rows);
    for (const [place, row] of answer.row ? [answer.row] : []) queue.set(place, row);
    for (const [index, row] of (answer.rows ?? []).entries()) ids.set(answer.start + index, row.id);
    takeSheets(answer.sheets);
    if (answer.sheet) sheets.set(answer.sheet.id, answer.sheet);
    if (sheets.size > 400) for (const id of [...sheets.keys()].slice(0, 200)) if (id !== sheet?.id) sheets.delete(id);
  }

  function onLook(answer) {
    take(answer);
    draw();
    replay();
  }

  function onAnswer(answer, message, late) {
    const stayed = message.item === undefined || message.item === sheet?.id;
    const writes = WRITES.has(message.kind);
    take(answer);
    if (answer.saved) {
      if (writes) frame.stamp();
      // an answer that comes late must not pull away a reviewer who went on to another item
      if (stayed && message.kind !== "ask") moveTo(answer.position);
      if (message.kind === "ask") askedFor(answer, message);
      if (message.kind !== "filter" && message.kind !== "author" && stayed) focusRoot();
      if (message.kind === "filter" || message.kind === "author") focusRoot();
    } else if (message.kind !== "ask") ahead = [];
    draw();
    const before = !answer.saved ? (writes ? "NOT SAVED: " : "") : late ? "The answer came late. " : "";
    say(`${before}${answer.says}${writes && late && answer.sheet?.mine ? " a amends." : ""}`, answer.saved ? (writes ? "good" : "") : "bad");
    replay();
  }

  function moveTo(position) {
    at = position;
    aside = null;
  }

  function askedFor(answer, message) {
    if (message.what === "check") aside = answer.sheet.id;
    else if (message.what === "diff") view = { kind: "diff", title: answer.title, pieces: answer.pieces };
    else if (message.what === "history") view = { kind: "history", lines: answer.lines };
    if (sheet && message.what !== "check") drawPaper(message.what !== "unmask" && message.what !== "whole");
  }

  function onSilence(message) {
    const lost = ahead.length ? ` ${ahead.length} keys pressed since were not taken.` : "";
    ahead = [];
    draw();
    const silent = "no answer from the kernel yet. Your words are still here; press the same key once more, or run the cell again.";
    say(`${WRITES.has(message.kind) ? "NOT SAVED" : "NO ANSWER"}: ${silent}${lost}`, "bad");
  }

  // acting

  function change(what) {
    draft = { ...draft, ...what };
    link.drafts.keep(sheet.id, draft, sheet.base);
    drawRail();
  }

  function read(reading) {
    if (phase() !== "read" && !draft.reading) return say("Already read: a amends your reading.", "ask");
    if (reading !== "unsure" && sheet.blind) return send({ kind: "decide", reading });
    change({ reading, cause: "", reason: draft.reason ?? "" });
    return say(rail.next.textContent);
  }

  function choose(index) {
    const [cause, meaning] = legend.causes[index];
    const where = phase();
    if (where !== "differ" && where !== "unsure") return hush.start(NO_CAUSE[where], pressed);
    change({ cause, ...(draft.canned ? { reason: "", canned: false } : {}) });
    if (where === "unsure" && sheet.blind) return save();
    say(`${cause}: ${meaning}`);
    return write();
  }

  // The box is brought into sight in the least way: what is typed unseen is not read again.
  function write() {
    rail.reason.focus({ preventScroll: true });
    rail.reason.scrollIntoView({ block: "nearest" });
  }

  function takeCanned() {
    const where = phase();
    if ((where !== "differ" && where !== "unsure") || !draft.cause) return say("Choose the cause first: 1–9, 0, x.", "ask");
    if (!legend.canned[draft.cause]) return say("This cause has no canned reason: say it in your own words.", "ask");
    change({ reason: legend.canned[draft.cause], canned: true });
    focusRoot();
    return say("A canned reason, stored as such. Enter saves.");
  }

  function save() {
    const where = phase();
    if (where === "read") return say("Choose first: p pass, f fail, i infra, - unsure.", "ask");
    if (where === "done") return say("Saved before; n goes to the next open item, a amends.", "ask");
    if (where !== "agree" && !draft.cause) return say("Say why first: 1–9, 0, x.", "ask");
    const reason = (draft.reason ?? "").trim();
    if (!reason && (where === "differ" || (where === "unsure" && !sheet.blind))) {
      write();
      return say("A reason is required: one sentence that a stranger can judge, or . for a canned one.", "ask");
    }
    const said = { cause: draft.cause ?? "", reason, canned: Boolean(draft.canned) };
    return send(draft.reading ? { kind: "decide", reading: draft.reading, ...said } : { kind: "explain", ...said });
  }

  function send(message) {
    if (link.waiting) return;
    const seconds = ((looked.get(sheet.id) ?? 0) + performance.now() - since) / 1000;
    const more = message.kind === "decide" ? { span: draft.span ?? null, unmasked: Boolean(draft.unmasked), seconds: Math.round(seconds * 10) / 10 } : {};
    wait({ cause: "", reason: "", canned: false, ...message, ...more, item: sheet.id, base: sheet.base });
  }

  function wait(message) {
    if (link.waiting) return;
    const first = link.act(message);
    if (first) return refuse(first);
    drawRail();
    if (WRITES.has(message.kind)) say("saving …");
  }

  function refuse(first) {
    const what = { decide: first.reading, explain: "reason", undo: "withdrawal", redo: "restoring" }[first.kind];
    const of = first.item ? ` of ${sheets.get(first.item)?.name ?? "another item"}` : "";
    say(`NOT TAKEN: the kernel has not answered your ${what}${of} yet. Wait, press its key there once more, or run the cell again.`, "bad");
  }

  const ask = (what) => wait({ kind: "ask", what, item: sheet.id, unmasked: Boolean(sheet.unmasked) });

  function toggleView(kind) {
    if (view.kind !== kind) return kind === "diff" && sheet.blind ? say("Hidden until you have read the item.", "ask") : ask(kind);
    view = { kind: "answer" };
    drawPaper(true);
    return say("The answer as it is.");
  }

  function go(place) {
    const to = Math.max(0, Math.min(place, total - 1));
    if (to === at && !aside) return;
    moveTo(to);
    link.tell({ kind: "go", position: at });
    draw();
    if (sheet) say(`Item ${at + 1} of ${total}: ${sheet.name}${sheet.mine ? `, read as ${sheet.mine.reading}` : ", open"}.`);
  }

  function scroll(share) {
    const read = frame.help.hidden ? paper : frame.help;
    read.scrollBy({ top: read.clientHeight * share });
  }

  function cite() {
    const span = citedSpan(paper.querySelector(".answer:not(.diff)"));
    if (phase() === "done" || sheet.stage === "explain") return say("Evidence belongs to the reading: a amends it.", "ask");
    if (!span) return say("Select a piece of the answer first, then e.", "ask");
    const quote = document.getSelection().toString();
    change({ span, quote: quote.length > 80 ? `${quote.slice(0, 79)}…` : quote, unmasked: Boolean(sheet.unmasked) });
    return say("Cited as evidence; it is saved with your reading.");
  }

  function fold() {
    const all = [...paper.querySelectorAll("details")];
    const open = all.some((one) => !one.open);
    for (const one of all) one.open = open;
    if (!all.length) return say("No tool calls or files.", "ask");
    if (open) all[0].scrollIntoView({ block: "nearest" });
    return say(open ? `${all.length} opened; t folds them.` : "Folded.");
  }

  function escape() {
    if (!frame.help.hidden) frame.help.hidden = true;
    else if (activeField()) frame.facets.value = words; // leaves the box, and nothing that was chosen
    else if (view.kind !== "answer") toggleView(view.kind);
    else if (sheet && (draft.amending || draft.reading)) {
      change({ amending: false, reading: "", cause: "" });
      say(rail.next.textContent);
    } else if (aside) {
      moveTo(at);
      draw();
      say("The whole answer again.");
    }
    focusRoot();
  }

  function submit(field) {
    if (field === frame.name && frame.name.value.trim()) return wait({ kind: "author", author: frame.name.value.trim() });
    if (field === frame.facets) return wait({ kind: "filter", words: frame.facets.value });
    return focusRoot();
  }

  const without = {
    down: () => go(at + 1),
    up: () => go(at - 1),
    scroll: () => scroll(0.85),
    back: () => scroll(-0.85),
    help: () => { frame.help.hidden = !frame.help.hidden; say(frame.help.hidden ? "" : "All keys; Space scrolls, Esc hides them."); },
    facets: () => { frame.facets.focus({ preventScroll: true }); say(`Words: ${legend.facets}; several narrow the queue, none asks for all of it. Enter asks.`); },
    leave: escape,
    take: () => submit(activeField()),
    undo: () => wait({ kind: "undo" }),
    redo: () => wait({ kind: "redo" }),
    next: () => wait({ kind: "next", position: at }),
    notebook: () => say("Ctrl+Enter saves a reason. To save the notebook, click outside first."),
  };
  const within = {
    calls: fold,
    diff: () => toggleView("diff"),
    history: () => toggleView("history"),
    rubric: () => { rubricOpen = !rubricOpen; rail.fill(sheet, rubricOpen); say(rubricOpen ? "The whole rubric; g folds it." : "The rubric in short."); },
    cite,
    mask: () => (sheet.unmasked ? (sheets.delete(sheet.id), draw(), say("Credentials are masked.")) : ask("unmask")),
    whole: () => ask("whole"),
    check: () => (sheet.blind ? say("Hidden until you have read the item.", "ask") : ask("check")),
    skip: () => wait({ kind: "skip", item: sheet.id }),
    reason: () => (phase() === "read" ? say("Read it first: p, f, i or -.", "ask") : (rail.element.querySelector(".explain").hidden = false, write())),
    typed: () => change({ reason: rail.reason.value, canned: false }),
    canned: takeCanned,
    enter: save,
    save,
    amend: () => (sheet.mine ? (change({ amending: true, reading: "", cause: "", reason: "", canned: false, span: null }), say("Choose again.")) : say("Nothing to amend: you have not read it.", "ask")),
  };

  function run(command, byMouse = false) {
    const [name, which] = command.split(" ");
    if (without[name]) without[name]();
    else if (sheet && within[name]) within[name]();
    else if (sheet && name === "read") read(which);
    else if (sheet && name === "cause") choose(Number(which));
    if (byMouse && command !== "typed" && name !== "cause") focusRoot();
  }

  // keys

  const activeField = () => {
    const field = root.getRootNode().activeElement;
    return field?.matches?.("textarea, input") && root.contains(field) ? field : null;
  };
  const kindOf = (field) => (field ? field.dataset.field ?? (field.value ? "text" : "empty") : "");

  function onKey(event) {
    event.stopPropagation(); // nothing typed here may reach the notebook
    const plain = event.key.length === 1 || ["Enter", "Escape", "Backspace"].includes(event.key);
    const busy = link.waiting || (!sheet && total && author);
    if ((busy || ahead.length) && plain && (!event.altKey || activeField())) {
      const command = commandOf(event, kindOf(activeField()));
      if (!link.waiting && (command === "down" || command === "up")) ahead = [];
      else {
        if (event.ctrlKey && event.key !== "Enter") return;
        event.preventDefault();
        if (!event.repeat) ahead.push({ key: event.key, code: event.code, timeStamp: event.timeStamp, ctrlKey: event.ctrlKey, metaKey: event.metaKey, shiftKey: event.shiftKey, altKey: event.altKey });
        return;
      }
    }
    const field = event.target.matches("textarea, input") ? event.target : null;
    if (hushed(event, field)) return event.preventDefault();
    const command = commandOf(event, kindOf(field));
    if (event.key.startsWith("Arrow") && (event.target === paper || event.target === rail.grounds)) return;
    if (!command) return;
    event.preventDefault();
    if (!event.repeat || REPEATING.has(command)) run(command);
  }

  function hushed(event, field) {
    pressed = event.timeStamp;
    return !field && !((event.ctrlKey || event.metaKey || event.altKey) && event.key !== "Enter") && hush.takes(event, pressed);
  }

  // Keys pressed while a save was under way are taken in their order, letters into the field that has the focus by then.
  function replay() {
    while (ahead.length && !link.waiting && sheet) {
      const event = { ...ahead.shift(), target: root };
      const field = activeField();
      if (hushed(event, field)) continue;
      const command = commandOf(event, kindOf(field));
      if (command) run(command);
      else if (field && !event.ctrlKey) type(field, event.key);
    }
  }

  function type(field, key) {
    const text = { Enter: "\n", Backspace: "" }[key] ?? key;
    const start = key === "Backspace" ? Math.max(0, field.selectionStart - 1) : field.selectionStart;
    field.setRangeText(text, start, field.selectionEnd, "end");
    if (field === rail.reason) run("typed");
  }

  root.addEventListener("keydown", onKey, true);
  const flush = () => link.drafts.flush();
  window.addEventListener("pagehide", flush);
  rail.reason.addEventListener("blur", flush);
  const resized = new ResizeObserver(() => queue.show(at, total));
  resized.observe(queue.element);
  el.append(root);
  draw();
  say(author ? WELCOME : "Type your name first, then Enter.");
  return () => {
    window.removeEventListener("pagehide", flush);
    resized.disconnect();
    link.close();
  };
}

export default { render };
