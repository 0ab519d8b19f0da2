// JSON, indented and coloured, from its own text: numbers and escapes stay as they were written, and
// a text that was cut is shown up to the cut.

const TOKEN =
  /("[^"\\]*(?:\\[^][^"\\]*)*"?)(\s*:)?|([{}[\],])|(-?\d[\d.eE+-]*)|(true|false|null)|\s+|[^\s"{}[\],]+/g;

const pretty = (text) => {
  const out = document.createDocumentFragment();
  const piece = (kind, content) => out.append(el("span", { class: "cs-j-" + kind }, visible(content)));
  let depth = 0;
  const line = () => out.append("\n" + "  ".repeat(depth));
  let opened = false;
  for (const [token, string, colon, mark, number, literal] of text.matchAll(TOKEN)) {
    if (mark === "}" || mark === "]") {
      depth = Math.max(0, depth - 1);
      if (!opened) line();
      out.append(mark);
      opened = false;
      continue;
    }
    if (token.trim() === "") continue;
    if (opened) line();
    opened = false;
    if (mark === ",") {
      out.append(mark);
      line();
    } else if (mark) {
      out.append(mark);
      depth += 1;
      opened = true;
    } else if (colon !== undefined) {
      piece("key", string);
      out.append(": ");
    } else if (string !== undefined) {
      // Lines of a text on lines of their own.
      const parts = string.split(/(?<=(?<!\\)(?:\\\\)*\\n)(?!"$)/);
      parts.forEach((part, at) => {
        piece("str", part);
        if (at < parts.length - 1) out.append("\n" + "  ".repeat(depth + 1));
      });
    } else if (number !== undefined) piece("num", token);
    else if (literal !== undefined) piece("lit", token);
    else piece("str", token);
  }
  return out;
};

/** A line as it is shown in full. */
const shown = (text) => {
  const start = text.trimStart();
  if (start.startsWith("{") || start.startsWith("[")) return pretty(text);
  const out = document.createDocumentFragment();
  out.append(...visible(text));
  return out;
};

/** Bytes that are no text, sixteen to a line. */
const dump = (base64) => {
  const raw = atob(base64);
  const lines = [];
  for (let from = 0; from < raw.length; from += 16) {
    const part = raw.slice(from, from + 16);
    const codes = Array.from(part, (c) => c.charCodeAt(0).toString(16).padStart(2, "0")).join(" ");
    lines.push(from.toString(16).padStart(6, "0") + "  " + codes.padEnd(47) + "  " + part.replace(/[^ -~]/g, "."));
  }
  return lines.join("\n");
};
