// The lines between and beside the rows: the axis, where each row belongs on it, turns, and requests
// that are open. Only those that can be seen are drawn.

const marksOf = (view, top, bottom, sight) => {
  const { place, x, rows, data } = view;
  const arrow = arrowOf(view.rowHeight);
  const layer = document.createDocumentFragment();
  const add = (tag, attributes, text) => layer.append(svg(tag, attributes, text));
  const arrowAt = (index) => place.tops[index] + arrow;

  if (place.scale > 0) {
    const step = roundStep((bottom - top) / place.scale, Math.max(2, (bottom - top) / 70));
    add("line", { class: "cs-axis", x1: x.axis, x2: x.axis, y1: top, y2: Math.min(bottom, place.total) });
    for (let mark = Math.floor(place.usOf(top) / step) * step; mark <= Math.max(data.us, step); mark += step) {
      const y = place.yOf(mark);
      if (y > bottom) break;
      add("line", { class: "cs-axis", x1: x.axis - 5, x2: x.axis, y1: y, y2: y });
      add("line", { class: "cs-grid", x1: x.lead, x2: x.cli, y1: y, y2: y });
      add("text", { class: "cs-axis-text", x: x.axis - 8, y: y + 4 }, axisText(mark, step));
    }
    // The threads from the axis to rows, those included whose row or time is just out of sight.
    const paths = new Map();
    for (let at = firstBelow(place.tops, top - NEAR); at < rows.length && place.tops[at] < bottom + NEAR; at += 1) {
      const from = place.yOf(rows[at].us);
      const to = arrowAt(at);
      const middle = (x.axis + x.lead) / 2;
      // Of one that is too far away to be followed, only the direction.
      const d = Math.abs(from - to) > 2 * NEAR
        ? "M" + middle + " " + (to + Math.sign(from - to) * 12).toFixed(1) + "Q" + middle + " " + to.toFixed(1) + " " + x.lead + " " + to.toFixed(1)
        : "M" + x.axis + " " + from.toFixed(1) + "C" + middle + " " + from.toFixed(1) + " " + middle + " " + to.toFixed(1) + " " + x.lead + " " + to.toFixed(1);
      const family = rows[at].frame.family;
      paths.set(family, (paths.get(family) || "") + d);
    }
    for (const [family, d] of paths) add("path", { class: "cs-lead cs-" + family, d });
  }

  for (const { y, us } of place.pauses) {
    if (y < top - PAUSE || y > bottom) continue;
    add("text", { class: "cs-pause", x: (x.client + x.cli) / 2, y: y + 4 }, "· · ·  " + span(us) + "  · · ·");
  }

  data.turns.forEach((turn, number) => {
    const from = view.rowNear(turn.from, 1);
    const to = view.rowNear(turn.to ?? data.frames.length - 1, -1);
    if (from === undefined || to === undefined || from > to) return;
    const y1 = arrowAt(from) - Math.min(10, arrow);
    const y2 = arrowAt(to) + 4;
    if (y2 < top || y1 > bottom) return;
    const end = turn.to === null ? "" : "h6";
    add("path", { class: turn.bad ? "cs-turn cs-bad" : "cs-turn", d: "M" + (x.turn + 6) + " " + y1 + "h-6V" + y2 + end });
    const seen1 = Math.max(y1, sight.from);
    const seen2 = Math.min(y2, sight.to);
    if (seen2 - seen1 < 56) return;
    const last = data.frames[turn.to ?? data.frames.length - 1];
    const long = span(last.us - data.frames[turn.from].us);
    const text = "turn " + (number + 1) + (seen2 - seen1 > 110 ? "  ·  " + long : "");
    const middle = (seen1 + seen2) / 2;
    add("text", { class: "cs-turn-text", x: x.turn - 6, y: middle, transform: "rotate(-90 " + (x.turn - 6) + " " + middle + ")" }, text);
  });

  for (const { from, to, level, side } of view.pairs) {
    const row1 = view.rowOf.get(from);
    const row2 = view.rowOf.get(to);
    if (row1 === undefined || row2 === undefined) continue;
    const y1 = arrowAt(row1);
    const y2 = arrowAt(row2);
    if (y2 < top || y1 > bottom) continue;
    const shift = Math.min(level, 3) * 4;
    const left = side === "cli" ? x.cli - 3 + shift : x.client - 3 - shift;
    const hot = view.hot.has(from) || view.hot.has(to);
    const seen = Math.max(y1, top);
    add("rect", { class: hot ? "cs-busy cs-hot" : "cs-busy", x: left, y: seen, width: 6, height: Math.max(3, Math.min(y2, bottom) - seen), rx: 2 });
  }
  return layer;
};
