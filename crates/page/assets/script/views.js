/* ---------------------------------------------------------------- other views */

$("#new-session")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const button = $("button.primary", form);
  if (button.disabled) return;
  button.disabled = true;
  const said = $(".problem", form);
  const value = (name) => form.elements[name]?.value.trim() ?? "";
  const number = (name) => (value(name) === "" ? undefined : Number(value(name)));
  const list = (name, between = /[\n,]+/) => value(name).split(between).map((text) => text.trim()).filter(Boolean);
  // A comma within the brackets of a rule is part of it.
  const rules = (name) => list(name, /[\n,]+(?![^()\n]*\))/);
  const limits = { budget_usd: number("budget"), turns_a_message: number("turns"), turn_seconds: number("seconds") };
  const options = {
    ...(value("system") && { append_system_prompt: value("system") }),
    ...(rules("allowed").length && { allowed_tools: rules("allowed") }),
    ...(rules("disallowed").length && { disallowed_tools: rules("disallowed") }),
    ...(list("folders", /\n+/).length && { add_dirs: list("folders", /\n+/) }),
    limits: Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined)),
  };
  const wish = {
    folder: value("folder"),
    ...(value("prompt") && { prompt: form.elements.prompt.value }),
    ...(value("title") && { title: value("title") }),
    ...(value("model") && { model: value("model") }),
    ...(list("labels").length && { labels: list("labels") }),
    mode: value("mode"),
    options,
  };
  try {
    const content = { ...wish, images: await pictures(form.elements.images.files) };
    const made = await command("POST", "/sessions", content, (text) => {
      said.textContent = text;
    });
    kept.set("folder", wish.folder);
    kept.set("draft-new", "");
    form.elements.images.value = "";
    location.href = `/sessions/${made.session}`;
  } catch (problem) {
    said.textContent = problem.message;
    button.disabled = false;
  }
});

if ($("#new-session")) {
  const { folder, prompt } = $("#new-session").elements;
  folder.value ||= kept.get("folder") ?? "";
  prompt.value ||= kept.get("draft-new") ?? "";
  prompt.addEventListener("input", () => kept.set("draft-new", prompt.value));
}

$("#theme")?.addEventListener("change", (event) => {
  const theme = event.target.value;
  document.cookie = `countersign-theme=${theme}; path=/; max-age=31536000; samesite=strict`;
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
});

for (const name of ["notify", "sound"]) {
  const box = $(`#${name}`);
  if (!box) continue;
  box.checked = kept.get(name) === "on";
  box.addEventListener("change", async () => {
    if (name === "notify" && box.checked) {
      const allowed = "Notification" in window ? await Notification.requestPermission() : "denied";
      if (allowed !== "granted") {
        box.checked = false;
        toast("This browser does not allow notifications of this page. Its settings for the page can change that.");
      } else {
        await navigator.serviceWorker?.register("/worker.js");
      }
    }
    if (name === "sound" && box.checked) beep();
    kept.set(name, box.checked ? "on" : "off");
  });
}

$("#new-token")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.target;
  tried(async () => {
    const content = { name: form.elements.name.value, scope: form.elements.scope.value };
    const made = await command("POST", "/tokens", content);
    const shown = $("#made-token");
    shown.hidden = false;
    $("code", shown).textContent = made.secret;
    form.reset();
    const now = new DOMParser().parseFromString(await (await fetch("/settings")).text(), "text/html");
    const list = $("#tokens", now);
    if (!list) return;
    $("#tokens").replaceWith(list);
    appeared($("#tokens"));
  });
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-remove]");
  if (!button || !confirm(button.dataset.confirm)) return;
  tried(async () => {
    await command("DELETE", button.dataset.remove);
    button.closest("tr").remove();
  });
});

$("#login-link")?.addEventListener("click", () =>
  tried(async () => {
    const made = await command("POST", "/login-links", {});
    const shown = $("#made-link");
    shown.hidden = false;
    $("code", shown).textContent = made.url;
  }),
);

$("#logout")?.addEventListener("click", () =>
  tried(async () => {
    await command("POST", "/logout");
    // What somebody has begun to write is not for whoever comes after them.
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith("countersign-draft-")) localStorage.removeItem(name);
    }
    sessionStorage.clear();
    location.href = "/login";
  }),
);

