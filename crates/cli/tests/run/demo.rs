//! The demo, in a terminal.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use libtest_mimic::Trial;

use crate::kit::{Cli, Outcome, simulated};
use crate::pty::{self, Pty};

pub(crate) fn trials() -> Vec<Trial> {
    [
        simulated("demo::the_browser_opens_on_a_desktop", on_a_desktop),
        simulated("demo::the_address_is_enough_where_no_browser_opens", without_a_browser),
        simulated("demo::a_busy_port_is_reported_once_with_what_to_do", busy_port),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A window in which no link is wrapped.
const WIDE: (u16, u16) = (200, 60);

/// The last line that the demo prints.
const READY: &str = "nothing is left behind.";

/// `countersign demo` in this folder, on a desktop whose `xdg-open` writes its argument to `opened`.
fn run(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Pty {
    let programs = folder.join("bin");
    std::fs::create_dir_all(&programs).unwrap();
    let opener = programs.join("xdg-open");
    let opened = folder.join("opened");
    let script =
        format!("#!/bin/sh\necho \"$1\" >'{0}.new' && mv '{0}.new' '{0}'\n", opened.display());
    std::fs::write(&opener, script).unwrap();
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = pty::command(env!("CARGO_BIN_EXE_countersign"));
    command.arg("demo").args(arguments);
    command.env("HOME", folder).env("TMPDIR", folder).env("TERM", "xterm-256color");
    command.env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
    command.envs(variables.iter().copied()).current_dir(folder);
    Pty::start(command, WIDE)
}

/// The login link on the screen.
fn link(screen: &str) -> &str {
    let mut words = screen.split_whitespace();
    words.find(|word| word.contains("/login#csl_")).unwrap_or_else(|| panic!("no link: {screen}"))
}

async fn on_a_desktop(_: Cli) -> Outcome {
    let folder = tempfile::tempdir()?;
    let mut pty = run(folder.path(), &[], &[("DISPLAY", ":99")]);
    let screen = pty.see(READY);
    assert!(screen.starts_with("A server with"), "the first line is our own: {screen}");
    assert!(screen.contains("Opening it in your browser."), "{screen}");
    assert!(screen.contains("countersign tour"), "{screen}");
    let file = folder.path().join("opened");
    while !file.exists() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let opened = std::fs::read_to_string(file)?;
    assert!(opened.contains("/login#csl_"), "{opened}");
    assert_ne!(opened.trim(), link(&screen), "a link works once, so the printed one is another");
    pty.press("\u{3}");
    assert_eq!(pty.end().code, 0);
    Ok(())
}

async fn without_a_browser(_: Cli) -> Outcome {
    let no_open: &[&str] = &["--no-open"];
    let desktop = ("DISPLAY", ":99");
    for (arguments, variables) in [
        (no_open, vec![desktop]),
        (&[], vec![]),
        (&[], vec![desktop, ("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.2 22")]),
    ] {
        let folder = tempfile::tempdir()?;
        let mut pty = run(folder.path(), arguments, &variables);
        let screen = pty.see(READY);
        assert!(screen.contains("Open this link in a browser: http://127.0.0.1:"), "{screen}");
        link(&screen);
        pty.press("\u{3}");
        assert_eq!(pty.end().code, 0);
        assert!(!folder.path().join("opened").exists(), "{arguments:?} {variables:?}");
    }
    Ok(())
}

async fn busy_port(_: Cli) -> Outcome {
    let folder = tempfile::tempdir()?;
    let busy = TcpListener::bind("127.0.0.1:0")?;
    let port = busy.local_addr()?.port().to_string();
    let ended = run(folder.path(), &["--port", &port], &[]).end();
    assert_eq!(ended.code, 1, "{}", ended.screen);
    let screen = ended.screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(screen.matches("Address already in use").count(), 1, "{screen}");
    assert!(screen.contains("Omit --port to use a free port."), "{screen}");
    assert!(!screen.contains("--listen"), "{screen}");
    Ok(())
}
