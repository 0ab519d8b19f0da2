/* ---------------------------------------------------------------- keys */

const help = $("#help");
let pressedG = 0;

const isWriting = (element) => element.closest("input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]");

function move(by) {
  const cards = $$(".card");
  if (cards.length === 0) return;
  const at = cards.indexOf($(".card.current"));
  const card = cards[Math.min(cards.length - 1, Math.max(0, at + by))];
  if (!card.open) {
    card.open = true;
    card.dataset.since = performance.now();
  }
  $("summary", card).focus();
  card.scrollIntoView({ block: "nearest" });
}

// What appeared under somebody's fingers is not what they meant.
const isSettled = (card) => card.open && performance.now() - Number(card.dataset.since ?? 0) >= 500;

const decisions = { a: ["allow", "plan", "answer", "form-accept"], A: ["allow-rule"], e: ["edit"], d: ["deny", "reply", "form-decline"], x: ["deny-stop"] };

// When something was last written. What is typed on after a field is gone means nothing, however long it
// is typed on.
let wroteAt = -Infinity;
const isTypedOn = () => performance.now() - wroteAt < 1_500;
let fieldIsGone = false;

// The field that somebody writes in has gone, with the card that it was on.
function interrupted() {
  fieldIsGone = true;
  wroteAt = performance.now();
}

function decide(key) {
  const card = $(".card.current");
  if (!card || isTypedOn() || !isSettled(card)) return;
  const button = decisions[key].map((what) => $(`[data-do="${what}"]`, card)).find(Boolean);
  if (button && !button.matches(":disabled")) act(card, button.dataset.do);
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  // Whoever writes sends it with Enter and a key that no text needs.
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const card = event.target.closest(".card");
    const isAside = event.target.closest(".refuse");
    const button = card && $(isAside ? "[data-do=deny], [data-do=reply]" : ".actions .primary", card);
    if (!button || button.matches(":disabled") || event.repeat || !isSettled(card)) return;
    act(card, button.dataset.do);
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    const part = event.target.closest(".edit, .refuse");
    const card = part?.closest(".card");
    if (card) act(card, part.matches(".edit") ? "edit" : "close-refuse");
    for (const menu of $$("details.menu[open]")) menu.open = false;
    body.classList.remove("shows-left");
    return;
  }
  if (isWriting(event.target)) {
    if (event.key.length === 1) wroteAt = performance.now();
    fieldIsGone = false;
    return;
  }
  const isOfText = event.key.length === 1 || event.key === "Enter" || event.key === "Backspace";
  if (fieldIsGone && isTypedOn() && isOfText) {
    wroteAt = performance.now();
    event.preventDefault();
    return;
  }
  if (isOfText) fieldIsGone = false;
  if ($("dialog[open]")) return;
  const key = event.key;
  // With the lock on, a letter is not the one that was meant.
  if (/^[a-z]$/i.test(key) && event.shiftKey !== (key === key.toUpperCase())) return;
  const afterG = Date.now() - pressedG < 1_500;
  pressedG = 0;
  if (key === "?") help.showModal();
  else if (key === "/") $("#filter").focus();
  else if (key === "g") pressedG = Date.now();
  else if (key === "i" && afterG) location.href = "/";
  else if (key === "n" && afterG) location.href = "/new";
  else if (key === "j") move(1);
  else if (key === "k") move(-1);
  else if (key === "c" && message) message.focus();
  else if (key === "p" && panel) $("main [data-right]").click();
  else if (decisions[key] && !event.repeat) decide(key);
  else return;
  event.preventDefault();
});

for (const opener of $$("[data-help]")) opener.addEventListener("click", () => help.showModal());

/* ---------------------------------------------------------------- the left side */

function filterRows() {
  const words = $("#filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of $$("#sessions li")) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
  }
}

$("#filter").addEventListener("input", filterRows);
$("#filter").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.value) {
    location.href = `/search?q=${encodeURIComponent(event.target.value)}`;
  }
  if (event.key === "Escape") {
    event.target.value = "";
    filterRows();
    event.target.blur();
  }
});

for (const button of $$("[data-left]")) {
  button.addEventListener("click", () => {
    const shown = body.classList.toggle("shows-left");
    if (shown) $(".left a").focus();
    else $("main [data-left]")?.focus();
  });
}

