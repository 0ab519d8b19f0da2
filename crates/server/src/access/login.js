// Signs a browser in with the code behind the # of the address, or with one that is pasted.

const said = document.getElementById("said");
const form = document.getElementById("sign-in");
const field = document.getElementById("link");

// Where the person wanted to go, if it is on this server.
function next() {
  try {
    const url = new URL(new URLSearchParams(location.search).get("next") ?? "/", location.origin);
    if (url.origin === location.origin && url.pathname !== "/login") {
      // The whole address: a path that begins with two slashes would be another host.
      return url.href;
    }
  } catch {
    // What is not an address is nowhere to go.
  }
  return "/";
}

function ask(words) {
  said.textContent = words;
  form.hidden = false;
  field.focus();
}

async function begin() {
  const code = location.hash.slice(1);
  if (code) {
    // Out of the address bar and the history before anything else happens.
    history.replaceState(null, "", location.pathname + location.search);
    await signInWith(code);
    return;
  }
  const me = await fetch("/api/v1/me", { headers: { accept: "application/json" } });
  if (me.ok) location.replace(next());
  else ask("You are not signed in.");
}

async function signInWith(code) {
  said.textContent = "Signing in…";
  const answer = await fetch("/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  });
  if (answer.ok) {
    location.replace(next());
    return;
  }
  const problem = await answer.json();
  ask([problem.title, problem.detail].filter(Boolean).join(": "));
}

const unreachable = () => ask("The server cannot be reached. Reload this page to try again.");

form.addEventListener("submit", (event) => {
  event.preventDefault();
  // Of a link, the code is what stands behind the #.
  signInWith(field.value.trim().split("#").at(-1)).catch(unreachable);
});
addEventListener("hashchange", () => begin().catch(unreachable));
begin().catch(unreachable);
