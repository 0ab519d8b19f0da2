/* ---------------------------------------------------------------- commands */

// Carries out a command once, however often it has to be sent: a lost connection loses no answer.
async function command(method, path, content, notYet = () => {}) {
  const key = newKey();
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
    try {
      value = text ? JSON.parse(text) : null;
    } catch {
      // Something between here and the server answers in its place.
    }
    if (answer.ok) return value;
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

async function picture(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return { media_type: file.type, data: btoa(text) };
}

const pictures = (files) => Promise.all([...files].filter((file) => file.type.startsWith("image/")).map(picture));

