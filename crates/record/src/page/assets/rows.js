// From the frames to the rows that are shown: what is filtered is left out, and what streams is folded.

const FAMILIES = [
  ["control", "Control"],
  ["message", "Messages"],
  ["stream", "Stream events"],
  ["system", "System"],
  ["other", "No frames"],
  ["stderr", "Standard error"],
  ["note", "Notes"],
];

/** Numbers the runs of stream events that follow one another. */
const numberRuns = (frames) => {
  let run = -1;
  let before = "";
  for (const frame of frames) {
    if (frame.family === "stream") {
      if (before !== "stream") run += 1;
      frame.run = run;
    }
    before = frame.family;
  }
};

const matches = (frame, words) => {
  if (words.length === 0) return true;
  const hay = ((frame.kind || "") + "\n" + frame.title + "\n" + frame.said + "\n" + (frame.text || "")).toLowerCase();
  return words.every((word) => hay.includes(word));
};

/** A row is a frame, or a run of them. Its key stays the same whatever is filtered. */
const rowsOf = (frames, state) => {
  const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [];
  let run = null;
  let total = 0;
  frames.forEach((frame, at) => {
    if (state.off.has(frame.family) || !matches(frame, words)) return;
    total += 1;
    if (frame.run === undefined || !state.fold) {
      rows.push({ key: at, at, frame, us: frame.us });
      return;
    }
    if (run === null || run.run !== frame.run) {
      run = { key: "run-" + frame.run, run: frame.run, at, frame, us: frame.us, members: [] };
      rows.push(run);
    }
    run.members.push(at);
    if (state.runs.has(frame.run)) rows.push({ key: at, at, frame, us: frame.us, member: true });
  });
  // One alone needs no fold.
  const shown = rows.map((row) =>
    row.members && row.members.length === 1 && !state.runs.has(row.run)
      ? { key: row.at, at: row.at, frame: row.frame, us: row.us } : row);
  return { rows: shown, total };
};

/** What a run of stream events wrote, as far as it fits on a line. */
const writtenBy = (frames, members) => {
  let text = "";
  for (const at of members) {
    if (text.length > 160) break;
    try {
      const delta = JSON.parse(frames[at].text).event.delta || {};
      text += delta.text ?? delta.thinking ?? delta.partial_json ?? "";
    } catch {
      // A frame that was cut, or never was one.
    }
  }
  return text.replace(/\s+/g, " ").trim();
};
