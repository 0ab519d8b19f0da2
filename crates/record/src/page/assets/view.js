// A diagram: what is shown of it, and what the person does.

const OVERSCAN = 300;
// More rows than this on paper would be a book; it takes the browser minutes.
const MOST_PRINTED = 3000;

class View {
  constructor(section) {
    this.section = section;
    this.id = section.dataset.id;
    this.data = JSON.parse(section.querySelector("script").textContent);
    const { frames } = this.data;
    numberRuns(frames);
    this.pairs = levelsOf(frames);
    this.calls = new Map();
    frames.forEach((frame, at) => {
      for (const call of frame.calls || []) {
        if (!this.calls.has(call)) this.calls.set(call, []);
        this.calls.get(call).push(at);
      }
    });
    this.state = { off: new Set(), query: "", fold: true, open: new Set(), runs: new Set() };
    this.mode = "scale";
    this.zoom = 1;
    this.hot = new Set();
    this.elements = new Map();
    this.heights = new Map();
    this.current = undefined;
    this.printing = false;

    this.tools = toolsOf(this);
    this.overview = new Overview(this);
    this.client = el("div", { class: "cs-life" });
    this.cli = el("div", { class: "cs-life" });
    this.marks = svg("svg", { class: "cs-marks", "aria-hidden": "true" });
    this.list = el("ol", { class: "cs-rows", role: "list", "aria-label": "frames" });
    this.canvas = el("div", { class: "cs-canvas" }, this.client, this.cli, this.marks, this.list);
    this.clientHead = el("span", { class: "cs-actor" }, "Client");
    this.cliHead = el("span", { class: "cs-actor" }, "CLI");
    this.ruler = el("div", { class: "cs-ruler" }, this.overview.element, el("div", { class: "cs-actors" }, this.clientHead, this.cliHead));
    const parts = [headOf(this), this.tools.element, this.ruler, this.canvas];
    if (this.data.left_out > 0) {
      parts.push(el("p", { class: "cs-left" }, count(this.data.left_out) + " frames that follow are not on this page. “countersign tape show” shows all of them."));
    }
    if (this.data.tail === "torn") parts.push(el("p", { class: "cs-left" }, "The tape is cut within a record here."));
    parts.push(el("p", { class: "cs-left cs-on-paper" }, "Only the first " + count(MOST_PRINTED) + " rows are printed."));
    const key = (name) => el("kbd", {}, name);
    parts.push(el("p", { class: "cs-keys" }, key("↑"), key("↓"), " next row  ", key("Enter"), " open  ", key("p"), " request or answer  ",
      key("/"), " filter  ", key("+"), key("−"), key("0"), " zoom, also ", key("Ctrl"), " and the wheel  ", key("s"), " spacing"));
    section.querySelector(".cs-wait")?.remove();
    section.append(...parts);

    this.listen();
    this.refilter();
  }

  listen() {
    const { list, canvas } = this;
    list.addEventListener("click", (event) => {
      const button = event.target.closest(".cs-bar");
      if (button) this.toggle(button.parentElement.row);
    });
    const heat = (event) => {
      const item = event.target.closest?.(".cs-row");
      this.heat(item ? item.row : null);
    };
    list.addEventListener("mouseover", heat);
    list.addEventListener("mouseleave", () => this.heat(null));
    list.addEventListener("focusin", (event) => {
      const item = event.target.closest(".cs-row");
      if (item) this.setCurrent(item.row.key);
      heat(event);
    });
    list.addEventListener("keydown", (event) => this.listKey(event));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoomBy(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 150), event.clientY);
    }, { passive: false });
    this.section.addEventListener("pointerdown", () => { View.last = this; });
    this.section.addEventListener("focusin", () => { View.last = this; });
    let pending = false;
    this.soon = () => {
      if (pending) return;
      pending = true;
      requestAnimationFrame(() => {
        pending = false;
        this.render();
      });
    };
    addEventListener("scroll", this.soon, { passive: true });
    let width = canvas.clientWidth;
    new ResizeObserver(() => {
      if (canvas.clientWidth === 0) return;
      if (canvas.clientWidth === width) {
        this.soon();
        return;
      }
      width = canvas.clientWidth;
      this.heights.clear();
      for (const item of this.elements.values()) item.remove();
      this.elements.clear();
      this.relayout(this.anchor());
      this.overview.draw(width);
      this.render();
    }).observe(canvas);
    const measureTools = () => this.section.style.setProperty("--cs-tools", this.tools.element.offsetHeight + "px");
    measureTools();
    new ResizeObserver(measureTools).observe(this.tools.element);
    this.details = new ResizeObserver(() => {
      if (this.measure()) this.relayout(this.anchor());
    });
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
  }

  // What is shown.

  refilter(anchor = this.anchor()) {
    const { rows, total } = rowsOf(this.data.frames, this.state);
    this.rows = rows;
    this.length = lengthOf(rows, this.data.us);
    this.rowOf = new Map();
    this.byKey = new Map();
    rows.forEach((row, index) => {
      this.byKey.set(row.key, index);
      if (!row.members) this.rowOf.set(row.at, index);
    });
    for (const [key, item] of this.elements) {
      item.remove();
      this.elements.delete(key);
    }
    if (!this.byKey.has(this.current)) this.current = rows[0]?.key;
    this.tools.fold.setAttribute("aria-pressed", String(this.state.fold));
    const all = this.data.frames.length;
    this.tools.status.textContent = total === all ? count(all) + " frames" : count(total) + " of " + count(all) + " frames";
    this.canvas.classList.toggle("cs-empty", rows.length === 0);
    this.relayout(anchor);
    this.overview.draw(this.canvas.clientWidth);
    this.render();
  }

  /** The row at a frame, or the next one in a direction. */
  rowNear(at, step) {
    const { rows } = this;
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle].at < at || (step < 0 && rows[middle].at === at)) low = middle + 1;
      else high = middle;
    }
    const found = step < 0 ? low - 1 : low;
    return found >= 0 && found < rows.length ? found : undefined;
  }

  setMode(mode) {
    const anchor = this.anchor();
    this.mode = mode;
    this.zoomTo(1, undefined, anchor);
  }

  zoomBy(factor, y) {
    this.zoomTo(this.zoom * factor, y);
  }

  zoomTo(zoom, y, anchor = this.anchor(y)) {
    const [least, most] = zoomLimits(this.mode, this.length);
    this.zoom = Math.min(most, Math.max(least, Math.abs(zoom - 1) < 0.02 ? 1 : zoom));
    this.relayout(anchor);
    this.render();
  }

  // Where it is shown.

  measureWidths() {
    const width = this.canvas.clientWidth;
    const narrow = width < 640;
    const scale = this.mode === "scale" && !this.printing;
    const axis = narrow ? 44 : 58;
    const lead = scale ? axis + (narrow ? 20 : 44) : 0;
    const time = narrow ? 0 : 60;
    const turn = lead + time + (narrow ? 20 : 26);
    const client = turn + (narrow ? 16 : 24);
    const cli = width - (narrow ? 18 : 34);
    this.x = { axis, lead, time, turn, client, cli };
    for (const [name, value] of Object.entries(this.x)) this.section.style.setProperty("--cs-" + name, value + "px");
    this.section.style.setProperty("--cs-right", width - cli + "px");
  }

  heightOf(row) {
    return row.members || !this.state.open.has(row.at) ? 0 : this.heights.get(row.at) ?? 220;
  }

  relayout(anchor) {
    this.measureWidths();
    const mode = this.printing ? "even" : this.mode;
    const zoom = this.printing ? 1 : this.zoom;
    this.rowHeight = rowHeightOf(mode, zoom);
    const heightOf = (row) => this.heightOf(row);
    this.place = mode === "scale"
      ? toScale(this.rows, heightOf, this.data.us, this.rowHeight, this.length * zoom)
      : evenly(this.rows, heightOf, this.data.us, this.rowHeight);
    const shown = this.printing && this.rows.length > MOST_PRINTED ? this.place.tops[MOST_PRINTED] : this.place.total;
    this.canvas.style.height = shown + "px";
    this.section.style.setProperty("--cs-row", this.rowHeight + "px");
    this.canvas.classList.toggle("cs-tiny", this.rowHeight < 15);
    this.canvas.classList.toggle("cs-small-rows", this.rowHeight < 26);
    this.section.classList.toggle("cs-scaled", mode === "scale");
    this.tools.scale.setAttribute("aria-pressed", String(this.mode === "scale"));
    this.tools.even.setAttribute("aria-pressed", String(this.mode === "even"));
    this.tools.reset.textContent = Math.round(zoom * 100) + "%";
    this.section.dataset.zoom = zoom.toFixed(3);
    if (anchor) {
      const index = this.byKey.get(anchor.key) ?? this.rowNear(anchor.at, 1) ?? this.rowNear(anchor.at, -1);
      if (index !== undefined) {
        const now = this.canvas.getBoundingClientRect().top + this.place.tops[index];
        if (Math.abs(now - anchor.y) > 0.5) scrollTo({ top: scrollY + now - anchor.y, behavior: "instant" });
      }
    }
    this.soon();
  }

  /** The row that stays where it is: the one at `y`, the current one, or the first in sight. */
  anchor(y) {
    if (!this.place || this.rows.length === 0) return null;
    const top = this.canvas.getBoundingClientRect().top;
    const from = this.sightTop();
    // Above everything there is nothing to hold on to.
    if (y === undefined && top >= from - 4) return null;
    let index = y === undefined ? undefined : firstBelow(this.place.tops, y - top);
    if (index === undefined) {
      const current = this.byKey.get(this.current);
      const at = current === undefined ? -1 : top + this.place.tops[current];
      const focused = this.list.contains(document.activeElement);
      index = focused && at >= from && at < innerHeight ? current : firstBelow(this.place.tops, from - top);
    }
    const row = this.rows[index];
    return row && { key: row.key, at: row.at, y: top + this.place.tops[index] };
  }

  /** How far down the page is covered by what sticks to its top. */
  sightTop() {
    return Math.max(0, this.ruler.getBoundingClientRect().bottom);
  }

  /** The same for when the diagram has been scrolled to, wherever it is now. */
  stuckTop() {
    return parseFloat(getComputedStyle(this.ruler).top) + this.ruler.offsetHeight;
  }

  measure() {
    let changed = false;
    for (const [key, item] of this.elements) {
      const opened = item.querySelector(".cs-detail");
      if (!opened) continue;
      const height = Math.ceil(opened.offsetHeight);
      if (height > 0 && this.heights.get(key) !== height) {
        this.heights.set(key, height);
        changed = true;
      }
    }
    return changed;
  }

  render() {
    if (!this.place || this.canvas.clientWidth === 0) return;
    const { rows, place } = this;
    const box = this.canvas.getBoundingClientRect();
    const away = box.bottom < -OVERSCAN || box.top > innerHeight + OVERSCAN;
    if (away && this.elements.size > 0 && !this.printing) return;
    let top = Math.max(0, -box.top - OVERSCAN);
    let bottom = Math.min(place.total, innerHeight - box.top + OVERSCAN);
    let first = firstBelow(place.tops, top);
    if (this.printing) [top, bottom, first] = [0, this.canvas.clientHeight, 0];
    const wanted = new Set();
    for (let index = first; index < rows.length && place.tops[index] < bottom; index += 1) {
      wanted.add(index);
    }
    // The focus must not get lost with the row that has it.
    const current = this.byKey.get(this.current);
    if (current !== undefined) wanted.add(current);
    for (const [key, item] of this.elements) {
      const index = this.byKey.get(key);
      if (index === undefined || !wanted.has(index)) {
        item.remove();
        this.elements.delete(key);
      }
    }
    for (const index of wanted) {
      const row = rows[index];
      let item = this.elements.get(row.key);
      if (!item) {
        item = rowElement(this, row);
        this.elements.set(row.key, item);
        // In the order of the rows, for whoever reads them one after the other.
        const after = [...this.list.children].find((other) => this.byKey.get(other.row.key) > index);
        this.list.insertBefore(item, after || null);
        const opened = item.querySelector(".cs-detail");
        if (opened) this.details.observe(opened);
      }
      item.row = row;
      item.style.top = place.tops[index] + "px";
      item.setAttribute("aria-posinset", index + 1);
      item.setAttribute("aria-setsize", rows.length);
      item.button.tabIndex = row.key === this.current ? 0 : -1;
      item.classList.toggle("cs-hot", !row.members && this.hot.has(row.at));
    }
    this.marks.style.top = top + "px";
    this.marks.style.height = Math.max(0, bottom - top) + "px";
    this.marks.setAttribute("viewBox", "0 " + top + " " + this.canvas.clientWidth + " " + Math.max(1, bottom - top));
    const sight = this.printing
      ? { from: 0, to: bottom }
      : { from: Math.max(0, this.sightTop() - box.top), to: Math.max(0, innerHeight - box.top) };
    this.marks.replaceChildren(marksOf(this, top, bottom, sight));
    if (rows.length > 0) {
      this.overview.show(place.usOf(sight.from), place.usOf(sight.to));
    }
  }

  // What the person does.

  toggle(row) {
    const index = this.byKey.get(row.key);
    const y = this.canvas.getBoundingClientRect().top + this.place.tops[index];
    const anchor = { key: row.key, at: row.at, y };
    this.setCurrent(row.key);
    if (row.members) {
      if (!this.state.runs.delete(row.run)) this.state.runs.add(row.run);
      this.refilter(anchor);
    } else {
      if (!this.state.open.delete(row.at)) this.state.open.add(row.at);
      this.redraw(row.key, anchor);
    }
    this.elements.get(row.key)?.button.focus({ preventScroll: true });
  }

  /** Draws a row anew, and all others where they belong then. */
  redraw(key, anchor) {
    this.elements.get(key)?.remove();
    this.elements.delete(key);
    this.relayout(anchor);
    this.render();
    if (this.measure()) {
      this.relayout(anchor);
      this.render();
    }
  }

  setCurrent(key) {
    const before = this.elements.get(this.current);
    if (before) before.button.tabIndex = -1;
    this.current = key;
    const now = this.elements.get(key);
    if (now) now.button.tabIndex = 0;
  }

  relatedTo(at) {
    const all = new Set();
    for (const call of this.data.frames[at].calls || []) {
      for (const other of this.calls.get(call)) all.add(other);
    }
    all.delete(at);
    return [...all].slice(0, 12);
  }

  heat(row) {
    const hot = new Set();
    if (row && !row.members) {
      const { pair } = row.frame;
      if (pair !== undefined) hot.add(row.at).add(pair);
      for (const other of this.relatedTo(row.at)) hot.add(row.at).add(other);
    }
    if (hot.size === this.hot.size && [...hot].every((at) => this.hot.has(at))) return;
    this.hot = hot;
    this.soon();
  }

  listKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !event.target.classList.contains("cs-bar")) return;
    const index = this.byKey.get(this.current);
    if (index === undefined) return;
    const row = this.rows[index];
    const page = Math.max(1, Math.floor((innerHeight - this.sightTop()) / ROW) - 2);
    const moves = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const open = row.members ? this.state.runs.has(row.run) : this.state.open.has(row.at);
    if (event.key in moves) this.focusRow(Math.min(this.rows.length - 1, Math.max(0, index + moves[event.key])));
    else if (event.key === "ArrowRight" && !open) this.toggle(row);
    else if (event.key === "ArrowLeft" && open) this.toggle(row);
    else if (event.key === "p" && !row.members && row.frame.pair !== undefined) this.goTo(row.frame.pair, false);
    else return;
    event.preventDefault();
  }

  focusRow(index) {
    this.setCurrent(this.rows[index].key);
    this.bringIntoSight(index);
    this.render();
    this.elements.get(this.current)?.button.focus({ preventScroll: true });
  }

  bringIntoSight(index) {
    const top = this.canvas.getBoundingClientRect().top + this.place.tops[index];
    const from = this.sightTop() + 8;
    const room = innerHeight - from;
    if (top < from) scrollBy({ top: top - from - room * 0.1, behavior: "instant" });
    else if (top + this.rowHeight > innerHeight - 8) scrollBy({ top: top + this.rowHeight - innerHeight + room * 0.1 + 8, behavior: "instant" });
  }

  /** Shows a frame, whatever hides it now. */
  goTo(at, open) {
    const frame = this.data.frames[at];
    let again = false;
    if (this.state.off.delete(frame.family)) {
      this.tools.chips.find((chip) => chip.family === frame.family)?.setAttribute("aria-pressed", "true");
      again = true;
    }
    if (!matches(frame, this.state.query.toLowerCase().split(/\s+/).filter(Boolean))) {
      this.state.query = "";
      this.tools.search.value = "";
      again = true;
    }
    if (again) this.refilter(null);
    if (!this.rowOf.has(at)) {
      this.state.runs.add(frame.run);
      this.refilter(null);
    }
    if (open) this.state.open.add(at);
    this.elements.get(at)?.remove();
    this.elements.delete(at);
    this.relayout(null);
    const index = this.rowOf.get(at);
    this.setCurrent(at);
    const place = () => {
      const top = this.canvas.getBoundingClientRect().top + this.place.tops[index];
      const from = this.stuckTop();
      scrollBy({ top: top - from - (innerHeight - from) * 0.2, behavior: "instant" });
    };
    place();
    this.render();
    if (this.measure()) {
      this.relayout(null);
      place();
      this.render();
    }
    this.elements.get(at)?.button.focus({ preventScroll: true });
  }

  goToTime(us) {
    if (this.rows.length === 0) return;
    const top = this.canvas.getBoundingClientRect().top + this.place.yOf(us);
    scrollBy({ top: top - (this.stuckTop() + innerHeight) / 2, behavior: "instant" });
  }

  anchorOf(frame) {
    return (this.id ? this.id + "-" : "") + "frame-" + frame.n;
  }

  print(on) {
    if (this.printing === on || this.canvas.clientWidth === 0) return;
    this.printing = on;
    this.section.classList.toggle("cs-too-long", on && this.rows.length > MOST_PRINTED);
    for (const item of this.elements.values()) item.remove();
    this.elements.clear();
    this.relayout(null);
    this.render();
    if (this.measure()) {
      this.relayout(null);
      this.render();
    }
  }

  key(event) {
    const keys = {
      "+": () => this.zoomBy(1.5),
      "=": () => this.zoomBy(1.5),
      "-": () => this.zoomBy(1 / 1.5),
      0: () => this.zoomTo(1),
      s: () => this.setMode(this.mode === "scale" ? "even" : "scale"),
      "/": () => this.tools.search.focus(),
    };
    const act = keys[event.key];
    if (!act) return;
    act();
    event.preventDefault();
  }
}
