/* ---------------------------------------------------------------- patches */

const scroll = $(".scroll");
const isAtEnd = () => !scroll || scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
let followsEnd = true;

function toEnd() {
  scroll.scrollTop = scroll.scrollHeight;
}

if (scroll) {
  scroll.addEventListener("scroll", () => {
    followsEnd = isAtEnd();
    if (followsEnd) $("#newer").hidden = true;
  });
  // A card that opens takes room; whoever reads the end goes on reading the end.
  new ResizeObserver(() => followsEnd && toEnd()).observe(scroll);
  $("#newer").addEventListener("click", toEnd);
}

function parsed(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

// What somebody is about to choose or to write is not taken from under their hands: it waits.
const waits = new Map();

function isInUse(place) {
  if (["name", "modes", "models"].includes(place.id)) return place.contains(document.activeElement);
  if (place.id === "menu") return $("details[open]", place);
  return place.id === "queue" && $(".editing", place);
}

// A choice that has the focus says all the same what is in force.
function agree(place, fresh) {
  const [select, now] = [$("select", place), $("select", fresh)];
  if (select && now && $$("option", select).some((option) => option.value === now.value)) {
    select.value = now.value;
  }
}

function unused() {
  for (const [id, patch] of waits) {
    if (isInUse(document.getElementById(id))) continue;
    waits.delete(id);
    operations.fill(patch);
  }
}

// Not at once: what is being clicked has to be there until it is.
for (const kind of ["focusout", "toggle"]) {
  $(".head")?.addEventListener(kind, () => setTimeout(unused, 300), true);
}

// Loads the page anew, but not over and over.
function loadAnew() {
  if (Date.now() - Number(draft.get("loaded-anew") ?? 0) < 30_000) return;
  draft.set("loaded-anew", String(Date.now()));
  location.reload();
}

function placed({ to, id, html }, how) {
  if (document.getElementById(id)) return;
  const place = document.getElementById(to);
  if (!place) {
    // This page shows less than the server thinks it does, as where calls are folded otherwise.
    loadAnew();
    return;
  }
  // What is being said stays last.
  const saying = how === "append" && place.id === "transcript" && id !== "live" && $("#live");
  if (saying) saying.before(parsed(html));
  else place[how](parsed(html));
  const added = document.getElementById(id);
  if (added) appeared(added);
}

const operations = {
  add: (patch) => placed(patch, "append"),
  first: (patch) => placed(patch, "prepend"),
  put({ id, html }) {
    const old = document.getElementById(id);
    if (!old) return;
    const focus = document.activeElement;
    const hadFocus = old.contains(focus) || (acted === id && focus === body);
    const wasWriting = hadFocus && isWriting(focus);
    old.replaceWith(parsed(html));
    const added = document.getElementById(id);
    const isKept = acted !== id && added?.matches(".closed") && writtenOn(old, added);
    if (added) appeared(added, isKept);
    if (wasWriting && acted !== id && added) {
      // Whoever is in the middle of a sentence goes on typing: that must do nothing.
      interrupted();
      added.tabIndex = -1;
      added.focus();
    } else if (hadFocus) focusAfter(added);
  },
  fill(patch) {
    const place = document.getElementById(patch.id);
    if (!place) return;
    if (isInUse(place)) {
      waits.set(patch.id, patch);
      agree(place, parsed(patch.html));
      return;
    }
    const before = place.textContent;
    place.replaceChildren(parsed(patch.html));
    appeared(place);
    // For whoever does not see that it has come to an end. The sign before the word is not for reading.
    if (patch.id === "state" && place.textContent !== before) {
      $("#said").textContent = `The session: ${$(".state", place).lastChild.textContent.trim()}`;
    }
  },
  remove({ id }) {
    document.getElementById(id)?.remove();
  },
};

function apply(patches) {
  const follow = followsEnd && isAtEnd();
  const height = scroll?.scrollHeight ?? 0;
  steadily(() => {
    for (const patch of patches) operations[patch.op]?.(patch);
    chooseCurrent();
  });
  if (!scroll) return;
  if (follow) {
    toEnd();
  } else if (scroll.scrollHeight > height) {
    $("#newer").hidden = false;
  }
}

// Does something that may move cards, and notes which it moved: a button that has come under somebody's
// finger is not the one that they meant.
function steadily(work) {
  const places = new Map($$(".card").map((card) => [card, card.getBoundingClientRect().top]));
  work();
  for (const [card, top] of places) {
    if (Math.abs(card.getBoundingClientRect().top - top) > 4) card.dataset.moved = performance.now();
  }
}

// Something is on the page that was not there before.
function appeared(element, isKept = false) {
  tell(element.matches("time[datetime]") ? [element] : $$("time[datetime]", element));
  // What became of a card is in the transcript as well: it need not stay.
  if (element.matches(".closed") && !isKept) setTimeout(() => steadily(() => element.remove()), 10_000);
  if (element.id === "sessions" || element.matches("#sessions li")) filterRows();
  if (element.id === "name") setTitle($("#title").value);
  for (const card of element.matches(".card") ? [element] : $$(".card", element)) {
    card.dataset.since = performance.now();
    recall(card);
  }
}

