// One row, and what opens below it.

const WAYS = { in: "client to CLI", out: "CLI to client", err: "CLI, standard error", note: "note of the recorder" };

/** What is known of the answer to a request, or of the request of an answer. */
const pairWords = (view, frame) => {
  if (frame.pair === undefined) return null;
  const other = view.data.frames[frame.pair];
  const wait = span(Math.abs(other.us - frame.us));
  if (frame.reply) return { chip: "after " + wait, words: "answers number " + other.n + " after " + wait, other };
  return { chip: wait, words: "answered by number " + other.n + " after " + wait, other };
};

/** Whether it asks, and everything that follows is here and has no answer. */
const isUnanswered = (view, frame) =>
  frame.family === "control" && !frame.reply && frame.pair === undefined && view.data.left_out === 0;

const rowElement = (view, row) => {
  const { frame } = row;
  const open = row.members ? view.state.runs.has(row.run) : view.state.open.has(row.at);
  const pair = row.members ? null : pairWords(view, frame);
  let title = frame.title;
  let said = frame.said;
  if (row.members) {
    const last = view.data.frames[row.members.at(-1)];
    title = count(row.members.length) + " stream events";
    said = writtenBy(view.data.frames, row.members);
    if (said) said = "\u201c" + (said.length > 120 ? said.slice(0, 120) + "…" : said) + "\u201d";
    row.long = last.us - frame.us;
  }
  const label = [
    el("span", { class: "cs-kind" }, visible(title)),
    el("span", { class: "cs-said" }, visible(said)),
  ];
  if (frame.bad && !row.members) label.unshift(el("span", { class: "cs-cross", "aria-hidden": "true" }, "✕"));
  if (frame.reply) label.unshift(el("span", { class: "cs-back", "aria-hidden": "true" }, "↩"));
  if (row.members) label.unshift(el("span", { class: "cs-twist", "aria-hidden": "true" }, open ? "▾" : "▸"));
  if (frame.cut) label.push(el("span", { class: "cs-chip" }, "cut"));
  if (row.members && row.long > 0) label.push(el("span", { class: "cs-chip" }, span(row.long)));
  if (pair) label.push(el("span", { class: "cs-chip cs-wait-chip" }, pair.chip));
  else if (isUnanswered(view, frame)) label.push(el("span", { class: "cs-chip cs-warn" }, "no answer"));
  const name = [
    row.members ? "from number " + frame.n : "number " + frame.n,
    moment(row.us) + " seconds",
    WAYS[frame.ch],
    plain(title) + ": " + plain(said),
    frame.bad && !row.members ? "an error" : "",
    pair ? pair.words : isUnanswered(view, frame) ? "no answer" : "",
  ].filter(Boolean).join(", ");
  const button = el(
    "button",
    { type: "button", class: "cs-bar", "aria-expanded": String(open), "aria-label": name, tabindex: "-1" },
    el("time", { class: "cs-time" }, moment(row.us)),
    el("span", { class: "cs-label" }, label),
    el("span", { class: "cs-arrow" }),
  );
  const item = el("li", {
    class: "cs-row cs-" + frame.family + " cs-to-" + frame.ch + (row.members ? " cs-run" : "") + (row.member ? " cs-member" : "")
      + (frame.bad && !row.members ? " cs-bad" : "") + (frame.title === "end" && frame.ch === "note" ? " cs-end" : "")
      + (frame.title === "result" ? " cs-result" : ""),
  }, button);
  item.button = button;
  if (!row.members && open) item.append(detail(view, row));
  return item;
};

const copy = async (text, button) => {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    // Not every browser lets a page from the disk do that; all of them let it select.
    const area = el("textarea", { class: "cs-off", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    button.textContent = document.execCommand("copy") ? "Copied" : "Not copied";
    area.remove();
    button.focus();
  }
  setTimeout(() => { button.textContent = before; }, 1500);
};

const detail = (view, row) => {
  const { frame, at } = row;
  const facts = [
    el("a", { href: "#" + view.anchorOf(frame), class: "cs-link", title: "a link to this frame" }, "#" + frame.n),
    el("span", {}, WAYS[frame.ch]),
    frame.kind ? el("code", {}, visible(frame.kind)) : "",
    el("span", { title: "microseconds since the beginning" }, count(frame.us) + " µs"),
    frame.text !== undefined ? el("span", {}, bytes(frame.cut || new Blob([frame.text]).size)) : "",
  ];
  if (frame.open) facts.push(el("span", { class: "cs-warn" }, "no newline followed"));
  const pair = pairWords(view, frame);
  if (pair) {
    const go = frame.reply ? "Request #" + pair.other.n : "Answer #" + pair.other.n;
    facts.push(el("button", { type: "button", class: "cs-small", onclick: () => view.goTo(frame.pair, true) }, go + (frame.reply ? ", " : " after ") + span(Math.abs(pair.other.us - frame.us)) + (frame.reply ? " before" : "")));
  } else if (isUnanswered(view, frame)) {
    facts.push(el("span", { class: "cs-warn" }, "no answer on the tape"));
  }
  for (const other of view.relatedTo(at)) {
    if (other === frame.pair) continue;
    const target = view.data.frames[other];
    facts.push(el("button", { type: "button", class: "cs-small cs-quiet", title: "about the same tool call", onclick: () => view.goTo(other, true) }, visible(target.title) , " #" + target.n));
  }
  const parts = [el("div", { class: "cs-facts" }, facts.filter((fact) => fact !== ""))];
  if (frame.text !== undefined || frame.base64 !== undefined) {
    const raw = frame.text ?? frame.base64;
    const button = el("button", { type: "button", class: "cs-small cs-copy" }, frame.text !== undefined ? "Copy" : "Copy base64");
    button.addEventListener("click", () => copy(raw, button));
    const body = frame.text !== undefined ? shown(frame.text) : dump(frame.base64);
    const pre = el("pre", { class: "cs-body", tabindex: "0", role: "region", "aria-label": "frame " + frame.n }, body);
    parts.push(el("div", { class: "cs-box" }, pre, button));
  }
  if (frame.cut) {
    const kept = frame.text === undefined && frame.base64 === undefined ? "nothing of it is" : "only its beginning is";
    parts.push(el("p", { class: "cs-warn" }, "This line has " + bytes(frame.cut) + "; " + kept + " on this page. “countersign tape show --raw” has all of it."));
  }
  return el("div", { class: "cs-detail" }, parts);
};
