//! Tokens, links and browser sessions, without a network.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use countersign_server::access::first::{
    FirstLinkError, ReadTokenError, TOKEN_FILE, first_link, first_token, read_token,
};
use countersign_server::access::{
    Access, AccessError, AccessStore as _, Clock as _, Cookies, Identity, ManualClock,
    MemoryAccess, NewToken, Refusal, Scope, Seen, TokenRecord, Who,
};
use countersign_server::config::Secret;
use countersign_server::session::By;
use http::{HeaderMap, HeaderValue};
use jiff::{SignedDuration, Timestamp};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Access with a clock that the test moves.
struct Desk {
    access: Access,
    clock: Arc<ManualClock>,
    store: Arc<MemoryAccess>,
}

impl Desk {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::new("2026-11-18T08:00:00Z".parse().unwrap()));
        let store = Arc::new(MemoryAccess::default());
        let cookies = Cookies::new(7787, false);
        let access = Access::new(store.clone(), clock.clone(), cookies, "http://127.0.0.1:7787");
        Self { access, clock, store }
    }

    fn in_minutes(&self, minutes: i64) -> Timestamp {
        self.clock.now() + SignedDuration::from_mins(minutes)
    }

    async fn token(&self, scope: Scope) -> (Secret, TokenRecord) {
        let new = NewToken { name: "laptop".into(), scope, expires_at: None };
        self.access.create_token(new).await.unwrap()
    }

    async fn by_token(&self, text: &str) -> Result<Identity, Refusal> {
        self.by("authorization", &format!("Bearer {text}")).await.map(|(identity, _)| identity)
    }

    async fn by(
        &self,
        header: &'static str,
        value: &str,
    ) -> Result<(Identity, Option<HeaderValue>), Refusal> {
        let headers = HeaderMap::from_iter([(header.parse().unwrap(), value.parse().unwrap())]);
        match self.access.see(&headers, HERE).await {
            Seen::Somebody { identity, renewed } => Ok((identity, renewed)),
            Seen::Refused { refusal, .. } => Err(refusal),
            Seen::Nobody => Err(Refusal::Unknown),
        }
    }

    /// The code of a new link for whoever has this token.
    async fn code(&self, token: &Secret) -> String {
        let identity = self.by_token(token.expose()).await.unwrap();
        let (link, _) = self.access.create_login_link(&identity).await.unwrap();
        link.expose().split_once("http://127.0.0.1:7787/login#").unwrap().1.to_owned()
    }

    /// The `Cookie` header of a new browser that was let in with this token.
    async fn cookie(&self, token: &Secret) -> String {
        let login = self.access.login(&self.code(token).await, HERE).await.unwrap();
        login.cookie.to_str().unwrap().split(';').next().unwrap().to_owned()
    }
}

#[tokio::test]
async fn a_token_lets_in_with_its_name_and_scope() {
    let desk = Desk::new();
    for scope in Scope::ALL {
        let (text, token) = desk.token(scope).await;
        let identity = desk.by_token(text.expose()).await.unwrap();
        let who = Who::Token { id: token.id, name: "laptop".into() };
        assert_eq!(identity, Identity { who, scope, from: HERE });
    }
}

#[tokio::test]
async fn only_the_hash_of_a_token_is_kept() {
    let desk = Desk::new();
    let (text, token) = desk.token(Scope::Admin).await;
    let secret = text.expose().rsplit_once('_').unwrap().1;
    let kept = desk.store.token(token.id).await.unwrap().unwrap();
    let hash: String = kept.hash.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_ne!(hash, secret);
    assert!(!format!("{kept:?} {desk:?}", desk = desk.access).contains(secret));
}

#[tokio::test]
async fn a_token_with_a_wrong_secret_is_as_unknown_as_one_that_never_was() {
    let desk = Desk::new();
    let (text, token) = desk.token(Scope::Admin).await;
    let (other, _) = desk.token(Scope::Admin).await;
    let secret = other.expose().rsplit_once('_').unwrap().1;
    let mixed = format!("cst_{}_{secret}", token.id.uuid().simple());
    assert_eq!(desk.by_token(&mixed).await, Err(Refusal::Unknown));
    desk.access.revoke_token(By::Server, token.id).await.unwrap();
    let said = desk.by_token(&mixed).await;
    assert_eq!(said, Err(Refusal::Unknown), "who lacks the secret learns nothing");
    assert_eq!(desk.by_token(text.expose()).await, Err(Refusal::Revoked));
    let never = text.expose().replacen(&token.id.uuid().simple().to_string(), &"0".repeat(32), 1);
    assert_eq!(desk.by_token(&never).await, Err(Refusal::Unknown));
}

#[tokio::test]
async fn what_is_no_token_is_refused_whatever_it_is() {
    let desk = Desk::new();
    let (text, _) = desk.token(Scope::Admin).await;
    let text = text.expose();
    for value in [
        text.to_owned(),
        format!("Basic {text}"),
        format!("Bearer {text} {text}"),
        format!("Bearer {}", &text[4..]),
        "Bearer".into(),
        "Bearer ".into(),
        String::new(),
    ] {
        let refused = desk.by("authorization", &value).await.unwrap_err();
        assert_eq!(refused, Refusal::Malformed, "{value}");
    }
    let twice =
        HeaderMap::from_iter([0, 1].map(|_| {
            ("authorization".parse().unwrap(), format!("Bearer {text}").parse().unwrap())
        }));
    assert!(matches!(
        desk.access.see(&twice, HERE).await,
        Seen::Refused { refusal: Refusal::Malformed, .. }
    ));
}

#[tokio::test]
async fn a_token_that_is_not_valid_is_not_made_up_for_by_a_cookie() {
    let desk = Desk::new();
    let (text, _) = desk.token(Scope::Admin).await;
    let cookie = desk.cookie(&text).await;
    let headers = HeaderMap::from_iter([
        ("authorization".parse().unwrap(), "Bearer cst_nothing".parse().unwrap()),
        ("cookie".parse().unwrap(), cookie.parse().unwrap()),
    ]);
    assert!(matches!(desk.access.see(&headers, HERE).await, Seen::Refused { .. }));
}

#[tokio::test]
async fn a_token_ends_at_its_time() {
    let desk = Desk::new();
    let new = NewToken {
        name: "for a day".into(),
        scope: Scope::Read,
        expires_at: Some(desk.in_minutes(60)),
    };
    let (text, _) = desk.access.create_token(new).await.unwrap();
    let cookie = desk.cookie(&text).await;
    desk.clock.pass(SignedDuration::from_mins(59));
    assert!(desk.by_token(text.expose()).await.is_ok());
    assert!(desk.by("cookie", &cookie).await.is_ok());
    desk.clock.pass(SignedDuration::from_mins(1));
    assert_eq!(desk.by_token(text.expose()).await, Err(Refusal::Expired));
    assert_eq!(desk.by("cookie", &cookie).await.unwrap_err(), Refusal::Expired);
}

#[tokio::test]
async fn the_name_and_the_time_of_a_token_have_to_make_sense() {
    let desk = Desk::new();
    let make = |name: String, expires_at| {
        desk.access.create_token(NewToken { name, scope: Scope::Read, expires_at })
    };
    for name in ["".into(), "  ".into(), "a\nb".into(), "ä".repeat(101)] {
        assert!(matches!(make(name, None).await, Err(AccessError::Name)));
    }
    assert!(make("ä".repeat(100), None).await.is_ok());
    let now = Some(desk.clock.now());
    assert!(matches!(make("late".into(), now).await, Err(AccessError::Expired)));
}

#[tokio::test]
async fn it_is_noted_when_a_token_was_used_to_the_minute() {
    let desk = Desk::new();
    let (text, token) = desk.token(Scope::Read).await;
    let last_used = async || desk.store.token(token.id).await.unwrap().unwrap().last_used;
    assert_eq!(last_used().await, None);
    let first = desk.clock.now();
    desk.by_token(text.expose()).await.unwrap();
    assert_eq!(last_used().await, Some(first));
    desk.clock.pass(SignedDuration::from_secs(59));
    desk.by_token(text.expose()).await.unwrap();
    assert_eq!(last_used().await, Some(first));
    desk.clock.pass(SignedDuration::from_secs(1));
    desk.by_token(text.expose()).await.unwrap();
    assert_eq!(last_used().await, Some(desk.clock.now()));
}

#[tokio::test]
async fn a_link_lets_in_one_browser_with_the_rights_of_its_token() {
    let desk = Desk::new();
    let (text, token) = desk.token(Scope::Decide).await;
    let code = desk.code(&text).await;
    let login = desk.access.login(&code, HERE).await.unwrap();
    let cookie = login.cookie.to_str().unwrap().split(';').next().unwrap();
    let (identity, renewed) = desk.by("cookie", cookie).await.unwrap();
    let who = Who::Browser { id: login.browser.id, token: token.id, name: "laptop".into() };
    assert_eq!(identity, Identity { who, scope: Scope::Decide, from: HERE });
    assert_eq!(renewed, None);
    assert_eq!(desk.access.login(&code, HERE).await.unwrap_err(), Refusal::Unknown);
}

#[tokio::test]
async fn of_many_that_use_a_link_at_once_one_is_let_in() {
    let desk = Desk::new();
    let (text, _) = desk.token(Scope::Admin).await;
    let code = desk.code(&text).await;
    let tries =
        futures_util::future::join_all((0..10).map(|_| desk.access.login(&code, HERE))).await;
    assert_eq!(tries.iter().filter(|login| login.is_ok()).count(), 1);
}

#[tokio::test]
async fn a_link_is_good_for_ten_minutes() {
    let desk = Desk::new();
    let (text, _) = desk.token(Scope::Admin).await;
    let [in_time, late] = [desk.code(&text).await, desk.code(&text).await];
    desk.clock.pass(SignedDuration::from_secs(599));
    assert!(desk.access.login(&in_time, HERE).await.is_ok());
    desk.clock.pass(SignedDuration::from_secs(1));
    assert_eq!(desk.access.login(&late, HERE).await.unwrap_err(), Refusal::Unknown);
}

#[tokio::test]
async fn a_browser_stays_signed_in_while_it_is_used_and_thirty_days_beyond() {
    let desk = Desk::new();
    let (text, _) = desk.token(Scope::Admin).await;
    let cookie = desk.cookie(&text).await;
    for _ in 0..4 {
        desk.clock.pass(SignedDuration::from_hours(29 * 24));
        let (_, renewed) = desk.by("cookie", &cookie).await.unwrap();
        let renewed = renewed.unwrap();
        assert!(
            renewed.to_str().unwrap().starts_with(&format!("{cookie}; Path=/; Max-Age=2592000;"))
        );
    }
    desk.clock.pass(SignedDuration::from_hours(30 * 24));
    assert_eq!(desk.by("cookie", &cookie).await.unwrap_err(), Refusal::Expired);
    assert_eq!(desk.access.forget_expired().await.unwrap(), 1);
    assert_eq!(desk.by("cookie", &cookie).await.unwrap_err(), Refusal::Unknown);
}

#[tokio::test]
async fn with_its_token_a_browser_and_a_link_are_revoked() {
    let desk = Desk::new();
    let (text, token) = desk.token(Scope::Admin).await;
    let (cookie, code) = (desk.cookie(&text).await, desk.code(&text).await);
    assert!(desk.access.revoke_token(By::Server, token.id).await.unwrap());
    assert!(desk.by("cookie", &cookie).await.is_err());
    assert!(desk.access.login(&code, HERE).await.is_err());
}

#[tokio::test]
async fn a_browser_that_is_signed_out_is_not_let_in() {
    let desk = Desk::new();
    let (text, _) = desk.token(Scope::Admin).await;
    let cookie = desk.cookie(&text).await;
    let Who::Browser { id, .. } = desk.by("cookie", &cookie).await.unwrap().0.who else {
        panic!("a cookie is of a browser")
    };
    assert!(desk.access.logout(By::Server, id).await.unwrap());
    assert_eq!(desk.by("cookie", &cookie).await.unwrap_err(), Refusal::Unknown);
    assert!(!desk.access.logout(By::Server, id).await.unwrap());
}

#[tokio::test]
async fn who_fails_too_often_has_to_wait_and_who_is_valid_has_not() {
    let desk = Desk::new();
    let (text, _) = desk.token(Scope::Read).await;
    let mut refused = Vec::new();
    for _ in 0..100 {
        refused.push(desk.by_token("cst_wrong").await.unwrap_err());
    }
    assert_eq!(refused[0], Refusal::Malformed);
    assert!(matches!(refused[99], Refusal::TooMany { .. }));
    assert!(matches!(desk.access.login("csl_wrong", HERE).await, Err(Refusal::TooMany { .. })));
    assert!(desk.by_token(text.expose()).await.is_ok());
}

#[tokio::test]
async fn the_first_start_leaves_a_token_that_only_its_owner_can_read() {
    let desk = Desk::new();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("a/b");
    let file = first_token(&desk.access, &data).await.unwrap().unwrap();
    assert_eq!(file, data.join(TOKEN_FILE));
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(&data)), (0o600, 0o700));

    let text = read_token(&data).unwrap();
    assert_eq!(desk.by_token(text.expose()).await.unwrap().scope, Scope::Admin);
    assert_eq!(fs::read_dir(&data).unwrap().count(), 1, "nothing else is left behind");

    assert_eq!(first_token(&desk.access, &data).await.unwrap(), None);
    assert_eq!(read_token(&data).unwrap(), text);
}

#[tokio::test]
async fn a_token_that_was_revoked_is_not_followed_by_a_new_first_one() {
    let desk = Desk::new();
    let folder = tempfile::tempdir().unwrap();
    let (_, token) = desk.token(Scope::Admin).await;
    desk.access.revoke_token(By::Server, token.id).await.unwrap();
    assert_eq!(first_token(&desk.access, folder.path()).await.unwrap(), None);
}

#[tokio::test]
async fn a_first_token_that_was_not_kept_is_made_again() {
    let desk = Desk::new();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(TOKEN_FILE), "what a start left that was killed").unwrap();
    first_token(&desk.access, folder.path()).await.unwrap().unwrap();
    let text = read_token(folder.path()).unwrap();
    assert!(desk.by_token(text.expose()).await.is_ok());
}

#[tokio::test]
async fn a_token_file_that_others_can_read_is_not_used() {
    let desk = Desk::new();
    let folder = tempfile::tempdir().unwrap();
    let file = first_token(&desk.access, folder.path()).await.unwrap().unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(read_token(folder.path()), Err(ReadTokenError::Open { .. })));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&file, "something else").unwrap();
    assert!(matches!(read_token(folder.path()), Err(ReadTokenError::NotAToken { .. })));
    fs::remove_file(&file).unwrap();
    assert!(matches!(read_token(folder.path()), Err(ReadTokenError::Read { .. })));
}

#[tokio::test]
async fn the_owner_of_the_data_folder_has_a_link_for_as_long_as_the_token_is_valid() {
    let desk = Desk::new();
    let folder = tempfile::tempdir().unwrap();
    let none = first_link(&desk.access, folder.path()).await;
    assert!(matches!(none, Err(FirstLinkError::Read(_))), "{none:?}");
    first_token(&desk.access, folder.path()).await.unwrap().unwrap();
    let (link, _) = first_link(&desk.access, folder.path()).await.unwrap();
    let (_, code) = link.expose().split_once('#').unwrap();
    let login = desk.access.login(code, HERE).await.unwrap();
    assert_eq!(login.browser.scope, Scope::Admin);

    desk.access.revoke_token(By::Server, login.browser.token).await.unwrap();
    let revoked = first_link(&desk.access, folder.path()).await;
    assert!(matches!(revoked, Err(FirstLinkError::NotValid { .. })), "{revoked:?}");
}
