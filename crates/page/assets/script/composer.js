/* What is to be said. */

const composer = $("#composer");
const message = $("#message");
// The keyboard of a phone has no other key for a new line.
const isTouched = matchMedia("(pointer: coarse)").matches;
let images = [];

function attached() {
  $("#attached").replaceChildren(
    ...images.map((image, number) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = "Remove this picture";
      const shown = document.createElement("img");
      shown.src = `data:${image.media_type};base64,${image.data}`;
      shown.alt = `Picture ${number + 1}, to be sent; choose it to remove it`;
      button.append(shown);
      button.addEventListener("click", () => {
        images.splice(number, 1);
        attached();
        message.focus();
      });
      return button;
    }),
  );
}

async function attach(files) {
  images.push(...(await tried(() => pictures(files)) ?? []));
  attached();
}

// The key under which something is said: the same as long as it is the same, so that it is said once.
const saying = { content: "", key: "" };

async function say(now) {
  const text = message.value;
  if (message.readOnly || (!text.trim() && images.length === 0)) return;
  const wish = { text, images: [...images], ...(now && { now }) };
  const content = JSON.stringify(wish);
  if (saying.content !== content) Object.assign(saying, { content, key: newKey() });
  const said = $("#composer-said");
  // It keeps the focus: what is typed meanwhile goes nowhere else.
  message.readOnly = true;
  try {
    const notYet = (words) => (said.textContent = words);
    await command("POST", at("/messages"), wish, notYet, saying.key);
    saying.content = "";
    message.value = "";
    kept.set(`draft-${session}`, "");
    // One may have come meanwhile.
    images = images.filter((image) => !wish.images.includes(image));
    attached();
    said.textContent = "";
    toEnd();
  } catch (problem) {
    said.textContent = problem.message;
  }
  message.readOnly = false;
}

if (composer) {
  composer.addEventListener("submit", (event) => {
    event.preventDefault();
    say(event.submitter?.name === "now");
  });
  if (isTouched) message.enterKeyHint = "enter";
  message.value = kept.get(`draft-${session}`) ?? "";
  message.addEventListener("input", () => {
    kept.set(`draft-${session}`, message.value);
    suggest();
  });
  message.addEventListener("keydown", (event) => {
    if (suggested(event)) event.preventDefault();
    else if (event.key === "Enter" && !event.shiftKey && !event.isComposing && !isTouched) {
      event.preventDefault();
      composer.requestSubmit();
    }
  });
  message.addEventListener("paste", (event) => attach(event.clipboardData.files));
  $("#attach").addEventListener("change", async (event) => {
    await attach(event.target.files);
    event.target.value = "";
  });
}

// The field for pictures of the form that somebody is in.
const pictureField = (element) => $("[name=images]", element.closest?.("form") ?? $("#new-session") ?? document.createElement("i"));

function intoField(field, files) {
  const all = new DataTransfer();
  for (const file of [...field.files, ...fitting(files)]) all.items.add(file);
  field.files = all.files;
}

document.addEventListener("paste", (event) => {
  const { files } = event.clipboardData;
  const field = files.length > 0 && pictureField(event.target);
  if (field) intoField(field, files);
});

// What is dropped beside a form is meant for the page; else the browser would leave the page for it.
for (const kind of ["dragover", "drop"]) {
  document.addEventListener(kind, (event) => {
    if (!event.dataTransfer?.types.includes("Files") || event.target.matches?.("[type=file]")) return;
    event.preventDefault();
    if (kind === "dragover") return;
    const field = pictureField(event.target);
    if (field) intoField(field, event.dataTransfer.files);
    else if (composer) attach(event.dataTransfer.files);
  });
}

/* Slash commands, while one is being written. */

let commands = null;

async function suggest() {
  const list = $("#commands");
  const begun = /^\/(\S*)$/.exec(message.value)?.[1];
  if (begun !== undefined && commands === null) {
    commands = [];
    const answer = await fetch(`/api/v1${at("/process")}`).catch(() => null);
    commands = answer?.ok ? (await answer.json()).commands : [];
    // A session without a process is asked again the next time.
    if (commands.length === 0) commands = null;
    return commands && suggest();
  }
  const fits = begun === undefined ? [] : (commands ?? []).filter(({ name }) => name.startsWith(begun)).slice(0, 8);
  list.replaceChildren(
    ...fits.map(({ name, description }, number) => {
      const item = document.createElement("li");
      item.role = "option";
      item.id = `command-${number}`;
      item.dataset.name = name;
      item.ariaSelected = number === 0;
      const code = document.createElement("code");
      code.textContent = `/${name}`;
      item.append(code, ` ${description}`);
      item.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        complete(item);
      });
      return item;
    }),
  );
  list.hidden = fits.length === 0;
  markSuggested();
}

function markSuggested() {
  const chosen = $("#commands [aria-selected=true]");
  if (chosen) message.setAttribute("aria-activedescendant", chosen.id);
  else message.removeAttribute("aria-activedescendant");
}

function complete(item) {
  message.value = `/${item.dataset.name} `;
  message.dispatchEvent(new Event("input"));
}

// Whether a key was about the list of commands.
function suggested(event) {
  const list = $("#commands");
  if (list.hidden) return false;
  const items = $$("li", list);
  const chosen = items.findIndex((item) => item.ariaSelected === "true");
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by) {
    items[chosen].ariaSelected = false;
    items[(chosen + by + items.length) % items.length].ariaSelected = true;
    markSuggested();
  } else if (event.key === "Tab" || (event.key === "Enter" && `/${items[chosen].dataset.name}` !== message.value)) {
    complete(items[chosen]);
  } else if (event.key === "Escape") {
    list.hidden = true;
  } else return false;
  return true;
}

/* The queue: what waits can be changed, removed, and put in another order. */

function editQueued(item) {
  const id = item.dataset.message;
  const area = document.createElement("textarea");
  area.value = item.dataset.text;
  area.ariaLabel = "The message";
  const buttons = ["Save", "Cancel"].map((text) => {
    const button = document.createElement("button");
    Object.assign(button, { textContent: text, type: "button", className: "small" });
    return button;
  });
  const actions = document.createElement("span");
  actions.append(...buttons);
  const before = [...item.childNodes];
  item.classList.add("editing");
  item.replaceChildren(area, actions);
  area.focus();
  const done = () => {
    item.classList.remove("editing");
    item.replaceChildren(...before);
    unused();
    message?.focus();
  };
  const images = JSON.parse(item.dataset.images || "[]");
  const save = () =>
    tried(async () => {
      await command("PUT", at(`/messages/${id}`), { content: { text: area.value, images } });
      done();
    });
  buttons[0].addEventListener("click", save);
  buttons[1].addEventListener("click", done);
  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape") done();
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && !isTouched) {
      event.preventDefault();
      save();
    }
  });
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-queue]");
  if (!button) return;
  const item = button.closest("li");
  const id = item.dataset.message;
  tried(async () => {
    if (button.dataset.queue === "edit") editQueued(item);
    if (button.dataset.queue === "remove") await command("DELETE", at(`/messages/${id}`));
    if (button.dataset.queue === "up") {
      const order = $$("#queue li").map((other) => other.dataset.message);
      const place = order.indexOf(id);
      if (place > 0) [order[place - 1], order[place]] = [order[place], order[place - 1]];
      await command("PUT", at("/messages"), { order });
    }
  });
});

