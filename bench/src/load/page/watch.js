// Notes when what the model says came to the page, and when it was painted: each time that is said, and
// when it was seen here, in microseconds on the clock of the day.

const now = () => Math.round((performance.timeOrigin + performance.now()) * 1000);
const placed = {};
const painted = {};
window.watched = { placed, painted };

new MutationObserver((changes) => {
  const at = now();
  const fresh = [];
  for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
    for (const [, time] of node.textContent.matchAll(/t(\d{16})/g)) {
      if (time in placed) continue;
      placed[time] = at;
      fresh.push(time);
    }
  }
  if (fresh.length === 0) return;
  // The first is called before the frame is painted that has it, the second before the next one.
  requestAnimationFrame(() => {
    requestAnimationFrame(() => {
      for (const time of fresh) painted[time] = now();
    });
  });
}).observe(document.querySelector("#transcript"), { childList: true, subtree: true });
