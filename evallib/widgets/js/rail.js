// The decision at eye level: the reading, then what strict says, the cause and the reason; below, what to judge by.

const HIDES = "Strict's verdict, its patterns and hits, other readings and the model are hidden until your reading is saved.";
const MEANS = { pass: "I would accept it", fail: "I would not accept it", infra: "not the target's doing", unsure: "cannot tell" };

function checkCard(check) {
  const marks = [check.critical ? "critical" : "", check.judged ? "judged by a model" : ""].filter(Boolean).join(", ");
  return h(
    "li",
    { class: "check", "data-word": check.verdict },
    h("b", { class: "word", "data-word": check.verdict }, `${SIGN[check.verdict] ?? "–"} ${check.id}`),
    marks ? h("span", { class: "marks" }, marks) : "",
    check.says ? h("p", { class: "says" }, check.says) : "",
    h("p", {}, check.reason),
    check.pattern ? h("p", { class: "pattern" }, check.pattern) : "",
  );
}

function groundsOf(sheet, rubricOpen) {
  const rubric = h(
    "div",
    { class: `rubric${rubricOpen ? " open" : ""}` },
    h("h4", {}, h("kbd", {}, "g"), sheet.check ? `judge check ${sheet.check} by` : "judge the whole answer by"),
    ...sheet.rubric.map(([label, text]) => h("p", {}, label ? h("b", {}, `${label}  `) : "", text)),
  );
  if (!sheet.strict) return [rubric, h("p", { class: "hidden-note" }, HIDES)];
  return [
    h("h4", {}, "strict scoring says"),
    h("p", { class: "strict" }, signed(sheet.strict.word), " ", sheet.strict.why),
    h("ul", {}, ...sheet.strict.against.map(checkCard)),
    sheet.strict.others.length
      ? h("details", {}, h("summary", {}, `${sheet.strict.others.length} ${sheet.strict.against.length ? "other " : ""}check${sheet.strict.others.length === 1 ? "" : "s"}`), h("ul", {}, ...sheet.strict.others.map(checkCard)))
      : "",
    ...(sheet.said.length ? [h("h4", {}, "read before"), ...sheet.said.map((line) => h("p", { class: "said" }, line))] : []),
    rubric,
  ];
}

// phase: "read" | "unsure" | "agree" | "differ" | "done"
function makeRail(legend, act) {
  const readings = legend.readings.map((one) =>
    keyed(READING_KEYS[one], `${SIGN[one]} ${one}`, () => act(`read ${one}`), { class: "reading", "data-word": one, title: MEANS[one] }),
  );
  const causes = legend.causes.map(([one, meaning], index) =>
    keyed(CAUSE_KEYS[index], one, () => act(`cause ${index}`), { class: "cause", "data-cause": one, title: meaning }),
  );
  const versus = h("p", { class: "versus" });
  const next = h("p", { class: "next" });
  const why = h("h4", {}, "why");
  const causeGroup = h("div", { class: "causes", role: "group", "aria-label": "cause" }, ...causes);
  const meaning = h("span", { class: "count" });
  const reason = h("textarea", { rows: 2, "aria-label": "reason", "aria-keyshortcuts": "r", placeholder: "a sentence that a stranger can judge", oninput: () => act("typed") });
  const save = keyed("Enter", "save", () => act("save"), { class: "save" });
  const canned = keyed(".", "canned", () => act("canned"), { class: "canned" });
  const amend = keyed("a", "amend", () => act("amend"));
  const back = keyed("Esc", "back", () => act("leave"));
  const cited = h("p", { class: "cited" });
  const explain = h("div", { class: "explain" }, why, causeGroup, h("h4", { class: "reasoned" }, h("kbd", {}, "r"), "reason", meaning), reason);
  const grounds = h("div", { class: "grounds", tabindex: 0, role: "group", "aria-label": "what it is judged by" });
  const readingHead = h("h4", {}, "your reading");
  const readingGroup = h("div", { class: "readings", role: "group", "aria-label": "reading" }, ...readings);
  const element = h(
    "div",
    { class: "rail" },
    h(
      "div",
      { class: "decision" },
      readingHead, readingGroup,
      versus, explain, cited,
      h("div", { class: "acts" }, save, canned, amend, back),
      next,
    ),
    grounds,
  );

  function draw(sheet, phase, draft, waiting, finished) {
    element.dataset.phase = phase;
    const reading = draft.reading || (draft.amending ? "" : sheet.mine?.reading ?? "");
    const asks = phase === "differ" || phase === "unsure" || (phase === "agree" && draft.reason) || (phase === "done" && sheet.mine?.reason && !(sheet.mine.agrees && sheet.mine.reason === "agrees"));
    for (const one of readings) {
      one.setAttribute("aria-pressed", String(one.dataset.word === reading));
      one.disabled = phase !== "read" && phase !== "unsure" && !draft.amending && !draft.reading;
    }
    const strict = sheet.strict?.word;
    versus.hidden = !reading || !strict;
    if (!versus.hidden) versus.replaceChildren("you ", signed(reading), ` ${phase === "agree" || sheet.mine?.agrees ? "=" : "≠"} strict `, signed(strict));
    readingHead.hidden = readingGroup.hidden = !versus.hidden; // said, and said again; a or Esc chooses anew
    explain.hidden = !asks;
    causeGroup.hidden = why.hidden = phase === "agree" || phase === "done";
    why.textContent = phase === "unsure" ? "why you cannot tell" : "why strict and you differ";
    const cause = draft.cause || (phase === "done" ? sheet.mine?.cause : "");
    for (const one of causes) one.setAttribute("aria-pressed", String(one.dataset.cause === cause));
    const means = legend.causes.find(([one]) => one === cause)?.[1] ?? "";
    meaning.textContent = means && causeGroup.hidden ? `${cause}: ${means}` : means;
    const text = phase === "done" ? sheet.mine?.reason ?? "" : draft.reason ?? "";
    if (reason.value !== text) reason.value = text;
    reason.readOnly = waiting || phase === "done";
    cited.hidden = !draft.span;
    cited.textContent = draft.span ? `evidence: “${draft.quote}”` : "";
    save.hidden = phase === "read" || phase === "done";
    save.firstChild.textContent = phase === "differ" || asks ? "Ctrl+Enter" : "Enter";
    canned.hidden = !(phase === "differ" || (phase === "unsure" && draft.cause));
    amend.hidden = !sheet.mine;
    back.hidden = amend.hidden === false || !draft.reading;
    if (reason.readOnly) reason.scrollTop = 0;
    next.textContent = phase === "done" && finished ? "All of the queue is read. a amends." : nextWords(sheet, phase, draft);
  }

  function nextWords(sheet, phase, draft) {
    if (phase === "unsure" && sheet.blind) return "Say why you cannot tell: 1–9, 0, x saves it; r first for a reason.";
    if (phase === "unsure") return draft.cause ? "A reason, then Ctrl+Enter." : "Say why you cannot tell: 1–9, 0, x.";
    if (phase === "agree") return "You agree with strict. Enter saves and goes on.";
    if (phase === "differ") return draft.reason ? "Ctrl+Enter saves." : draft.cause ? "A reason, then Ctrl+Enter; . for a canned one." : "You and strict differ. Say why: 1–9, 0, x.";
    if (phase === "done") return "Read. n goes to the next open item, a amends.";
    if (draft.amending) return "Choose again; your earlier reading stays in the log.";
    return sheet.blind ? "Saved at once; then strict's verdict is shown." : "Choose; then say why where you differ.";
  }

  return { element, reason, next, draw, fill: (sheet, open) => grounds.replaceChildren(...groundsOf(sheet, open)), grounds };
}
