// The one table of keys: the hints on the buttons, the `?` sheet and what a key does all come from it.

const READING_KEYS = { pass: "p", fail: "f", infra: "i", unsure: "-" };
const CAUSE_KEYS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "x"];
// key, command, words on its button (none: no button), words in the help
const TOOLS = [
  ["t", "calls", "calls", "open or fold the tool calls and files"],
  ["d", "diff", "diff", "word diff against the nearest passing repeat (once revealed)"],
  ["h", "history", "history", "every entry about this item, withdrawn ones marked"],
  ["g", "rubric", "rubric", "open or fold the whole rubric"],
  ["e", "cite", "cite", "cite the selected piece of the answer as evidence"],
  ["m", "mask", "unmask", "show or mask credentials"],
  ["c", "check", "check", "read the next check of this answer (once revealed); Esc goes back"],
  ["s", "skip", "skip", "put this item at the end of the queue"],
  ["n", "next", "next open", "go to the next item that is open"],
  ["u", "undo", "withdraw", "withdraw your last entry; it stays in the log"],
  ["U", "redo", "restore", "withdraw the withdrawal"],
  ["/", "facets", "filter", "choose what the queue holds; Enter asks, Esc leaves"],
  ["?", "help", "keys", "show or hide these keys; Esc hides them"],
];
// in the help they stand with the arrows
const MOVES = [["j", "down", "next"], ["k", "up", "back"]];
const HELP = [
  ["p f i", "pass, fail, infrastructure: saved at once while blind"],
  ["- then 1–9 0 x", "unsure, and why"],
  ["Enter", "you agree with strict: save, next"],
  ["1–9 0 x", "you differ from strict: why; then the reason"],
  [".", "in the empty box: a canned reason, marked as such"],
  ["Ctrl+Enter", "in the reason box: save, next"],
  ["r", "write the reason; Esc leaves the box"],
  ["a", "amend your reading: choose again"],
  ["j k ↓ ↑", "next, previous item, read ones too"],
  ["Space", "scroll the answer; Shift+Space back"],
  ...TOOLS.map(([key, , , words]) => [key, words]),
];
const REPEATING = new Set(["down", "up", "scroll", "back"]);
const PLAIN = { j: "down", ArrowDown: "down", k: "up", ArrowUp: "up", r: "reason", ".": "canned", Enter: "enter", a: "amend", Escape: "leave" };

function commandTable() {
  const table = { ...PLAIN };
  for (const [key, command] of TOOLS) table[key] = command;
  for (const [reading, key] of Object.entries(READING_KEYS)) table[key] = `read ${reading}`;
  CAUSE_KEYS.forEach((key, index) => (table[key] = `cause ${index}`));
  return table;
}
const COMMANDS = commandTable();

// The key by what it types; where the layout types no Latin letter, by where the letter stands on the keyboard.
function keyOf(event) {
  const letter = /^Key([A-Z])$/.exec(event.code ?? "");
  return letter && /^[^\x00-\x7f]/.test(event.key) ? letter[1].toLowerCase() : event.key;
}

// The name of the command an event stands for; "" says that the key belongs to the field or the browser.
function commandOf(event, field) {
  const chord = event.ctrlKey || event.metaKey;
  const key = keyOf(event);
  if (event.isComposing) return "";
  if (event.key === "Enter" && chord) return "save";
  if (key.toLowerCase() === "s" && chord) return "notebook";
  if (chord || event.altKey) return "";
  if (field === "empty" && event.key === ".") return "canned"; // no reason begins with a full stop
  if (field) return event.key === "Escape" ? "leave" : event.key === "Enter" && field === "line" ? "take" : "";
  if (event.target.matches?.("button, summary") && (event.key === "Enter" || event.key === " ")) return "";
  if (event.key === " ") return event.shiftKey ? "back" : "scroll";
  // with the shift key, not by the letter's case: Caps Lock must not turn a withdrawal into its opposite
  const letter = /^[a-z]$/i.test(key);
  if (letter && event.shiftKey) return key.toLowerCase() === "u" ? "redo" : "";
  return COMMANDS[letter ? key.toLowerCase() : key] ?? "";
}

const PAUSE_MS = 1000;

// After a cause that was refused, what follows is the reason meant for it, and no command: until a pause, Enter or Esc.
function makeHush(say) {
  let last = 0; // when the latest key of such a reason was pressed; 0: none is under way
  let count = 0;
  let words = "";
  return {
    start(refusal, when) {
      [words, last, count] = [refusal, when, 0];
      say(words, "ask");
    },
    // whether a key belongs to such a reason
    takes(event, when) {
      if (!last || when - last > PAUSE_MS || event.key === "Escape") last = 0;
      if (!last || (event.key.length > 1 && event.key !== "Enter" && event.key !== "Backspace")) return false;
      last = event.key === "Enter" ? 0 : when;
      count += 1;
      say(`${words} ${count} ${count === 1 ? "key" : "keys"} typed since ${count === 1 ? "was" : "were"} not taken.`, "ask");
      return true;
    },
  };
}
