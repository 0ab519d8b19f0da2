/* ---------------------------------------------------------------- cards */

const chosenSuggestions = (card) =>
  $$("[name=suggestion]:checked", card).map((box) => {
    const destination = $(`[name=destination-${box.value}]`, card)?.value;
    return { number: Number(box.value), ...(destination && { destination }) };
  });

// The input that was changed, or nothing.
async function editedInput(card) {
  const edit = $(".edit", card);
  if (!edit || edit.hidden) return undefined;
  const area = $("[name=input]", edit);
  if (area.value === area.defaultValue) return undefined;
  if (!area.dataset.field) {
    try {
      return JSON.parse(area.value);
    } catch (problem) {
      throw new Error(`The input is not JSON: ${problem.message}`);
    }
  }
  const answer = await fetch(`/api/v1/approvals/${card.dataset.approval}`);
  if (!answer.ok) throw new Error("The request cannot be read now. Try again.");
  const { input } = (await answer.json()).request;
  // A field of a page has one kind of line ends; the text keeps its own.
  const hasReturns = /\r\n/.test(input[area.dataset.field]);
  const value = hasReturns ? area.value.replaceAll("\n", "\r\n") : area.value;
  return { ...input, [area.dataset.field]: value };
}

const answers = {
  async allow(card) {
    const input = await editedInput(card);
    return { allow: input === undefined ? {} : { input } };
  },
  async "allow-rule"(card) {
    const suggestions = chosenSuggestions(card);
    if (suggestions.length === 0) throw new Error("Choose a rule first.");
    const input = await editedInput(card);
    return { allow: { suggestions, ...(input !== undefined && { input }) } };
  },
  deny: (card) => ({ deny: { message: $("[name=message]", card)?.value ?? "" } }),
  "deny-stop": (card) => ({ deny: { message: $("[name=message]", card)?.value ?? "", stop: true } }),
  async plan(card) {
    const choice = $("[name=choice]:checked", card).value;
    if (choice === "keep_planning") {
      const images = await pictures($("[name=images]", card).files);
      return { keep_planning: { feedback: $("[name=feedback]", card).value, images } };
    }
    const edit = $(".edit", card);
    const approved = { choice, compact: $("[name=compact]", card).checked && choice !== "clear_context" };
    const area = $("[name=plan]", edit);
    if (!edit.hidden && area.value !== area.defaultValue) approved.plan = area.value;
    if ($("[name=prompts]", card)?.checked && choice !== "clear_context") approved.grant_prompts = true;
    return { plan: approved };
  },
  answer: (card) => ({
    answers: $$("[data-question]", card).map((question) => {
      const chosen = $$("input:checked", question);
      const text = chosen.some((input) => "other" in input.dataset) ? $("[data-text]", question).value : "";
      const note = $("[data-note]", question).value;
      const choose = chosen.filter((input) => !("other" in input.dataset)).map((input) => input.value);
      if (choose.length === 0 && !text) {
        throw new Error(`“${question.dataset.question}” has no answer yet. Choose one, or skip the questions.`);
      }
      return {
        choose,
        ...(text && { text }),
        ...(note && { note }),
      };
    }),
  }),
  skip: () => ({ skip: {} }),
  "form-accept": (card) => {
    const content = {};
    for (const field of $$("[data-field]", card)) {
      const input = $("[data-kind]", field);
      if (input.dataset.kind === "flag") content[field.dataset.field] = input.checked;
      else if (input.value !== "") {
        content[field.dataset.field] = input.dataset.kind === "number" ? Number(input.value) : input.value;
      } else if ("required" in field.dataset) {
        throw new Error(`${$("span", field).textContent} is missing.`);
      }
    }
    return { form: { action: "accept", content } };
  },
  "form-decline": () => ({ form: { action: "decline" } }),
  "form-cancel": () => ({ form: { action: "cancel" } }),
};

// Opens or closes a part of a card that is written in. The buttons say what they then do.
function toggle(card, selector) {
  const part = $(selector, card);
  part.hidden = !part.hidden;
  card.classList.toggle(selector.slice(1), !part.hidden);
  if (part.hidden) $("summary", card).focus();
  else $("textarea", part).focus();
}

// The card that somebody has answered here: when it closes, what comes next has the focus.
let acted = null;

async function act(card, what) {
  const said = $(".problem[role=alert]", card);
  if (what === "edit") {
    toggle(card, ".edit");
    const plan = $(".plan", card);
    if (plan) plan.hidden = !$(".edit", card).hidden;
    return;
  }
  if (what === "close-refuse" || (what === "deny" && $(".refuse", card)?.hidden)) {
    toggle(card, ".refuse");
    return;
  }
  const buttons = $$("button", card).filter((button) => !button.matches(":disabled"));
  for (const button of buttons) button.disabled = true;
  said.textContent = "";
  acted = card.id;
  try {
    const answer = await answers[what](card);
    const path = `/approvals/${card.dataset.approval}/answer`;
    const taken = await command("POST", path, { answer }, (text) => {
      said.textContent = text;
    });
    if (taken?.child) location.href = `/sessions/${taken.child}`;
  } catch (problem) {
    said.textContent = problem.message;
    for (const button of buttons) button.disabled = false;
    if (document.activeElement === body) $("summary", card)?.focus();
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]");
  const card = button?.closest(".card");
  if (card) act(card, button.dataset.do);
});

document.addEventListener("submit", (event) => {
  if (event.target.closest(".card")) event.preventDefault();
});

document.addEventListener("change", (event) => {
  const card = event.target.closest(".card");
  if (!card) return;
  if (event.target.name === "choice") {
    const keeps = event.target.value === "keep_planning";
    $(".feedback", card).hidden = !keeps;
    const clears = event.target.value === "clear_context";
    $(".compact", card).hidden = keeps || clears;
    const prompts = $(".prompts", card);
    if (prompts) prompts.hidden = keeps || clears;
  }
  const question = event.target.closest("[data-question]");
  if (question) {
    const preview = $$("input:checked", question).at(-1)?.dataset.preview;
    for (const shown of $$(".preview", question)) shown.hidden = shown.id !== preview;
    const none = $("[data-no-preview]", question);
    if (none) none.hidden = Boolean(preview);
  }
});

document.addEventListener("input", (event) => {
  // Who writes an answer of their own has chosen it.
  if ("text" in event.target.dataset) {
    const other = $("[data-other]", event.target.closest(".choice"));
    if (other && event.target.value) other.checked = true;
  }
});

// The card that keys are about. It is the one that shows which keys there are.
function setCurrent(card) {
  if (card?.classList.contains("current")) return;
  $(".card.current")?.classList.remove("current");
  card?.classList.add("current");
}

function chooseCurrent() {
  if ($(".card.current")) return;
  const next = $(".card[open]") ?? $(".card");
  // Nobody has chosen it: it counts as new.
  if (next) next.dataset.since = performance.now();
  setCurrent(next);
}

for (const kind of ["focusin", "pointerdown"]) {
  document.addEventListener(kind, (event) => {
    const card = event.target.closest?.(".card");
    if (card) setCurrent(card);
  });
}

// Something that had the focus is another thing now.
function focusAfter(element, wasWriting) {
  if (!element?.matches(".closed")) {
    element?.querySelector("a, button")?.focus();
    return;
  }
  const next = $(".card[open]") ?? $(".card");
  // Whoever is in the middle of a sentence goes on typing: that must decide nothing.
  if (!next || wasWriting) {
    ($("#message") ?? $("#main")).focus();
    return;
  }
  next.open = true;
  next.dataset.since = performance.now();
  $("summary", next).focus();
}

