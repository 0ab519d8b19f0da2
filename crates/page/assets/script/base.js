// The page of Countersign. What is shown is made by the server; this puts it in its place, sends what
// people decide, and says when the page is not live.

const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
const body = document.body;
const session = body.dataset.session ?? null;

// What a browser keeps. One that keeps nothing asks again the next time.
const keeper = (storage) => ({
  get(name) {
    try {
      return storage().getItem(`countersign-${name}`);
    } catch {
      return null;
    }
  },
  set(name, value) {
    try {
      if (value) storage().setItem(`countersign-${name}`, value);
      else storage().removeItem(`countersign-${name}`);
    } catch {
      // It is full, or forbidden.
    }
  },
});

// Settings of this browser; and what was begun on this page and is not sent.
const kept = keeper(() => localStorage);
const draft = keeper(() => sessionStorage);

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// Where the page is not on this machine and has no certificate, there is no `crypto.randomUUID`.
const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

function toast(text) {
  $(".toast")?.remove();
  const element = document.createElement("div");
  element.className = "toast";
  element.role = "status";
  element.textContent = text;
  body.append(element);
  setTimeout(() => element.remove(), 6_000);
}

/* ---------------------------------------------------------------- times */

const ages = [
  [60, "now", 1],
  [3600, "min", 60],
  [86400, "h", 3600],
  [5184000, "d", 86400],
  [31536000, "mo", 2592000],
  [Infinity, "y", 31536000],
];

function age(then) {
  const seconds = Math.max(0, (Date.now() - then) / 1000);
  const [, unit, size] = ages.find(([limit]) => seconds < limit);
  return unit === "now" ? unit : `${Math.floor(seconds / size)} ${unit}`;
}

function tell(times) {
  for (const time of times) {
    const then = Date.parse(time.dateTime);
    if (Number.isNaN(then)) continue;
    const text = age(then);
    if (time.textContent !== text) time.textContent = text;
    if (!time.title) time.title = new Date(then).toLocaleString();
  }
}

setInterval(() => tell($$("time[datetime]")), 20_000);

