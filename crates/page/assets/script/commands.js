/* ---------------------------------------------------------------- commands */

// How many commands were not taken yet.
let unsent = 0;

// Carries out a command once, however often it has to be sent: a lost connection loses no answer.
async function command(method, path, content, notYet = toast, key = newKey()) {
  unsent += 1;
  try {
    return await sent(method, path, content, notYet, key);
  } finally {
    unsent -= 1;
  }
}

// Words are kept; pictures are not.
addEventListener("beforeunload", (event) => {
  const chosen = $$("[name=images]").some((field) => field.files.length > 0 && field.checkVisibility());
  if (unsent > 0 || images.length > 0 || chosen) event.preventDefault();
});

async function sent(method, path, content, notYet, key) {
  for (let attempt = 1; ; attempt += 1) {
    let answer;
    let text;
    try {
      answer = await fetch(`/api/v1${path}`, {
        method,
        headers: { "content-type": "application/json", "idempotency-key": key, accept: "application/json" },
        body: content === undefined ? undefined : JSON.stringify(content),
      });
      text = await answer.text();
    } catch {
      answer = null;
    }
    // What stands between here and the server answers in its place when it cannot be reached.
    if (!answer || answer.status === 502 || answer.status === 504) {
      notYet("Not sent yet: the server cannot be reached. Trying again…");
      await pause(Math.min(8_000, 400 * 2 ** attempt));
      continue;
    }
    if (answer.status === 503 && attempt < 8) {
      notYet("The server is busy. Trying again…");
      await pause(1_000 * attempt);
      continue;
    }
    let value = null;
    let isOurs = true;
    try {
      value = text ? JSON.parse(text) : null;
    } catch {
      isOurs = false;
    }
    if (answer.ok && isOurs) return value;
    if (answer.ok) throw new Error("Something between this browser and the server answered in its place.");
    if (answer.status === 401) await signedOut();
    throw new Error([value?.title, value?.detail].filter(Boolean).join(": ") || `Error ${answer.status}`);
  }
}

async function tried(work) {
  try {
    return await work();
  } catch (problem) {
    toast(problem.message);
    return undefined;
  }
}

/* ---------------------------------------------------------------- pictures */

// What the model can look at.
const pictureKinds = ["image/png", "image/jpeg", "image/gif", "image/webp"];

async function picture(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return { media_type: file.type, data: btoa(text) };
}

function fitting(files) {
  const all = [...files];
  const fit = all.filter((file) => pictureKinds.includes(file.type));
  if (fit.length < all.length) toast("Only pictures can be sent: PNG, JPEG, GIF and WebP.");
  return fit;
}

const pictures = (files) => Promise.all(fitting(files).map(picture));

