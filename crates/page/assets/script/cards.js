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

// What a field of a form says, or nothing.
function formValue(input, name) {
  const { kind } = input.dataset;
  if (kind === "flag") return input.checked;
  if (kind === "several") return $$("input:checked", input).map((box) => JSON.parse(box.value));
  // What is no number has no value.
  if (!input.checkValidity()) throw new Error(`${name}: ${input.validationMessage}`);
  if (input.value === "") return undefined;
  if (kind === "number") return Number(input.value);
  if (kind !== "json") return input.value;
  try {
    return JSON.parse(input.value);
  } catch (problem) {
    throw new Error(`${name} is not JSON: ${problem.message}`);
  }
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
    const edit = $(".edit", card);
    const area = $("[name=plan]", edit);
    const edited = edit.hidden || area.value === area.defaultValue ? undefined : area.value;
    if (choice === "keep_planning") {
      const images = await pictures($("[name=images]", card).files);
      const said = $("[name=feedback]", card).value;
      const plan = edited && `This is the plan as I have changed it:\n\n${edited}`;
      return { keep_planning: { feedback: [said, plan].filter(Boolean).join("\n\n"), images } };
    }
    const approved = { choice, compact: $("[name=compact]", card).checked && choice !== "clear_context" };
    if (edited !== undefined) approved.plan = edited;
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
  reply(card) {
    const text = $(".refuse [name=message]", card).value;
    if (!text.trim()) throw new Error("Write something first, or skip the questions.");
    return { reply: { text } };
  },
  "form-accept": (card) => {
    const content = {};
    for (const field of $$("[data-field]", card)) {
      const name = $("span", field).textContent;
      const value = formValue($("[data-kind]", field), name);
      const isNothing = value === undefined || value.length === 0;
      if (!isNothing) content[field.dataset.field] = value;
      else if ("required" in field.dataset) throw new Error(`${name} is missing.`);
    }
    return { form: { action: "accept", content } };
  },
  "form-decline": () => ({ form: { action: "decline" } }),
  "form-cancel": () => ({ form: { action: "cancel" } }),
};

// Opens or closes a part of a card that is written in. The buttons say what they then do.
function showPart(card, selector, shown) {
  const part = $(selector, card);
  part.hidden = !shown;
  card.classList.toggle(selector.slice(1), shown);
  const plan = selector === ".edit" && $(".plan", card);
  if (plan) plan.hidden = shown;
}

function toggle(card, selector) {
  const part = $(selector, card);
  showPart(card, selector, part.hidden);
  if (part.hidden) $("summary", card).focus();
  else $("textarea", part).focus();
}

// The card that somebody has answered here: when it closes, what comes next has the focus.
let acted = null;

async function act(card, what) {
  const said = $(".problem[role=alert]", card);
  if (what === "edit") {
    toggle(card, ".edit");
    return;
  }
  const opens = what === "deny" || what === "reply";
  if (what === "close-refuse" || (opens && $(".refuse", card)?.hidden)) {
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
    if (card.isConnected) said.textContent = problem.message;
    else toast(problem.message);
    for (const button of buttons) button.disabled = false;
    if (document.activeElement === body) $("summary", card)?.focus();
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]");
  const card = button?.closest(".card");
  // A click without a pointer is of the keyboard, and about what has the focus.
  const isByPointer = event.detail > 0;
  if (card && isByPointer && performance.now() - Number(card.dataset.moved ?? -Infinity) < 500) return;
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
    card.classList.toggle("keeps", keeps);
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
  if (next) {
    next.open = true;
    next.dataset.since = performance.now();
  }
  setCurrent(next);
}

for (const kind of ["focusin", "pointerdown"]) {
  document.addEventListener(kind, (event) => {
    const card = event.target.closest?.(".card");
    if (card) setCurrent(card);
  });
}

// Something that had the focus is another thing now.
function focusAfter(element) {
  if (!element?.matches(".closed")) {
    element?.querySelector("a, button")?.focus();
    return;
  }
  const next = $(".card[open]") ?? $(".card");
  if (!next) {
    ($("#message") ?? $("#main")).focus();
    return;
  }
  next.open = true;
  next.dataset.since = performance.now();
  $("summary", next).focus();
}


/* What is written and chosen on a card, and not sent, outlives a reload. */

const fields = (card) => $$("input:not([type=file]), textarea, select", card);
const isToggle = (field) => field.type === "radio" || field.type === "checkbox";
const filledIn = (field) => (isToggle(field) ? field.checked : field.value);
const atFirst = (field) => {
  if (isToggle(field)) return field.defaultChecked;
  if (field.matches("select")) return ($("option[selected]", field) ?? field.options[0])?.value ?? "";
  return field.defaultValue;
};
const isChanged = (field) => filledIn(field) !== atFirst(field);

function remember(card) {
  const changed = fields(card).map((field) => (isChanged(field) ? filledIn(field) : null));
  draft.set(card.id, changed.some((value) => value !== null) ? JSON.stringify(changed) : "");
}

for (const kind of ["input", "change"]) {
  document.addEventListener(kind, (event) => {
    const card = event.target.closest?.(".card");
    if (card) remember(card);
  });
}

function recall(card) {
  let changed;
  try {
    changed = JSON.parse(draft.get(card.id) || "[]");
  } catch {
    return;
  }
  fields(card).forEach((field, number) => {
    const value = changed[number] ?? null;
    if (value === null || !isToggle(field) !== (typeof value === "string")) return;
    if (isToggle(field)) field.checked = value;
    else field.value = value;
    field.dispatchEvent(new Event("change", { bubbles: true }));
    const part = field.closest(".edit[hidden], .refuse[hidden]");
    if (part) showPart(card, `.${part.classList[0]}`, true);
  });
}

// What somebody was writing on a card that is closed now. It stays until they have seen it.
function writtenOn(card, closed) {
  const words = fields(card).filter((field) => !isToggle(field) && isChanged(field) && isWriting(field));
  draft.set(card.id, "");
  if (words.length === 0) return false;
  const note = document.createElement("p");
  note.textContent = "It was answered while you wrote. Your words were not sent:";
  const text = document.createElement("pre");
  text.textContent = words.map((field) => field.value).join("\n\n");
  const away = document.createElement("button");
  Object.assign(away, { type: "button", className: "small", textContent: "Put away" });
  away.addEventListener("click", () => {
    closed.remove();
    ($("#message") ?? $("#main")).focus();
  });
  closed.append(note, text, away);
  return true;
}
