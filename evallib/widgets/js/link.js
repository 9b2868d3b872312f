// What goes to the kernel and comes back. One acting message waits at a time; it is saved when its answer says so.
// Silence does not mean that it was not saved: until the answer comes, nothing else may be written after it.

const PATIENCE_MS = 3000;
const DRAFT_MS = 400;
const WRITES = new Set(["decide", "explain", "undo", "redo"]);

function makeLink(model, { onAnswer, onSilence, onLook }) {
  const sender = `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`;
  let count = 0;
  let pending = null; // the message that waits for its answer, or had none within the time
  let timer = 0;

  function post(message) {
    try {
      model.send(message);
    } catch {
      // the kernel is gone; the silence is reported when the time is up
    }
  }

  // Gives the message that stands in the way, or null when this one went out. The same act goes out as the same message.
  function act(message) {
    const again = pending && JSON.stringify({ ...pending, seq: 0, seconds: 0 }) === JSON.stringify({ ...message, seq: 0, seconds: 0 });
    if (pending && !again && WRITES.has(pending.kind)) return pending;
    if (!again) pending = { ...message, seq: `${sender}-${++count}` };
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = 0;
      drafts.resume();
      onSilence(pending);
    }, PATIENCE_MS);
    drafts.hold(); // a draft that came after the decision it led to would stand for the next one
    post(pending);
    return null;
  }

  function receive(answer) {
    if (answer.kind === "look") return onLook(answer);
    if (answer.kind === "draft") return drafts.kept(answer);
    if (answer.seq !== pending?.seq) return undefined;
    const asked = pending;
    const late = timer === 0;
    clearTimeout(timer);
    timer = 0;
    pending = null;
    if (answer.saved && asked.kind in { decide: 1, explain: 1 }) drafts.forget(asked.item);
    drafts.resume();
    return onAnswer(answer, asked, late);
  }

  const drafts = makeDrafts(post, sender);
  model.on("msg:custom", receive);
  return {
    act,
    drafts,
    get waiting() {
      return timer !== 0;
    },
    look: (message) => post({ kind: "look", ...message }),
    tell: (message) => post(message),
    close() {
      model.off("msg:custom", receive);
      clearTimeout(timer);
      drafts.flush();
    },
  };
}

// Half-made decisions: in this tab at once, on the kernel's disk within a second of the first new letter.
function makeDrafts(post, sender) {
  const own = new Map(); // item to its draft, as typed here
  const bases = new Map(); // item to the reading that its draft builds on
  const sent = new Map(); // number of a message to the draft it carried, until the kernel has it
  let dirty = new Set();
  let timer = 0;
  let count = 0;
  const place = (item) => `evallib-draft-${item}`;

  function tab(item, draft) {
    try {
      if (draft) sessionStorage.setItem(place(item), JSON.stringify(draft));
      else sessionStorage.removeItem(place(item));
    } catch {
      // a browser may forbid storage; the kernel still gets the draft
    }
  }

  function flush() {
    clearTimeout(timer);
    timer = 0;
    for (const item of dirty) {
      const seq = `${sender}-d${++count}`;
      sent.set(seq, [item, JSON.stringify(own.get(item))]);
      post({ kind: "draft", seq, item, draft: own.get(item) ?? {} });
    }
    dirty = new Set();
  }

  return {
    flush,
    hold() {
      clearTimeout(timer);
      timer = 0;
    },
    resume() {
      if (dirty.size) timer ||= setTimeout(flush, DRAFT_MS);
    },
    // what this tab still holds was never acknowledged, so it is newer than what the kernel sent
    of(sheet) {
      if (own.has(sheet.id) && bases.get(sheet.id) === sheet.base) return own.get(sheet.id);
      let held = null;
      try {
        held = JSON.parse(sessionStorage.getItem(place(sheet.id)) ?? "null");
      } catch {
        held = null;
      }
      const draft = held && held.base === sheet.base ? held : { ...sheet.draft };
      own.set(sheet.id, draft);
      bases.set(sheet.id, sheet.base);
      return draft;
    },
    keep(item, draft, base) {
      own.set(item, draft);
      bases.set(item, base);
      tab(item, { ...draft, base });
      dirty.add(item);
      timer ||= setTimeout(flush, DRAFT_MS);
    },
    kept({ seq, saved }) {
      const [item, text] = sent.get(seq) ?? [];
      sent.delete(seq);
      if (saved && item && !dirty.has(item) && JSON.stringify(own.get(item)) === text) tab(item, null);
    },
    forget(item) {
      own.delete(item);
      dirty.delete(item);
      tab(item, null);
    },
  };
}
