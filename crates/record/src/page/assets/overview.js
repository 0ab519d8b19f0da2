// The whole recording on one line, always to scale: what was said when, the turns, and which part of
// it is in sight.

class Overview {
  constructor(view) {
    this.view = view;
    this.height = 46;
    this.strip = svg("svg", { class: "cs-strip", role: "img", "aria-label": "the whole recording to scale, " + span(view.data.us) });
    this.marks = svg("g");
    this.sight = svg("rect", { class: "cs-sight", y: 0.5, height: this.height - 1, rx: 3 });
    this.strip.append(this.marks, this.sight);
    this.element = el("div", { class: "cs-overview", title: "the whole recording to scale: click to go there" }, this.strip);
    const go = (event) => {
      const box = this.strip.getBoundingClientRect();
      view.goToTime(((event.clientX - box.left) / box.width) * view.data.us);
    };
    this.strip.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.strip.setPointerCapture(event.pointerId);
      go(event);
    });
    this.strip.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) go(event);
    });
  }

  draw(width) {
    const { view } = this;
    const { data } = view;
    const at = (us) => (us / Math.max(data.us, 1)) * (width - 2) + 1;
    this.at = at;
    this.strip.setAttribute("viewBox", "0 0 " + width + " " + this.height);
    this.marks.replaceChildren();
    data.turns.forEach((turn) => {
      const from = at(data.frames[turn.from].us);
      const to = at(turn.to === null ? data.us : data.frames[turn.to].us);
      this.marks.append(svg("rect", { class: turn.bad ? "cs-span cs-bad" : "cs-span", x: from, y: 0, width: Math.max(2, to - from), height: this.height - 13 }));
    });
    const step = roundStep(data.us, Math.max(2, width / 90));
    for (let mark = 0; mark <= data.us; mark += step) {
      const x = at(mark);
      this.marks.append(svg("line", { class: "cs-grid", x1: x, x2: x, y1: 0, y2: this.height - 13 }));
      if (x < width - 44) this.marks.append(svg("text", { class: "cs-strip-text", x: x + 3, y: this.height - 2 }, axisText(mark, step)));
    }
    // One line a pixel and family is all that can be seen.
    const paths = new Map();
    const seen = new Set();
    for (const frame of data.frames) {
      if (view.state.off.has(frame.family)) continue;
      const x = Math.round(at(frame.us));
      const key = frame.family + frame.ch + x;
      if (seen.has(key)) continue;
      seen.add(key);
      const [y1, y2] = frame.ch === "in" ? [2, 15] : frame.ch === "note" ? [2, 32] : [18, 32];
      paths.set(frame.family, (paths.get(frame.family) || "") + "M" + x + ".5 " + y1 + "V" + y2);
    }
    for (const [family, d] of paths) this.marks.append(svg("path", { class: "cs-tick cs-" + family, d }));
  }

  show(fromUs, toUs) {
    if (!this.at) return;
    const x = this.at(fromUs);
    this.sight.setAttribute("x", (x - 2).toFixed(1));
    this.sight.setAttribute("width", Math.max(5, this.at(toUs) - x + 4).toFixed(1));
  }
}
