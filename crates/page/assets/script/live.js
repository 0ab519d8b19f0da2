/* ---------------------------------------------------------------- live */

const banner = $("#banner");
let source = null;
let attempts = 0;
let retry = 0;
let lastSeq = Number(body.dataset.seq ?? 0);
// When the server was last heard. A network that is gone ends no connection.
let heardAt = 0;
const SILENCE = 20_000;

function connect() {
  clearTimeout(retry);
  source?.close();
  const query = new URLSearchParams({ version: body.dataset.version });
  if (session) {
    query.set("session", session);
    query.set("after", lastSeq);
  }
  const cards = $$(".card").map((card) => card.dataset.approval);
  if ($("#cards")) query.set("cards", cards.join(","));
  source = new EventSource(`/page/stream?${query}`);
  heardAt = Date.now();
  source.addEventListener("beat", () => {
    heardAt = Date.now();
    // Some of what a tab shows changes without an event.
    document.dispatchEvent(new Event("happened"));
  });
  source.addEventListener("open", () => {
    attempts = 0;
    heardAt = Date.now();
    banner.textContent = "";
    body.dataset.live = "yes";
  });
  source.addEventListener("patches", (event) => {
    heardAt = Date.now();
    apply(JSON.parse(event.data));
    if (event.lastEventId && Number(event.lastEventId) !== lastSeq) {
      lastSeq = Number(event.lastEventId);
      document.dispatchEvent(new Event("happened"));
    }
  });
  source.addEventListener("inbox", (event) => {
    const news = JSON.parse(event.data);
    counted(news);
    channel?.postMessage(news);
  });
  // What happened since is more than is worth sending in pieces, or the session is gone.
  source.addEventListener("reset", () => location.reload());
  source.addEventListener("error", lost);
}

function disconnect() {
  clearTimeout(retry);
  source?.close();
  source = null;
  delete body.dataset.live;
}

async function lost() {
  disconnect();
  attempts += 1;
  const wait = Math.min(10_000, 300 * 2 ** Math.min(attempts, 6)) * (0.7 + Math.random() * 0.6);
  if (attempts > 1) {
    banner.textContent =
      "Not live: the server cannot be reached. What you see may be old. Trying again…";
  }
  retry = setTimeout(connect, wait);
  if (attempts === 2 || attempts % 5 === 0) await whyLost();
}

// The browser does not say why it was not let in. The server may.
async function whyLost() {
  await signedOut();
  try {
    const answer = await fetch(session ? `/api/v1/sessions/${session}` : "/api/v1/server");
    if (answer.status === 404) location.reload();
    else if (answer.ok) {
      banner.textContent =
        "Not live: the server is there, but does not let this page follow it. Perhaps too many pages are open. Trying again…";
    }
  } catch {
    // It cannot be reached, as the banner says.
  }
}

// Says so, if it is the sign-in that is missing and not the server.
async function signedOut() {
  try {
    const me = await fetch("/api/v1/me", { headers: { accept: "application/json" } });
    if (me.status === 401) {
      location.href = `/login?next=${encodeURIComponent(location.pathname + location.search)}`;
    }
  } catch {
    // It is the server.
  }
}

// A page that slept may have lost its connection without being told.
let lastTick = Date.now();
setInterval(() => {
  const now = Date.now();
  if (now - lastTick > 15_000 && !document.hidden) connect();
  else if (source && now - heardAt > SILENCE) lost();
  lastTick = now;
}, 5_000);

addEventListener("offline", () => source && lost());
addEventListener("online", () => !source && !document.hidden && body.dataset.live !== "no" && connect());

// A browser opens only a few connections to one server. So of the pages that nobody sees, one is live
// for all of them, and counts.
const channel = "BroadcastChannel" in window ? new BroadcastChannel("countersign") : null;
channel?.addEventListener("message", ({ data }) => {
  if (!source) showCount(data.count);
});

let speaker = null;
let hiddenAt = 0;

function hidden() {
  // It may be told more than once.
  if (speaker) return;
  hiddenAt = Date.now();
  if (!navigator.locks || !channel) return;
  const turn = { abort: new AbortController(), granted: false, end: () => {} };
  speaker = turn;
  const speak = () => {
    turn.granted = true;
    if (!source) connect();
    return new Promise((resolve) => (turn.end = resolve));
  };
  navigator.locks.request("countersign-live", { signal: turn.abort.signal }, speak).catch(() => {});
  setTimeout(() => {
    if (speaker === turn && !turn.granted) disconnect();
  }, 10_000);
}

function seen() {
  speaker?.abort.abort();
  speaker?.end();
  speaker = null;
  // What came while nobody looked is new to whoever looks now.
  for (const card of $$(".card")) card.dataset.since = performance.now();
  if (!source || Date.now() - hiddenAt > 60_000) connect();
}

if (body.dataset.live !== "no") {
  document.addEventListener("visibilitychange", () => (document.hidden ? hidden() : seen()));
}

/* ---------------------------------------------------------------- what waits */

let waiting = null;
let newestKnown = "";
let plainTitle = document.title;

function setTitle(title) {
  plainTitle = `${title || "Untitled"} · Countersign`;
  showCount(waiting ?? 0);
}

function showCount(count) {
  document.title = count > 0 ? `(${count}) ${plainTitle}` : plainTitle;
  for (const badge of $$("[data-count]")) {
    const words = document.createElement("span");
    words.className = "hidden";
    words.textContent = " waiting for you";
    badge.replaceChildren(...(count > 0 ? [String(count), words] : []));
  }
}

function counted({ count, newest, gone }) {
  showCount(count);
  settled(count === 0 ? undefined : gone);
  // Ids grow: what came while the page was not live is newer than what it knew.
  if (newest && newest.id > newestKnown) {
    if (waiting !== null) {
      $("#said").textContent = `${newest.title} ${newest.what}`;
      if (document.hidden || newest.session !== session) alarm(newest);
    }
    newestKnown = newest.id;
  }
  waiting = count;
  navigator.setAppBadge?.(count).catch(() => {});
  const empty = $("#nothing");
  if (empty) empty.hidden = $$(".card").length > 0;
  const beyond = $("#beyond");
  if (beyond) beyond.hidden = count <= $$(".card").length;
}

async function alarm(newest) {
  // One page of this browser is enough.
  if (kept.get("alarmed") === newest.id) return;
  kept.set("alarmed", newest.id);
  if (kept.get("sound") === "on") beep();
  if (kept.get("notify") !== "on" || window.Notification?.permission !== "granted") return;
  // A worker that was registered a moment ago shows nothing before it is ready.
  const registration = await navigator.serviceWorker?.ready;
  await announcing(() =>
    registration?.showNotification(newest.title, {
      body: newest.what,
      tag: newest.id,
      data: `/sessions/${newest.session}`,
      icon: "/assets/icon.svg",
    }),
  );
}

// What waits no more is announced no more; nor is anything, when nothing waits.
async function settled(tag) {
  if (tag === null) return;
  const registration = await navigator.serviceWorker?.getRegistration().catch(() => null);
  await announcing(async () => {
    for (const shown of (await registration?.getNotifications({ tag })) ?? []) shown.close();
  });
}

// One page of this browser after the other: Chromium forgets a notification that begins to be shown while
// those that are shown are looked up, and nobody could close it.
function announcing(task) {
  return navigator.locks?.request("announcing", task);
}

// A browser lets a page be heard once somebody has done something on it.
let audio = null;
for (const kind of ["pointerdown", "keydown"]) {
  document.addEventListener(kind, () => kept.get("sound") === "on" && audible(), { passive: true });
}

function audible() {
  audio ??= new AudioContext();
  if (audio.state === "suspended") audio.resume();
}

function beep() {
  audible();
  const tone = audio.createOscillator();
  const volume = audio.createGain();
  tone.frequency.value = 660;
  volume.gain.setValueAtTime(0.08, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.0001, audio.currentTime + 0.35);
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.4);
}

