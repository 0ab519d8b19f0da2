//! `serve`: how a server starts, what it says, and how it ends; `token` and `login-link`.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;

use crate::served::{Served, place};
use crate::support::{command, ran, run};

/// The model writes a file, and says what came of it.
pub(crate) const WRITE: &str = r#"
[[answer]]
text = "I will write it."
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "It is: ${result}"

[[answer]]
text = "And more."
"#;

#[test]
fn a_server_says_where_it_is_and_stops_when_it_is_told() {
    let mut served = Served::new(WRITE);
    let token = served.told["token_file"].as_str().unwrap();
    assert_eq!(fs::metadata(token).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(served.told["login_link"], Value::Null, "nobody asked for it");
    let address = served.told["listening"].as_str().unwrap().to_owned();
    assert_eq!(served.url, format!("http://{address}"));
    assert!(get(&address, "/healthz").starts_with("HTTP/1.1 200"), "{}", get(&address, "/healthz"));

    served.stop();
    assert!(TcpStream::connect(&address).is_err());
    let log = served.log();
    assert!(log.contains("the server listens") && log.contains("the server stops"), "{log}");
    // The next start has a token already, and says where it is.
    served.start(&[], &["--login-link"]);
    assert_eq!(served.told["token_file"].as_str(), Some(token_path(&served).as_str()));
    let link = served.told["login_link"].as_str().unwrap();
    assert!(link.starts_with(&format!("{}/login#csl_", served.url)), "{link}");
    assert!(!served.log().contains("csl_"), "it is not in the log");
}

fn token_path(served: &Served) -> String {
    served.path("data/token").display().to_string()
}

/// The answer to a request, as it comes.
fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_person_is_told_how_to_go_on() {
    let folder = place(WRITE);
    let mut server = command(folder.path());
    server.args(["serve", "--data", "data", "--root", "work", "--cli", "claude", "--login-link"]);
    server.args(["--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = server.spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let lines: Vec<_> = out.lines().take(6).map(Result::unwrap).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    let text = lines.join("\n");
    for part in [
        "Countersign listens on http://127.0.0.1:",
        "/login#csl_",
        "The first token is in ",
        "export COUNTERSIGN_SERVER=http://127.0.0.1:",
        "COUNTERSIGN_DATA=",
        "countersign sessions new --folder ",
        "countersign inbox",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_configuration_is_checked_and_a_wrong_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("good.toml"), "[limits]\npark_after = \"7s\"\n").unwrap();
    let good = run(path, &["serve", "--check-config", "--config", "good.toml", "--live", "3"]);
    assert_eq!(good.code, Some(0), "{good:?}");
    for part in [
        "limits.park_after = \"7s\"  # ",
        "good.toml:2",
        "limits.live_processes = 3  # command line",
        "listen = \"127.0.0.1:7787\"\n",
        "warning: no folder is open to sessions",
        "warning: sessions have no Claude Code to run",
        "The server would start.",
    ] {
        assert!(good.out.contains(part), "{part} in {}", good.out);
    }

    let open = ["serve", "--listen", "0.0.0.0:0", "--live", "0", "--root", "nowhere"];
    let refused = run(path, &open);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    for key in ["`listen`", "`limits.live_processes`", "`roots`"] {
        assert!(refused.err.contains(key), "{key} in {}", refused.err);
    }
    assert!(!path.join(".local/share/countersign").exists(), "nothing was begun");
    let checked = run(path, &[&open[..], &["--check-config", "--json"]].concat());
    assert_eq!(checked.code, Some(1), "{checked:?}");
    let checked: Value = serde_json::from_str(&checked.out).unwrap();
    assert_eq!(checked["faults"].as_array().unwrap().len(), 3, "{checked}");
    assert_eq!(checked["origins"]["listen"], "command line");
    assert_eq!(checked["claude"], Value::Null);

    fs::write(path.join("bad.toml"), "limts = 1\n").unwrap();
    let bad = run(path, &["serve", "--config", "bad.toml"]);
    assert_eq!(bad.code, Some(1), "{bad:?}");
    assert!(bad.err.contains("bad.toml:1") && bad.err.contains("limts"), "{bad:?}");
    assert_eq!(run(path, &["serve", "--store", "mysql:x"]).code, Some(2));
    assert_eq!(run(path, &["serve", "--listen", "localhost"]).code, Some(2));
}

#[test]
fn what_cannot_be_had_is_told_with_what_to_do() {
    let served = Served::new(WRITE);
    let folder = place(WRITE);
    let address = served.told["listening"].as_str().unwrap();
    let taken = ran(command(folder.path()).args(["serve", "--data", "other", "--listen", address]));
    assert_eq!(taken.code, Some(1), "{taken:?}");
    assert!(taken.err.contains("`countersign sessions list` shows its sessions"), "{taken:?}");
    assert_eq!(taken.err.matches("Address already in use").count(), 1, "{taken:?}");
    // Both are told before anything else happens.
    assert!(taken.err.contains("warning: no folder is open to sessions"), "{taken:?}");
    assert!(taken.err.contains("warning: sessions have no Claude Code to run"), "{taken:?}");

    let data = served.path("data");
    let data = data.to_str().unwrap();
    let used = run(folder.path(), &["serve", "--data", data, "--listen", "127.0.0.1:0", "--json"]);
    assert_eq!(used.code, Some(1), "{used:?}");
    let said: Value = serde_json::from_str(used.err.lines().last().unwrap()).unwrap();
    assert!(said["hint"].as_str().unwrap().contains("Another server has it open"), "{said}");
}

/// The model takes its time.
const SLOW: &str = "[[answer]]\ntext = \"At last.\"\ndelay = \"10m\"\n";

#[test]
fn the_second_signal_ends_it_at_once() {
    let mut served = Served::new(SLOW);
    let session = served.session("Take your time.");
    // It is running: its turn has begun.
    let mut watch = served.command(&["watch", &session, "--history", "500", "--json"]);
    let mut watch = watch.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(watch.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut events = lines.map(|line| serde_json::from_str::<Value>(&line).unwrap());
    assert!(events.any(|event| event["kind"] == "turn.began"));
    served.signal(Signal::INT);
    // The stream ends when the server begins to stop, and the watcher says so.
    assert!(events.any(|event| event["kind"] == "reconnecting"));
    served.signal(Signal::INT);
    assert_eq!(served.ended().code(), Some(130));
    watch.kill().unwrap();
    watch.wait().unwrap();
    // What was cut off goes on, or is told.
    served.start(&[], &[]);
    assert_eq!(served.head(&session)["id"], session);
}

#[test]
fn what_is_said_is_not_in_the_log() {
    const SECRET: &str = "xyzzy-4711";
    let arguments = ["--log-level", "trace", "--log-format", "json", "--login-link"];
    let script = WRITE.replace("I will write it.", &format!("I will write {SECRET}."));
    let mut served = Served::with(&script, &[], &arguments);
    let session = served.session(&format!("Write {SECRET}."));
    let asked = served.ask(&session);
    served.ok(&["deny", &asked, &format!("not {SECRET}")]);
    served.rest(&session);
    served.stop();
    let log = served.log();
    let token = fs::read_to_string(served.path("data/token")).unwrap();
    assert!(!log.contains(SECRET) && !log.contains(token.trim()) && !log.contains("csl_"), "{log}");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["fields"]["message"] == "the server stops"), "{log}");
}

#[test]
fn an_approval_outlives_the_server() {
    let mut served = Served::new(WRITE);
    let session = served.session("Write it.");
    let asked = served.ask(&session);
    served.stop();
    served.start(&[], &[]);
    assert_eq!(served.head(&session)["state"], "parked");
    served.kill();
    served.start(&[], &[]);
    assert_eq!(served.ask(&session), asked);
    served.ok(&["approve", &asked]);
    assert!(served.last_text(&session).starts_with("It is: "), "{}", served.log());
    assert!(served.work().join("new.txt").is_file());
}

#[test]
fn a_certificate_is_shown_and_read_again() {
    let folder = place(WRITE);
    let write = || {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        fs::write(folder.path().join("cert.pem"), made.cert.pem()).unwrap();
        fs::write(folder.path().join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    };
    write();
    let tls = |name: &str| folder.path().join(name).display().to_string();
    let (certificate, key) = (tls("cert.pem"), tls("key.pem"));
    let mut served = Served::with(WRITE, &[], &["--tls-cert", &certificate, "--tls-key", &key]);
    assert!(served.url.starts_with("https://127.0.0.1:"), "{}", served.url);
    // Nobody trusts it, until its certificate is named.
    let foreign = served.run(&["sessions", "list"]);
    assert_eq!(foreign.code, Some(1), "{foreign:?}");
    assert!(foreign.err.contains("cannot be secured"), "{foreign:?}");
    served.ok(&["sessions", "list", "--ca-file", &certificate]);

    write();
    let old = served.run(&["sessions", "list", "--ca-file", &certificate]);
    assert_eq!(old.code, Some(1), "it still shows the old one: {old:?}");
    served.signal(Signal::HUP);
    // The next connections get the new one; the signal is on its way.
    let renewed = (0..200)
        .any(|_| served.run(&["sessions", "list", "--ca-file", &certificate]).code == Some(0));
    assert!(renewed, "{}", served.log());
    assert!(served.log().contains("took up a new certificate"), "{}", served.log());
    served.stop();
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let served = Served::new(WRITE);
    let made = served.ok(&["token", "create", "robot", "--scope", "read"]);
    let secret = made.out.trim();
    assert!(secret.starts_with("cst_"), "{made:?}");
    assert!(made.err.contains("not shown again"), "{made:?}");
    served.ok(&["token", "create", "in a file", "--expires", "30d", "-o", "robot.token"]);
    let file = served.work().join("robot.token");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    served.ok(&["inbox", "--token-file", "robot.token"]);

    // With a token that may only read nothing can be changed.
    let reading =
        |arguments: &[&str]| ran(served.command(arguments).env("COUNTERSIGN_TOKEN", secret));
    assert_eq!(reading(&["sessions", "list"]).code, Some(0));
    let refused = reading(&["sessions", "new", "x"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.contains("needs the scope decide"), "{refused:?}");
    assert!(!refused.err.contains(secret), "{refused:?}");

    let listed = served.json(&["token", "list"]);
    let names: Vec<_> = listed.iter().map(|token| token["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["first start", "robot", "in a file"]);
    let text = served.ok(&["token", "list"]);
    assert!(text.out.contains("read    robot") && !text.out.contains("cst_"), "{text:?}");
    served.ok(&["token", "revoke", "robot"]);
    let revoked = reading(&["sessions", "list"]);
    assert_eq!(revoked.code, Some(1), "{revoked:?}");
    assert!(revoked.err.contains("was revoked"), "{revoked:?}");
    let id = listed[2]["id"].as_str().unwrap();
    served.ok(&["token", "revoke", &id[id.len() - 8..], "--json"]);
    assert_eq!(served.run(&["inbox", "--token-file", "robot.token"]).code, Some(1));
    assert_eq!(served.run(&["token", "revoke", "nobody"]).code, Some(2));
    assert_eq!(served.run(&["token", "create", "x", "--scope", "root"]).code, Some(2));
    assert_eq!(served.run(&["token", "create", "x", "--expires", "soon"]).code, Some(2));

    // One that others can read is not used.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let open = served.run(&["inbox", "--token-file", "robot.token"]);
    assert!(open.err.contains("others can read the token"), "{open:?}");
}

#[test]
fn whoever_lost_all_tokens_makes_one_while_the_server_is_down() {
    let mut served = Served::new(WRITE);
    served.ok(&["token", "revoke", "first start"]);
    assert_eq!(served.run(&["sessions", "list"]).code, Some(1));
    let arguments = ["token", "create", "again", "--scope", "admin", "--offline", "-o", "new"];
    let running = served.run(&arguments);
    assert_eq!(running.code, Some(1), "{running:?}");
    assert!(running.err.contains("Another server has it open"), "{running:?}");
    fs::remove_file(served.work().join("new")).unwrap();
    served.stop();
    served.ok(&arguments);
    served.start(&[], &[]);
    served.ok(&["token", "list", "--token-file", "new"]);
}

#[test]
fn a_link_is_made_for_a_browser() {
    let served = Served::new(WRITE);
    let link = served.ok(&["login-link"]);
    assert!(link.out.starts_with(&format!("{}/login#csl_", served.url)), "{link:?}");
    assert!(link.err.contains("once"), "{link:?}");
    let object = served.object(&["login-link"]);
    assert!(object["url"].as_str().unwrap().contains("#csl_"), "{object}");

    // A desktop is told to open it, and nothing is printed.
    let bin = served.path("bin");
    crate::support::script(
        &bin.join("xdg-open"),
        "#!/bin/sh\necho \"$1\" > \"$HOME/opened\"\ncp -p \"$1\" \"$HOME/page\"\n",
    );
    let mut open = served.command(&["login-link", "--open"]);
    let opened = ran(open.env("PATH", format!("{}:/usr/bin:/bin", bin.display())));
    assert_eq!((opened.code, opened.out.as_str()), (Some(0), ""), "{opened:?}");
    assert!(!opened.err.contains("csl_"), "{opened:?}");
    // What is on a command line, everybody can read.
    let told = fs::read_to_string(served.path("opened")).unwrap();
    assert!(!told.contains("csl_"), "{told}");
    assert!(!std::path::Path::new(told.trim()).exists(), "the page is left behind");
    let page = served.path("page");
    assert!(fs::read_to_string(&page).unwrap().contains("/login#csl_"));
    assert_eq!(fs::metadata(&page).unwrap().permissions().mode() & 0o777, 0o600);
    let none = ran(served.command(&["login-link", "--open"]).env("PATH", "/nowhere"));
    assert_eq!(none.code, Some(1), "{none:?}");
    assert!(none.err.contains("to be opened by hand"), "{none:?}");
}

#[test]
fn a_token_goes_only_to_the_server_that_it_is_for() {
    let served = Served::new(WRITE);
    let elsewhere = ["sessions", "list", "--server", "http://127.0.0.1:1"];
    let mut other = served.command(&elsewhere);
    other.env("COUNTERSIGN_TOKEN", "cst_of_another_server").env_remove("COUNTERSIGN_DATA");
    let none = ran(&mut other);
    assert_eq!(none.code, Some(1), "{none:?}");
    assert!(none.err.contains("the token cannot be read from"), "{none:?}");
    let unknown = served.run(&["sessions", "list", "--server", "http://example.org"]);
    assert!(unknown.err.contains("there is no token for http://example.org"), "{unknown:?}");
    let mut clear = served.command(&["sessions", "list", "--server", "http://example.org"]);
    clear.env_remove("COUNTERSIGN_SERVER").env("COUNTERSIGN_TOKEN", "cst_of_that_server");
    let clear = ran(&mut clear);
    assert_eq!(clear.code, Some(2), "{clear:?}");
    assert!(clear.err.contains("everybody on the way"), "{clear:?}");
    assert_eq!(served.run(&["sessions", "list", "--server", "nonsense"]).code, Some(2));
    let nobody = served.run(&elsewhere);
    assert_eq!(nobody.code, Some(1), "{nobody:?}");
    assert!(nobody.err.contains("`countersign serve` starts it"), "{nobody:?}");
}

#[test]
fn browsers_are_listed_and_signed_out() {
    let served = Served::new(WRITE);
    let none = served.ok(&["browsers", "list"]);
    assert!(none.out.is_empty() && none.err.contains("login-link"), "{none:?}");
    let wrong = served.run(&["browsers", "sign-out", "nobody"]);
    assert!(wrong.err.contains("countersign browsers list"), "{wrong:?}");
}
