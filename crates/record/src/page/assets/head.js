// What stands above a diagram: what was recorded, and the tools.

const headOf = (view) => {
  const { data } = view;
  const fact = (name, ...value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
  const start = new Date(data.start);
  const when = Number.isNaN(start.getTime()) ? data.start : start.toISOString().replace("T", " ").replace(/\.\d+Z$|Z$/, " UTC");
  const ended = data.end === null
    ? el("span", { class: "cs-badge cs-warn" }, data.tail === "torn" ? "the tape is torn" : "not on the tape")
    : el("span", { class: "cs-badge " + (data.well ? "cs-good" : "cs-bad") }, visible(data.end));
  const facts = el("dl", { class: "cs-meta" },
    fact("CLI", data.cli === null ? "unknown" : visible(data.cli)),
    fact("Started", el("time", { datetime: data.start }, when)),
    fact("Duration", span(data.us)),
    fact("Ended", ended),
    fact("Turns", String(data.turns.length)),
    fact("Frames", count(data.frames.length + data.left_out)),
    fact("Recorded by", visible(data.tool)),
  );
  const words = data.argv.map((word, at) => el("span", { class: word.startsWith("-") ? "cs-flag" : "cs-word" }, visible(word), at < data.argv.length - 1 ? " " : ""));
  const long = data.argv.join(" ");
  const argv = el("details", { class: "cs-argv" },
    el("summary", {}, "Command line ", el("code", {}, visible(long.length > 90 ? long.slice(0, 90) + "…" : long))),
    el("div", { class: "cs-code" }, words),
    el("p", {}, "in ", el("code", {}, visible(data.cwd))));
  return el("header", { class: "cs-head" }, el("h2", {}, visible(data.name)), facts, data.argv.length > 0 ? argv : "");
};

const toolsOf = (view) => {
  const { data, state } = view;
  const chips = FAMILIES.filter(([family]) => data.counts[family]).map(([family, name]) => {
    const chip = el("button", { type: "button", class: "cs-filter cs-" + family, "aria-pressed": "true" },
      el("i", { "aria-hidden": "true" }), name, " ", el("b", {}, count(data.counts[family])));
    chip.addEventListener("click", () => {
      if (state.off.delete(family)) chip.setAttribute("aria-pressed", "true");
      else {
        state.off.add(family);
        chip.setAttribute("aria-pressed", "false");
      }
      view.refilter();
    });
    chip.family = family;
    return chip;
  });
  const search = el("input", { type: "search", class: "cs-search", placeholder: "Filter by text  ( / )", "aria-label": "filter by text", spellcheck: "false", autocomplete: "off" });
  let timer = 0;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      state.query = search.value;
      view.refilter();
    }, data.frames.length > 2000 ? 200 : 60);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && search.value !== "") {
      search.value = "";
      search.dispatchEvent(new Event("input"));
      event.preventDefault();
    }
  });
  const toggle = (name, title, press) => {
    const button = el("button", { type: "button", class: "cs-tool", "aria-pressed": "false", title }, name);
    button.addEventListener("click", press);
    return button;
  };
  const scale = toggle("To scale", "rows where they belong on the axis (s)", () => view.setMode("scale"));
  const even = toggle("Even", "rows one below the other (s)", () => view.setMode("even"));
  const fold = toggle("Fold stream", "one row for stream events that follow one another", () => {
    state.fold = !state.fold;
    view.refilter();
  });
  const less = toggle("−", "zoom out (-)", () => view.zoomBy(1 / 1.5));
  const more = toggle("+", "zoom in (+)", () => view.zoomBy(1.5));
  const reset = toggle("100%", "back to 100% (0)", () => view.zoomTo(1));
  less.setAttribute("aria-label", "zoom out");
  more.setAttribute("aria-label", "zoom in");
  for (const button of [less, more, reset]) button.removeAttribute("aria-pressed");
  const status = el("output", { class: "cs-status", role: "status" });
  const group = (label, ...items) => el("div", { class: "cs-group", role: "group", "aria-label": label }, items);
  const element = el("div", { class: "cs-tools" },
    group("filter by family", ...chips),
    el("div", { class: "cs-line" },
      search,
      group("spacing", scale, even),
      group("zoom", less, reset, more),
      data.counts.stream ? group("folding", fold) : "",
      status));
  return { element, chips, search, scale, even, fold, reset, less, more, status };
};
