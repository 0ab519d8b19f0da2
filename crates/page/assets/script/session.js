/* ---------------------------------------------------------------- a session */

const at = (path) => `/sessions/${session}${path}`;
const fragment = (path) => `/page${at(path)}`;

/* The head. */

$("#name")?.addEventListener("keydown", (event) => {
  if (event.key === "Enter") event.target.blur();
  if (event.key === "Escape") {
    event.target.value = event.target.defaultValue;
    event.target.blur();
  }
});

document.addEventListener("change", (event) => {
  const { id, value } = event.target;
  const wish = { title: { title: value }, mode: { mode: value }, model: { model: value || null } }[id];
  if (!wish) return;
  tried(async () => {
    try {
      await command("PUT", at(`/${id}`), wish);
    } catch (problem) {
      // It says what is in force, and not what somebody wished for.
      event.target.value = atFirst(event.target);
      throw problem;
    }
  });
});

const doings = {
  interrupt: (button) => command("POST", at("/interrupt"), { turn: button.dataset.turn }),
  async archive() {
    await command("PUT", at("/archived"), { archived: true });
    toast("In the archive. Search finds it there.");
  },
  async unarchive() {
    await command("PUT", at("/archived"), { archived: false });
    toast("Out of the archive");
  },
  async fork() {
    const made = await command("POST", at("/fork"), {});
    location.href = `/sessions/${made.session}`;
  },
  async delete() {
    if (!confirm("Delete this session with everything in it? This cannot be undone.")) return;
    // That it is gone is no news here.
    disconnect();
    try {
      await command("DELETE", at(""));
      location.href = "/";
    } catch (problem) {
      connect();
      throw problem;
    }
  },
  stop: () => command("POST", at("/stop"), {}),
  resume: () => command("POST", at("/resume"), {}),
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-session-do]");
  for (const menu of $$("details.menu[open]")) {
    if (button || !menu.contains(event.target)) menu.open = false;
  }
  if (!button || button.ariaDisabled) return;
  // Twice is not what somebody means who clicks twice.
  button.ariaDisabled = true;
  tried(() => doings[button.dataset.sessionDo](button)).then(() => (button.ariaDisabled = null));
});

/* Older parts of the transcript come when somebody looks for them. */

const older = $("#older");

async function loadOlder() {
  if (older.hidden || older.disabled) return false;
  older.disabled = true;
  try {
    const answer = await fetch(fragment(`/transcript?before=${older.dataset.before}`));
    if (!answer.ok) throw new Error(answer.statusText);
    const { html, before } = await answer.json();
    const part = parsed(html);
    // What an agent did here belongs to the call that began before.
    for (const thread of $$(".thread", part)) {
      const rest = document.getElementById(thread.id);
      if (!rest) continue;
      thread.append(...rest.childNodes);
      rest.closest(".call").remove();
    }
    const added = [...part.children];
    const height = scroll.scrollHeight;
    const top = scroll.scrollTop;
    older.after(part);
    for (const element of added) appeared(element);
    scroll.scrollTop = top + scroll.scrollHeight - height;
    older.dataset.before = before;
    older.hidden = before === 0;
    return true;
  } catch {
    toast("The older part cannot be loaded. Try again.");
    return false;
  } finally {
    older.disabled = false;
  }
}

if (older) {
  older.addEventListener("click", loadOlder);
  const nearTop = new IntersectionObserver(
    // Whoever reads the end has not looked for it.
    ([entry]) => entry.isIntersecting && !followsEnd && scroll.scrollTop < 400 && loadOlder(),
    { root: scroll, rootMargin: "400px" },
  );
  nearTop.observe(older);
}

/* Long outputs come whole when somebody wants them. */

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-more]");
  if (!button) return;
  button.disabled = true;
  const isOfPictures = "pictures" in button.dataset;
  const query = new URLSearchParams({ seq: button.dataset.more, call: button.dataset.call, pictures: isOfPictures });
  const answer = await fetch(fragment(`/result?${query}`)).catch(() => null);
  if (!answer?.ok) {
    button.disabled = false;
    toast("The rest cannot be loaded. Try again.");
    return;
  }
  const whole = parsed(await answer.text());
  if (!isOfPictures) button.previousElementSibling.remove();
  button.replaceWith(whole);
});

/* The right side. */

const tabs = $$("[role=tab]");
const panel = $("#tab");
const tabShown = () => ($(".side")?.hidden === false ? (kept.get("tab") ?? "plan") : null);

async function loadTab(name) {
  try {
    const answer = await fetch(fragment(`/tab/${name}`));
    return answer.ok ? await answer.text() : null;
  } catch {
    return null;
  }
}

async function openTab(name) {
  for (const tab of tabs) {
    const chosen = tab.dataset.tab === name;
    tab.ariaSelected = chosen;
    tab.tabIndex = chosen ? 0 : -1;
    if (chosen) panel.setAttribute("aria-labelledby", tab.id);
  }
  kept.set("tab", name);
  panel.setAttribute("aria-busy", "true");
  const html = await loadTab(name);
  if (name !== tabShown()) return;
  showTab(html ?? "<p class=\"problem\">This cannot be loaded now. Choose the tab again.</p>");
  panel.scrollTop = 0;
  panel.removeAttribute("aria-busy");
}

let lastTab = "";

// What is in the tab now. What can be opened or filled in is the same element as before, and stays as
// somebody has left it; what they read stays where it is.
function showTab(html) {
  lastTab = html;
  const focus = document.activeElement;
  const keeps = $$("[data-keep]", panel);
  const read = keeps.find((element) => element.getBoundingClientRect().top >= panel.getBoundingClientRect().top);
  const [top, place] = [panel.scrollTop, read?.getBoundingClientRect().top];
  const fresh = parsed(html);
  for (const old of keeps) $(`[data-keep="${old.dataset.keep}"]`, fresh)?.replaceWith(old);
  panel.replaceChildren(fresh);
  filterWire();
  if (panel.contains(focus)) focus.focus({ preventScroll: true });
  panel.scrollTop = top;
  if (top > 0 && read?.isConnected) panel.scrollTop += read.getBoundingClientRect().top - place;
  appeared(panel);
}

// Somebody is about to do something there, or has marked a part of it.
function isTabInUse() {
  const marked = document.getSelection();
  if (!marked.isCollapsed && panel.contains(marked.anchorNode)) return true;
  const focus = document.activeElement;
  return focus !== panel && panel.contains(focus) && !focus.closest("[data-keep]");
}

for (const tab of tabs) {
  tab.addEventListener("click", () => openTab(tab.dataset.tab));
  tab.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length];
    next.focus();
    openTab(next.dataset.tab);
  });
}

// What happens changes what is in the tab.
let refreshing = 0;

function refresh() {
  if (refreshing || !tabShown()) return;
  refreshing = setTimeout(async () => {
    refreshing = 0;
    const name = tabShown();
    if (!name) return;
    const html = isTabInUse() ? null : await loadTab(name);
    if (isTabInUse()) refresh();
    else if (html && html !== lastTab && name === tabShown()) showTab(html);
  }, 1_000);
}

document.addEventListener("happened", refresh);

function side(shown) {
  body.classList.toggle("has-right", shown);
  $(".side").hidden = !shown;
  $("main [data-right]").ariaExpanded = shown;
  kept.set("right", shown ? "open" : "");
  if (shown) openTab(kept.get("tab") ?? "plan");
}

if (panel) {
  for (const button of $$("[data-right]")) {
    button.addEventListener("click", () => {
      side($(".side").hidden);
      if ($(".side").hidden) $("main [data-right]").focus();
      else $("[role=tab][aria-selected=true]").focus();
    });
  }
  if (kept.get("right") === "open" && matchMedia("(min-width: 1101px)").matches) side(true);
}

document.addEventListener("click", (event) => {
  const copy = event.target.closest("[data-copy]");
  if (!copy) return;
  const text = $("pre, code", copy.parentElement).textContent;
  const copied = navigator.clipboard?.writeText(text) ?? Promise.reject();
  copied.then(
    () => toast("Copied"),
    () => toast("This browser does not let the page copy. Mark the text and copy it."),
  );
});

function filterWire() {
  const wanted = $("#wire-filter")?.value.toLowerCase() ?? "";
  for (const line of $$(".wire li")) line.hidden = !line.textContent.toLowerCase().includes(wanted);
}

document.addEventListener("input", (event) => event.target.id === "wire-filter" && filterWire());

// What is pointed at may be in something that is closed, or in an older part.
document.addEventListener("click", async (event) => {
  const link = event.target.closest("#tab a[href^='#']");
  if (!link) return;
  event.preventDefault();
  const id = link.getAttribute("href").slice(1);
  while (!document.getElementById(id) && !older.hidden) {
    if (!(await loadOlder())) return;
  }
  const named = document.getElementById(id);
  if (!named) {
    toast("It is not in the transcript.");
    return;
  }
  // Where the panel covers it, it is not seen.
  if (!matchMedia("(min-width: 1101px)").matches) side(false);
  for (let at = named; at; at = at.parentElement) if (at.matches("details")) at.open = true;
  const own = $("details", named);
  if (own) own.open = true;
  named.scrollIntoView({ block: "center" });
});

