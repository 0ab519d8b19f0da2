//! Opening the browser of the person at the terminal.

use std::ffi::OsString;
use std::io;

/// Returns `true` if this process runs on the desktop of the person at the terminal.
///
/// Over SSH the desktop is on another machine, even if windows are forwarded.
pub(super) fn has_desktop(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
    if is_set("SSH_CONNECTION") {
        return false;
    }
    cfg!(target_os = "macos")
        || ["WAYLAND_DISPLAY", "DISPLAY", "WSL_DISTRO_NAME"].into_iter().any(is_set)
}

/// Opens a URL in the default browser.
///
/// The browser gets a session of its own, so Ctrl-C in this terminal does not reach it. The URL is an
/// argument of the command that opens it, and so visible to all users of the machine.
pub(super) fn open(url: &str) -> io::Result<()> {
    open::that_detached(url)
}

#[cfg(test)]
mod tests {
    use super::has_desktop;

    fn check(variables: &[(&str, &str)], expected: bool) {
        let value = |name: &str| variables.iter().find(|(known, _)| *known == name);
        let found = has_desktop(|name| value(name).map(|(_, value)| value.into()));
        assert_eq!(found, expected, "{variables:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_desktop_is_a_display_that_is_not_forwarded() {
        check(&[], false);
        check(&[("DISPLAY", "")], false);
        check(&[("DISPLAY", ":0")], true);
        check(&[("WAYLAND_DISPLAY", "wayland-0")], true);
        check(&[("WSL_DISTRO_NAME", "Debian")], true);
        check(
            &[("DISPLAY", "localhost:10.0"), ("SSH_CONNECTION", "192.0.2.1 1 192.0.2.2 22")],
            false,
        );
    }
}
