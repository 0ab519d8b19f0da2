//! Keeps out requests that a foreign page makes a browser send.
//!
//! A browser that is signed in sends its cookie along with whatever a page makes it ask for. Three
//! things hold a foreign page off, each of which would do for most browsers:
//!
//! - The **host** that a request names has to be this server. A page that points its own name at this
//!   machine (DNS rebinding) is same-origin for the browser, but names its own host.
//! - The **origin** has to be this very server, scheme and port included, for every request that changes
//!   something and for every request with a cookie. It is taken from `Origin` and `Sec-Fetch-Site`,
//!   which no page can set. `SameSite=Strict` alone is not enough: all ports of a host are one site, and
//!   an agent may serve a page on another one.
//! - The **answer** cannot be read, embedded or run by a foreign page: no CORS header is ever sent, and
//!   every answer carries a strict policy.
//!
//! A program with a token is not a browser and sends neither header; it needs no cookie, so nothing can
//! be done in its name by others.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, HeaderName, ORIGIN, REFERRER_POLICY,
    STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Method};
use url::{Host, Url};

use super::peer::Peer;
use super::problem::{self, Problem};
use crate::access::Cookies;
use crate::access::layer::is_safe;
use crate::config::{Config, HostPattern, PublicUrl};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// The policy of every page: scripts, styles and connections of this server and nothing else, no
/// inline script, no frame. Images may be data, because transcripts have such.
pub const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Headers that every answer has, whatever it says itself.
const ALWAYS: [(HeaderName, &str); 6] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    // With `no-referrer`, browsers send `Origin: null` with a form.
    (REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
];

/// The names of this server.
#[derive(Clone, Debug)]
pub struct Hosts {
    allowed: Vec<HostPattern>,
    public: Option<PublicUrl>,
    /// Our own cookie. Those of others on the same host say nothing about who is signed in here.
    cookies: Cookies,
}

/// The host that a request names, with the port if it names one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Named {
    host: Host<String>,
    port: Option<u16>,
}

impl Hosts {
    /// The names of a server that listens at this address.
    #[must_use]
    pub fn new(config: &Config, listening: SocketAddr) -> Self {
        let (address, port) = (listening.ip(), listening.port());
        let mut allowed = config.allowed_hosts.clone();
        if !address.is_unspecified() {
            allowed.push(HostPattern::address(address, port));
        }
        if address.is_loopback() || address.is_unspecified() {
            allowed.push(HostPattern::address(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
            allowed.push(HostPattern::address(IpAddr::V6(Ipv6Addr::LOCALHOST), port));
            allowed.push(HostPattern::new(Host::Domain("localhost".to_owned()), Some(port)));
        }
        allowed.extend(config.public_url.as_ref().map(|url| url.host().clone()));
        let cookies = Cookies::of(config, listening);
        Self { allowed, public: config.public_url.clone(), cookies }
    }

    /// The host that a request names, if it is this server.
    fn named(&self, request: &Request, peer: &Peer) -> Result<Named, Problem> {
        let mut hosts = request.headers().get_all(HOST).iter();
        let named = hosts.next().and_then(|host| Named::parse(host.to_str().ok()?));
        let Some(named) = named.filter(|_| hosts.next().is_none()) else {
            return Err(foreign_host("the request has to name its host, once"));
        };
        // A request may name its host a second time, in the address.
        let authority = request.uri().authority().map(|authority| Named::parse(authority.as_str()));
        let agrees = authority.is_none_or(|other| other.as_ref() == Some(&named));
        if agrees && (self.allows(&named) || named.is(peer.local)) {
            return Ok(named);
        }
        Err(foreign_host(
            "the host that the request names is not this server; if it is, add it to `allowed_hosts`",
        ))
    }

    fn allows(&self, named: &Named) -> bool {
        self.allowed.iter().any(|pattern| match named.port {
            Some(port) => pattern.matches(&named.host, port),
            // Without a port it is that of the scheme, which a proxy may have taken off.
            None => pattern.matches(&named.host, 80) || pattern.matches(&named.host, 443),
        })
    }

    /// Whether this is the origin of a page that this server gave out under this name.
    fn is_own(&self, origin: &HeaderValue, named: &Named, peer: &Peer) -> bool {
        // An origin has nothing but these parts; "null" is none at all.
        let Some(url) = origin.to_str().ok().and_then(|text| Url::parse(text).ok()) else {
            return false;
        };
        let public = self.public.as_ref().filter(|url| match named.port {
            Some(port) => url.host().matches(&named.host, port),
            None => url.has_standard_port() && url.host().host() == &named.host,
        });
        let https = peer.tls || public.is_some_and(PublicUrl::is_https);
        let (scheme, standard) = if https { ("https", 443) } else { ("http", 80) };
        url.scheme() == scheme
            && url.path() == "/"
            && url.host().is_some_and(|host| host.to_owned() == named.host)
            && url.port_or_known_default() == Some(named.port.unwrap_or(standard))
    }
}

impl Named {
    fn parse(text: &str) -> Option<Self> {
        let pattern: HostPattern = text.parse().ok()?;
        Some(Self { host: pattern.host().clone(), port: pattern.port() })
    }

    /// Whether it names this very address. Nobody can point an address at us that is not ours.
    fn is(&self, local: SocketAddr) -> bool {
        let own = HostPattern::address(local.ip().to_canonical(), local.port());
        self.port.is_some_and(|port| own.matches(&self.host, port))
    }
}

fn foreign_host(detail: &'static str) -> Problem {
    Problem::new(problem::FOREIGN_HOST).detail(detail)
}

/// What is to be done with a request, going by where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It may pass.
    Pass,
    /// It may pass as that of somebody who is not signed in.
    PassWithoutCookie,
    /// It may not pass.
    Foreign,
}

/// Where a request comes from, by what browsers say.
fn verdict(
    method: &Method,
    headers: &HeaderMap,
    with_cookie: bool,
    is_own: impl Fn(&HeaderValue) -> bool,
) -> Verdict {
    let safe = is_safe(method);
    if safe && !with_cookie {
        return Verdict::Pass;
    }
    let mut origins = headers.get_all(ORIGIN).iter();
    let origin = origins.next().map(|origin| is_own(origin) && origins.next().is_none());
    let site = headers.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes);
    let foreign_site = !matches!(site, None | Some(b"same-origin" | b"none"));
    if origin == Some(false) || foreign_site {
        // Somebody follows a link from elsewhere. They see the page for those who are not signed in,
        // which looks again from here.
        let says = |name, value: &str| headers.get(name).is_some_and(|said| said == value);
        let visit = method == Method::GET
            && origin.is_none()
            && says(SEC_FETCH_MODE, "navigate")
            && says(SEC_FETCH_DEST, "document");
        return if visit { Verdict::PassWithoutCookie } else { Verdict::Foreign };
    }
    // Every browser says where a request comes from that changes something.
    let known = origin == Some(true) || site == Some(b"same-origin");
    if safe || known || !with_cookie { Verdict::Pass } else { Verdict::Foreign }
}

/// Lets a request pass only if it names this server and comes from no foreign page.
pub async fn check(State(hosts): State<Arc<Hosts>>, mut request: Request, next: Next) -> Response {
    let Some(peer) = request.extensions().get::<Peer>().copied() else {
        tracing::error!("a request without the ends of its connection");
        return Problem::new(problem::INTERNAL).into_response();
    };
    let named = match hosts.named(&request, &peer) {
        Ok(named) => named,
        Err(problem) => return problem.into_response(),
    };
    let is_own = |origin: &HeaderValue| hosts.is_own(origin, &named, &peer);
    let with_cookie = hosts.cookies.is_in(request.headers());
    match verdict(request.method(), request.headers(), with_cookie, is_own) {
        Verdict::Pass => next.run(request).await,
        Verdict::PassWithoutCookie => {
            request.headers_mut().remove(COOKIE);
            next.run(request).await
        }
        Verdict::Foreign => Problem::new(problem::FOREIGN_ORIGIN)
            .detail("a page of another origin has made the browser send this")
            .into_response(),
    }
}

/// Puts the headers on every answer that keep foreign pages off it.
pub async fn headers(State(hosts): State<Arc<Hosts>>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // A page may have a policy of its own, and an asset may be kept.
    for (name, value) in [(CONTENT_SECURITY_POLICY, CONTENT_POLICY), (CACHE_CONTROL, "no-store")] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    // It holds for all ports of a host, so it is only said where the host is ours alone.
    if hosts.public.as_ref().is_some_and(|url| url.is_https() && url.has_standard_port()) {
        headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    response
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::extract::Request;
    use http::{HeaderMap, Method};

    use super::{Hosts, Named, Verdict, verdict};
    use crate::access::Cookies;
    use crate::config::Config;
    use crate::web::Peer;

    fn hosts(file: &str, listening: &str) -> Hosts {
        Hosts::new(&toml::from_str::<Config>(file).unwrap(), listening.parse().unwrap())
    }

    fn peer(local: &str, tls: bool) -> Peer {
        Peer { remote: "192.0.2.9:50000".parse().unwrap(), local: local.parse().unwrap(), tls }
    }

    fn names(hosts: &Hosts, host: &str, local: &str) -> bool {
        let request = Request::get("/").header("host", host).body(Body::empty()).unwrap();
        hosts.named(&request, &peer(local, false)).is_ok()
    }

    #[test]
    fn a_server_on_loopback_has_the_names_of_loopback_with_its_port() {
        let hosts = hosts("", "127.0.0.1:7787");
        for host in
            ["127.0.0.1:7787", "localhost:7787", "LOCALHOST:7787", "localhost.:7787", "[::1]:7787"]
        {
            assert!(names(&hosts, host, "127.0.0.1:7787"), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:7787",
            "localhost",
            "localhost:80",
            "localhost:7788",
            "127.0.0.1",
            "127.0.0.2:7787",
            "localhost.evil.example:7787",
            "evil.localhost:7787",
            "me@localhost:7787",
            "localhost:7787/",
            "localhost:7787, evil.example",
            "",
            "0.0.0.0:7787",
        ] {
            assert!(!names(&hosts, host, "127.0.0.1:7787"), "{host}");
        }
    }

    #[test]
    fn a_server_for_all_addresses_has_the_one_that_was_reached() {
        let hosts = hosts("allowed_hosts = [\"box.example\"]", "0.0.0.0:7787");
        assert!(names(&hosts, "192.0.2.1:7787", "192.0.2.1:7787"));
        assert!(names(&hosts, "192.0.2.1:7787", "[::ffff:192.0.2.1]:7787"));
        assert!(!names(&hosts, "192.0.2.1:7787", "192.0.2.2:7787"));
        assert!(names(&hosts, "box.example", "192.0.2.1:7787"));
        assert!(names(&hosts, "box.example:1", "192.0.2.1:7787"));
        assert!(!names(&hosts, "www.box.example", "192.0.2.1:7787"));
    }

    #[test]
    fn the_public_url_is_a_name_with_its_port() {
        let hosts = hosts("public_url = \"https://agents.example.org\"", "127.0.0.1:7787");
        for (host, known) in [
            ("agents.example.org", true),
            ("agents.example.org:443", true),
            ("agents.example.org:8443", false),
            ("example.org", false),
        ] {
            assert_eq!(names(&hosts, host, "127.0.0.1:7787"), known, "{host}");
        }
    }

    #[test]
    fn a_request_has_one_host() {
        let hosts = hosts("", "127.0.0.1:7787");
        let peer = peer("127.0.0.1:7787", false);
        let request = |uri: &str, names: &[&str]| {
            let mut request = Request::get(uri);
            for host in names {
                request = request.header("host", *host);
            }
            hosts.named(&request.body(Body::empty()).unwrap(), &peer).is_ok()
        };
        let own = "127.0.0.1:7787";
        assert!(request("/", &[own]));
        assert!(request("http://127.0.0.1:7787/", &[own]));
        assert!(!request("/", &[]));
        assert!(!request("/", &[own, own]));
        assert!(!request("/", &[own, "evil.example"]));
        assert!(!request("http://evil.example/", &[own]));
        assert!(!request("http://127.0.0.1:7787/", &["evil.example"]));
    }

    #[test]
    fn an_origin_is_ours_when_scheme_host_and_port_are() {
        let own = |file: &str, host: &str, origin: &str, tls: bool| {
            let hosts = hosts(file, "127.0.0.1:7787");
            let named = Named::parse(host).unwrap();
            hosts.is_own(&origin.parse().unwrap(), &named, &peer("127.0.0.1:7787", tls))
        };
        assert!(own("", "127.0.0.1:7787", "http://127.0.0.1:7787", false));
        assert!(own("", "localhost:7787", "http://localhost:7787", false));
        assert!(own("", "localhost:7787", "https://localhost:7787", true));
        for origin in [
            "null",
            "http://localhost:7787",
            "http://127.0.0.1",
            "http://127.0.0.1:3000",
            "https://127.0.0.1:7787",
            "http://evil.example",
            "http://127.0.0.1:7787.evil.example",
            "http://127.0.0.1:7787/path",
            "file://",
            "",
        ] {
            assert!(!own("", "127.0.0.1:7787", origin, false), "{origin}");
        }
        assert!(!own("", "localhost:7787", "http://localhost:7787", true));

        let proxied = "public_url = \"https://box.example\"";
        assert!(own(proxied, "box.example", "https://box.example", false));
        assert!(!own(proxied, "box.example", "http://box.example", false));
        assert!(own(proxied, "127.0.0.1:7787", "http://127.0.0.1:7787", false));
    }

    /// What becomes of a request with these headers; `Origin: own` is ours.
    fn judge(method: &Method, said: &[(&'static str, &str)]) -> Verdict {
        let headers: HeaderMap = said
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        let with_cookie = Cookies::new(7787, false).is_in(&headers);
        verdict(method, &headers, with_cookie, |origin| origin == "own")
    }

    const COOKIE: (&str, &str) = ("cookie", "a=b; countersign-7787=c");

    #[test]
    fn a_cookie_of_somebody_else_on_the_host_says_nothing() {
        for other in ["a=b", "countersign-7788=c", "x=countersign-7787=c", "countersign-7787"] {
            assert_eq!(judge(&Method::POST, &[("cookie", other)]), Verdict::Pass, "{other}");
            let foreign = [("cookie", other), ("origin", "https://evil.example")];
            assert_eq!(judge(&Method::POST, &foreign), Verdict::Foreign, "{other}");
        }
        for own in ["countersign-7787=", "a=b;countersign-7787=c", " countersign-7787 =c"] {
            assert_eq!(judge(&Method::POST, &[("cookie", own)]), Verdict::Foreign, "{own}");
        }
    }

    #[test]
    fn a_program_without_a_cookie_need_not_say_where_it_comes_from() {
        for method in [Method::GET, Method::POST, Method::DELETE] {
            assert_eq!(judge(&method, &[("authorization", "Bearer …")]), Verdict::Pass);
        }
    }

    #[test]
    fn a_page_of_ours_may_do_everything() {
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let method = |said: &[(&'static str, &str)]| judge(&method, said);
            assert_eq!(method(&[COOKIE, ("origin", "own")]), Verdict::Pass);
            assert_eq!(method(&[COOKIE, ("sec-fetch-site", "same-origin")]), Verdict::Pass);
            let both = [COOKIE, ("origin", "own"), ("sec-fetch-site", "same-origin")];
            assert_eq!(method(&both), Verdict::Pass);
        }
    }

    #[test]
    fn a_foreign_page_may_change_nothing_with_or_without_a_cookie() {
        for said in [
            ("origin", "https://evil.example"),
            ("origin", "null"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
            ("sec-fetch-site", "something new"),
        ] {
            for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::TRACE]
            {
                assert_eq!(judge(&method, &[said]), Verdict::Foreign, "{said:?}");
                assert_eq!(judge(&method, &[said, COOKIE]), Verdict::Foreign, "{said:?}");
            }
            assert_eq!(judge(&Method::GET, &[said, COOKIE]), Verdict::Foreign, "{said:?}");
        }
        let mixed = [COOKIE, ("origin", "own"), ("sec-fetch-site", "cross-site")];
        assert_eq!(judge(&Method::POST, &mixed), Verdict::Foreign);
        let two = [COOKIE, ("origin", "own"), ("origin", "own")];
        assert_eq!(judge(&Method::POST, &two), Verdict::Foreign);
    }

    #[test]
    fn a_change_with_a_cookie_has_to_say_where_it_comes_from() {
        assert_eq!(judge(&Method::POST, &[COOKIE]), Verdict::Foreign);
        assert_eq!(judge(&Method::POST, &[COOKIE, ("sec-fetch-site", "none")]), Verdict::Foreign);
        // Browsers that get no encryption do not say it for a page.
        assert_eq!(judge(&Method::GET, &[COOKIE]), Verdict::Pass);
        assert_eq!(judge(&Method::GET, &[COOKIE, ("sec-fetch-site", "none")]), Verdict::Pass);
    }

    #[test]
    fn who_follows_a_link_from_elsewhere_is_not_signed_in_yet() {
        let visit = |site, mode, dest| {
            judge(
                &Method::GET,
                &[
                    COOKIE,
                    ("sec-fetch-site", site),
                    ("sec-fetch-mode", mode),
                    ("sec-fetch-dest", dest),
                ],
            )
        };
        assert_eq!(visit("cross-site", "navigate", "document"), Verdict::PassWithoutCookie);
        assert_eq!(visit("same-site", "navigate", "document"), Verdict::PassWithoutCookie);
        assert_eq!(visit("cross-site", "navigate", "iframe"), Verdict::Foreign);
        assert_eq!(visit("cross-site", "no-cors", "image"), Verdict::Foreign);
        assert_eq!(visit("same-site", "cors", "empty"), Verdict::Foreign);
    }
}
