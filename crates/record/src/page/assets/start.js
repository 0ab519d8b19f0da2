// Draws each diagram when it can be seen for the first time, and follows links and keys.

const views = new Map();

const draw = (section) => {
  if (!views.has(section)) {
    try {
      views.set(section, new View(section));
    } catch (error) {
      section.append(el("p", { class: "cs-left" }, "This diagram cannot be drawn: " + plain(String(error))));
      console.error(error);
      views.set(section, null);
    }
  }
  return views.get(section);
};

/** Opens what the address points to. */
const follow = () => {
  const link = /^#(?:([A-Za-z0-9-]+)-)?frame-(\d+)$/.exec(location.hash);
  if (!link) return;
  const sections = [...document.querySelectorAll(".cs-tape")];
  const section = sections.find((one) => one.dataset.id === (link[1] || ""));
  if (!section) return;
  for (let fold = section.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  const view = draw(section);
  const at = view ? view.data.frames.findIndex((frame) => frame.n === Number(link[2])) : -1;
  if (at >= 0) view.goTo(at, true);
};

// What is folded away is not in sight until it is opened.
const sight = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    sight.unobserve(entry.target);
    draw(entry.target);
  }
}, { rootMargin: "200px" });
for (const section of document.querySelectorAll(".cs-tape")) sight.observe(section);

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
  const view = View.last ?? [...views.values()].find(Boolean);
  view?.key(event);
});
addEventListener("hashchange", follow);
follow();
