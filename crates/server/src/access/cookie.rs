//! The cookie of a browser.

use std::net::SocketAddr;
use std::time::Duration;

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};

use super::secret;
use crate::config::{Config, PublicUrl, Secret};

/// How the cookie of this server is called and marked.
///
/// The port is part of the name, because a browser keeps the cookies of all ports of a host in one
/// place: two servers on one machine would sign out each other's people. Over TLS the name begins with
/// `__Host-`: a browser takes such a cookie only over TLS, for all paths, and from this very host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cookies {
    name: String,
    secure: bool,
}

impl Cookies {
    /// The cookie of a server on this port. It is secure when browsers come over TLS, whoever
    /// speaks it.
    #[must_use]
    pub fn new(port: u16, secure: bool) -> Self {
        let front = if secure { "__Host-" } else { "" };
        Self { name: format!("{front}countersign-{port}"), secure }
    }

    /// The cookie of a server that listens at this address.
    #[must_use]
    pub fn of(config: &Config, listening: SocketAddr) -> Self {
        let public = config.public_url.as_ref().is_some_and(PublicUrl::is_https);
        Self::new(listening.port(), public || config.tls.files().is_some())
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether these headers have it, whatever its value is, and however often.
    pub(crate) fn is_in(&self, headers: &HeaderMap) -> bool {
        // Of what cannot be read nobody can say what it is.
        headers.get_all(COOKIE).iter().any(|line| match line.to_str() {
            Ok(line) => line.split(';').any(|pair| {
                pair.trim().split_once('=').is_some_and(|(name, _)| name.trim() == self.name)
            }),
            Err(_) => true,
        })
    }

    /// Its value in these headers. When there are several, nobody can say which one is ours, and
    /// there is none.
    pub(super) fn find<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let mut found = headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|line| line.to_str().ok())
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(name, _)| *name == self.name)
            .map(|(_, value)| value);
        found.next().filter(|value| secret::is_cookie(value) && found.next().is_none())
    }

    /// The header that gives a browser its cookie, for this long.
    pub(super) fn set(&self, value: &Secret, for_time: Duration) -> HeaderValue {
        self.header(value.expose(), for_time.as_secs())
    }

    /// The header that takes it away.
    pub(super) fn clear(&self) -> HeaderValue {
        self.header("", 0)
    }

    fn header(&self, value: &str, seconds: u64) -> HeaderValue {
        let Self { name, secure } = self;
        let secure = if *secure { "; Secure" } else { "" };
        let text =
            format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
        // Name and value are letters, digits and hyphens.
        let mut header =
            HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""));
        header.set_sensitive(true);
        header
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::HeaderMap;

    use super::Cookies;
    use crate::access::secret::new_cookie;

    #[test]
    fn a_cookie_is_for_this_host_and_no_script() {
        let value = new_cookie().unwrap();
        let text = value.expose();
        let set = |secure| Cookies::new(7787, secure).set(&value, Duration::from_secs(60));
        assert_eq!(
            set(false).to_str().unwrap(),
            format!("countersign-7787={text}; Path=/; Max-Age=60; HttpOnly; SameSite=Strict")
        );
        assert_eq!(
            set(true).to_str().unwrap(),
            format!(
                "__Host-countersign-7787={text}; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure"
            )
        );
        assert!(!format!("{:?}", set(true)).contains(text));
    }

    #[test]
    fn the_cookie_is_found_among_others() {
        let cookies = Cookies::new(7787, false);
        let value = new_cookie().unwrap();
        let text = value.expose();
        let find = |lines: &[String]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("cookie", line.parse().unwrap());
            }
            cookies.find(&headers).map(str::to_owned)
        };
        let ours = format!("countersign-7787={text}");
        assert_eq!(find(&[format!("a=b; {ours}; c")]), Some(text.to_owned()));
        assert_eq!(find(&["a=b".into(), ours.clone()]), Some(text.to_owned()));
        assert_eq!(find(&[format!("countersign-1={text}; Countersign-7787={text}")]), None);
        assert_eq!(find(&["countersign-7787=".into()]), None);
        assert_eq!(find(&[format!("{ours}; {ours}")]), None, "which one is meant cannot be told");
    }
}
