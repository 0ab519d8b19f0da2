/* ---------------------------------------------------------------- live */

const banner = $("#banner");
let source = null;
let attempts = 0;
let retry = 0;
let lastSeq = Number(body.dataset.seq ?? 0);

function connect() {
  clearTimeout(retry);
  source?.close();
  const query = new URLSearchParams();
  if (session) {
    query.set("session", session);
    query.set("after", lastSeq);
  }
  const cards = $$(".card").map((card) => card.dataset.approval);
  if ($("#cards")) query.set("cards", cards.join(","));
  source = new EventSource(`/page/stream?${query}`);
  source.addEventListener("open", () => {
    attempts = 0;
    banner.textContent = "";
    body.dataset.live = "yes";
  });
  source.addEventListener("patches", (event) => {
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
  if (Date.now() - lastTick > 15_000 && !document.hidden) connect();
  lastTick = Date.now();
}, 5_000);

// A browser opens only a few connections to one server. So of the pages that nobody sees, one is live
// for all of them, and counts.
const channel = "BroadcastChannel" in window ? new BroadcastChannel("countersign") : null;
channel?.addEventListener("message", ({ data }) => {
  if (!source) showCount(data.count);
});

let speaker = null;
let hiddenAt = 0;

function hidden() {
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
  if (!source || Date.now() - hiddenAt > 60_000) connect();
}

if (body.dataset.live !== "no") {
  document.addEventListener("visibilitychange", () => (document.hidden ? hidden() : seen()));
}

/* ---------------------------------------------------------------- what waits */

let waiting = null;
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

function counted({ count, newest }) {
  showCount(count);
  if (newest && waiting !== null) {
    $("#said").textContent = `${newest.title} ${newest.what}`;
    if (document.hidden || newest.session !== session) alarm(newest);
  }
  waiting = count;
  navigator.setAppBadge?.(count).catch(() => {});
  const empty = $("#nothing");
  if (empty) empty.hidden = $$(".card").length > 0;
}

async function alarm(newest) {
  // One page of this browser is enough.
  if (kept.get("alarmed") === newest.id) return;
  kept.set("alarmed", newest.id);
  if (kept.get("sound") === "on") beep();
  if (kept.get("notify") !== "on" || window.Notification?.permission !== "granted") return;
  // A worker that was registered a moment ago shows nothing before it is ready.
  const registration = await navigator.serviceWorker?.ready;
  registration?.showNotification(newest.title, {
    body: newest.what,
    tag: newest.id,
    data: `/sessions/${newest.session}`,
    icon: "/assets/icon.svg",
  });
}

function beep() {
  const audio = new AudioContext();
  const tone = audio.createOscillator();
  const volume = audio.createGain();
  tone.frequency.value = 660;
  volume.gain.setValueAtTime(0.08, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.0001, audio.currentTime + 0.35);
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.4);
  tone.addEventListener("ended", () => audio.close());
}

