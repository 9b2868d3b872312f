// What is read of an item: what was asked, the facts it is judged against, the answer, and what is folded.

const NAMED = /(⟨U\+[0-9A-F]{4,6}⟩)/; // how the kernel names a character that would hide or reorder text

const marked = (text) => text.split(NAMED).map((part, index) => (index % 2 ? h("span", { class: "token" }, part) : part));

// piece: [text, ids of checks that want it not to be there, ids of checks that asked for it]
function answerPiece([text, against, wanted]) {
  if (against.length) return h("mark", { class: "against", title: `against ${against.join(", ")}` }, ...marked(text));
  if (wanted.length) return h("mark", { class: "for", title: `asked for by ${wanted.join(", ")}` }, ...marked(text));
  return h("span", {}, ...marked(text));
}

const points = (text) => Array.from(text).length;

// Where the selection begins and ends, in code points of the answer as shown; the kernel knows what stands behind.
function citedSpan(answer) {
  const chosen = document.getSelection();
  if (!answer || !chosen?.rangeCount || chosen.isCollapsed) return null;
  const range = chosen.getRangeAt(0);
  if (!answer.contains(range.startContainer) || !answer.contains(range.endContainer)) return null;
  const before = document.createRange();
  before.setStart(answer, 0);
  before.setEnd(range.startContainer, range.startOffset);
  const start = points(before.toString());
  return [start, start + points(range.toString())];
}

function answerOf(sheet) {
  if (!sheet.answer.some(([text]) => text.trim())) return h("div", { class: "answer" }, h("em", {}, "(the answer is empty)"));
  return h("div", { class: "answer" }, ...sheet.answer.map(answerPiece));
}

function diffOf(pieces) {
  const tag = { less: "del", more: "ins" };
  return h("div", { class: "answer diff" }, ...pieces.map(([op, text]) => (tag[op] ? h(tag[op], {}, ...marked(text)) : text)));
}

function foldsOf(folds) {
  const sections = new Map();
  for (const fold of folds) sections.set(fold.section, [...(sections.get(fold.section) ?? []), fold]);
  return [...sections].map(([name, some]) =>
    h(
      "div",
      { class: "folds" },
      h("h4", {}, `${name} (${some.length})`),
      ...some.map((fold) =>
        h(
          "details",
          { class: fold.checks.length ? "matched" : false },
          h("summary", {}, fold.checks.length ? h("b", {}, `decided ${fold.checks.join(", ")}: `) : "", fold.line),
          h("pre", {}, ...marked(fold.text)),
        ),
      ),
    ),
  );
}

function factsOf(facts) {
  if (!facts.length) return [];
  const rows = facts.flatMap(([label, lines]) => [h("dt", {}, label), h("dd", {}, ...lines.map((line) => h("p", {}, ...marked(line))))]);
  return [h("h4", {}, "judged against"), h("dl", { class: "facts" }, ...rows)];
}

// Long texts come shortened; the rest is asked for by whom wants to read it.
function wholeOf(sheet, act) {
  if (!sheet.left) return "";
  return h("button", { type: "button", class: "whole", onclick: () => act("whole") }, `show all: ${sheet.left.toLocaleString()} more characters`);
}

function answerNote(sheet) {
  const length = `${sheet.length.toLocaleString()} characters`;
  return sheet.unmasked ? `${length}, credentials shown (m masks them)` : sheet.masked ? `${length}, credentials masked (m shows them)` : length;
}

// view: {kind: "answer" | "diff" | "history", lines or pieces}
function paperOf(sheet, view, act) {
  const middle =
    view.kind === "diff"
      ? [h("h4", {}, view.title), diffOf(view.pieces)]
      : [h("h4", {}, "answer", h("span", { class: "count" }, answerNote(sheet)), wholeOf(sheet, act)), answerOf(sheet)];
  const history =
    view.kind === "history"
      ? [h("div", { class: "history", role: "region", "aria-label": "history of this item" }, h("h4", {}, "history of this item (h hides it)"), ...view.lines.map((line) => h("p", {}, line)))]
      : [];
  return [
    h("h3", {}, sheet.name, h("small", {}, sheet.place), sheet.title ? h("small", {}, sheet.title) : ""),
    ...history,
    h("h4", {}, sheet.asked.length > 1 ? `asked, in ${sheet.asked.length} steps` : "asked"),
    ...(sheet.asked.length ? sheet.asked.map((text) => h("div", { class: "asked" }, ...marked(text))) : [h("em", {}, "(the source does not say)")]),
    ...factsOf(sheet.facts),
    ...middle,
    ...foldsOf(sheet.folds),
  ];
}
