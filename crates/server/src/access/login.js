// Signs a browser in with the code behind the # of the address.

const said = document.getElementById("said");
const code = location.hash.slice(1);

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

async function signIn() {
  if (code === "") {
    const me = await fetch("/api/v1/me", { headers: { accept: "application/json" } });
    if (me.ok) {
      location.replace(next());
      return;
    }
    said.textContent =
      "You are not signed in. Run “countersign login-link” on the machine of the server and open the link.";
    return;
  }
  // Out of the address bar and the history before anything else happens.
  history.replaceState(null, "", location.pathname + location.search);
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
  said.textContent = `${problem.title}: ${problem.detail ?? ""}`;
}

signIn().catch(() => {
  said.textContent = "The server cannot be reached. Reload this page to try again.";
});
