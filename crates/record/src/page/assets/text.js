// Elements, texts and figures. Nothing from a tape is ever taken for markup: it only becomes text.

/** An element; what starts with "on" is listened to, all else is an attribute. */
const el = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat());
  return element;
};

const svg = (tag, attributes = {}, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
};

// Characters that cannot be seen, or that turn others around; halves of surrogate pairs, too.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f-\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\u{e0000}-\u{e007f}\u{e0100}-\u{e01ef}]/gu;

const escaped = (character) =>
  Array.from({ length: character.length }, (_, at) =>
    "\\u" + character.charCodeAt(at).toString(16).padStart(4, "0")).join("");

/** A text as nodes, with hidden characters by their numbers. */
const visible = (text) => {
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > from) nodes.push(text.slice(from, match.index));
    nodes.push(el("span", { class: "cs-hid", title: "a character that cannot be seen" }, escaped(match[0])));
    from = match.index + match[0].length;
  }
  if (from < text.length) nodes.push(text.slice(from));
  return nodes;
};

/** The same for an attribute. */
const plain = (text) => text.replace(HIDDEN, escaped);

const count = (number) => number.toLocaleString("en").replaceAll(",", "\u202f");

/** A moment, as seconds since the beginning. */
const moment = (us) => {
  if (us < 60e6) return (us / 1e6).toFixed(3);
  const minutes = Math.floor(us / 60e6);
  return minutes + ":" + ((us % 60e6) / 1e6).toFixed(3).padStart(6, "0");
};

/** A length of time, with its unit. */
const span = (us) => {
  if (us < 1000) return us + " µs";
  if (us < 1e6) return (us / 1000).toFixed(us < 1e4 ? 1 : 0) + " ms";
  if (us < 60e6) return (us / 1e6).toFixed(us < 1e7 ? 2 : 1) + " s";
  const seconds = Math.round(us / 1e6);
  if (seconds < 3600) return Math.floor(seconds / 60) + " min " + (seconds % 60) + " s";
  return Math.floor(seconds / 3600) + " h " + Math.round((seconds % 3600) / 60) + " min";
};

const bytes = (number) => {
  if (number < 1024) return number + " bytes";
  if (number < 1024 * 1024) return (number / 1024).toFixed(1) + " KiB";
  return (number / 1024 / 1024).toFixed(1) + " MiB";
};

/** A round step of time of which about `most` fit into a length. */
const roundStep = (us, most) => {
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6,
    5e6, 1e7, 15e6, 3e7, 6e7, 12e7, 3e8, 6e8, 9e8, 18e8, 36e8];
  return steps.find((step) => us / step <= most) || Math.ceil(us / most / 36e8) * 36e8;
};

/** What stands at a mark of an axis with such a step. */
const axisText = (us, step) => {
  if (us === 0) return "0";
  if (step < 1e3) return (us / 1e3).toFixed(step < 10 ? 3 : step < 100 ? 2 : 1) + " ms";
  if (step < 1e5 && us < 1e6) return Math.round(us / 1e3) + " ms";
  const digits = step < 1e4 ? 3 : step < 1e5 ? 2 : step < 1e6 ? 1 : 0;
  if (us < 60e6) return (us / 1e6).toFixed(digits) + " s";
  const seconds = ((us % 60e6) / 1e6).toFixed(digits);
  return Math.floor(us / 60e6) + ":" + (digits > 0 ? seconds.padStart(3 + digits, "0") : seconds.padStart(2, "0"));
};
