//! Webhooks: what is told to whom, in which order, how often, and after a restart.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::permission::PermissionMode;
use countersign_server::access::{Clock as _, ManualClock};
use countersign_server::bus::Bus;
use countersign_server::config::{Webhook, WebhookEvent};
use countersign_server::id::{ApprovalId, ConversationId, SessionId};
use countersign_server::session::{
    Answer, ApprovalAnswered, ApprovalKind, ApprovalOpened, By, Created, Failed, Happening, Noted,
    ProcessEnded, ProcessStarted, ProcessStarting, ResumeAsked, Stage as Come, State, StopAsked,
};
use countersign_server::store::{AuditFilter, SqliteSettings, SqliteStore, Store as _, Write};
use countersign_server::webhook::{
    Notice, Patience, Post, SIGNATURE, TOLERANCE, WebhookError, Webhooks, verify,
};
use jiff::SignedDuration;
use serde_json::json;
use tempfile::TempDir;

use crate::wire::{Came, Stage};

const SECRET: &str = "0123456789abcdef";
const OK: &str = "HTTP/1.1 204 No Content\r\n\r\n";

/// A store in which things happen, without anybody who does them.
struct Log {
    folder: TempDir,
    store: Arc<SqliteStore>,
    bus: Arc<Bus>,
    clock: Arc<ManualClock>,
}

impl Log {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::new("2026-11-18T08:00:00Z".parse().unwrap()));
        Self::open(folder, clock).await
    }

    async fn open(folder: TempDir, clock: Arc<ManualClock>) -> Self {
        let bus = Arc::new(Bus::new());
        let settings = SqliteSettings { clock: clock.clone(), ..SqliteSettings::default() };
        let file: PathBuf = folder.path().join("countersign.db");
        let store = SqliteStore::open_with(file, bus.clone(), settings).await.unwrap();
        Self { folder, store: Arc::new(store), bus, clock }
    }

    /// The same after the server was gone.
    async fn again(self) -> Self {
        self.store.close().await.unwrap();
        let Self { folder, clock, .. } = self;
        Self::open(folder, clock).await
    }

    async fn start(&self, webhooks: &[Webhook]) -> Webhooks {
        self.try_start(webhooks).await.unwrap()
    }

    async fn try_start(&self, webhooks: &[Webhook]) -> Result<Webhooks, WebhookError> {
        let patience = Patience {
            first: Duration::from_millis(5),
            most: Duration::from_millis(20),
            ..Patience::default()
        };
        let post = Post {
            store: self.store.clone(),
            bus: self.bus.clone(),
            clock: self.clock.clone(),
            url: "https://agents.example.org".into(),
            patience,
        };
        Webhooks::start(webhooks, post).await
    }

    async fn write(&self, session: SessionId, happenings: Vec<Happening>) {
        self.store.write(Write::to(session, happenings)).await.unwrap();
    }

    /// A session with a process.
    async fn session(&self) -> SessionId {
        let session = SessionId::new();
        let mut happens = vec![created()];
        happens.extend(started(1));
        self.write(session, happens).await;
        session
    }

    /// A person is asked.
    async fn ask(&self, session: SessionId) -> ApprovalId {
        let approval = ApprovalId::new();
        self.write(session, vec![asked(approval)]).await;
        approval
    }
}

fn created() -> Happening {
    Created {
        folder: "/work/é".into(),
        title: "a title".into(),
        labels: Default::default(),
        mode: PermissionMode::Default,
        model: None,
        options: Default::default(),
        conversation: ConversationId::new(),
        parent: None,
        by: By::Server,
    }
    .into()
}

fn started(generation: u64) -> [Happening; 2] {
    let (process, mark, version) = (None, None, None);
    [
        ProcessStarting { generation }.into(),
        ProcessStarted { generation, process, mark, version }.into(),
    ]
}

fn ended(generation: u64) -> Happening {
    ProcessEnded { generation, why: "idle".into(), failed: false }.into()
}

fn stop() -> Happening {
    StopAsked { by: By::Server }.into()
}

fn asked(approval: ApprovalId) -> Happening {
    ApprovalOpened {
        approval,
        generation: 1,
        turn: None,
        kind: ApprovalKind::Tool,
        tool: "Bash".into(),
        tool_use_id: Some("call".into()),
        agent: Some("agent-1".into()),
        request: json!({"tool_name": "Bash", "input": {"command": "cat secrets"}}).into(),
        token: None,
    }
    .into()
}

fn hook(url: &str, events: &[&str]) -> Webhook {
    let events: Vec<_> = events.iter().map(|event| format!("{event:?}")).collect();
    let events = events.join(",");
    let events = if events.is_empty() { String::new() } else { format!("events = [{events}]") };
    toml::from_str(&format!("url = {url:?}\nsecret = {SECRET:?}\n{events}")).unwrap()
}

fn notice(came: &Came) -> Notice {
    serde_json::from_str(&came.body).unwrap()
}

#[tokio::test]
async fn a_receiver_is_told_signed_and_in_short() {
    let (log, stage) = (Log::new().await, Stage::new().await);
    let hooks = log.start(&[hook(&format!("{}/hook?key=a", stage.url()), &[])]).await;
    let session = log.session().await;
    let approval = log.ask(session).await;
    let came = stage.answer(OK).await;
    assert_eq!(came.line, "POST /hook?key=a HTTP/1.1");
    assert_eq!(came.header("content-type"), Some("application/json"));
    let signature = came.header(SIGNATURE).unwrap();
    let now = log.clock.now();
    verify(SECRET, signature, came.body.as_bytes(), now, TOLERANCE).unwrap();
    assert!(verify("another secret!!", signature, came.body.as_bytes(), now, TOLERANCE).is_err());
    let told: serde_json::Value = serde_json::from_str(&came.body).unwrap();
    let id = notice(&came).id;
    assert_eq!(
        told,
        json!({
            "id": id,
            "type": "approval.opened",
            "at": "2026-11-18T08:00:00Z",
            "session":
                {"id": session, "title": "a title", "folder": "/work/é", "state": "waiting"},
            "approval":
                {"id": approval, "kind": "tool", "tool": "Bash", "agent": "agent-1", "stage": "open"},
            "link": format!("https://agents.example.org/sessions/{session}#approval-{approval}"),
        })
    );
    hooks.close().await;
}

#[tokio::test]
async fn who_does_not_hear_is_told_again_and_the_order_stays() {
    let (log, stage) = (Log::new().await, Stage::new().await);
    let hooks = log.start(&[hook(&stage.url(), &[])]).await;
    let session = log.session().await;
    let first = log.ask(session).await;
    let second = log.ask(session).await;
    let mut ids = Vec::new();
    for answer in [
        "HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n",
        "",
        "HTTP/1.1 307 Elsewhere\r\nlocation: /other\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n",
        // The status counts, and not what is said besides.
        "HTTP/1.1 200 Yes\r\ncontent-length: 100\r\n\r\nhalf of",
    ] {
        let came = stage.answer(answer).await;
        assert!(came.line.starts_with("POST / "), "{}", came.line);
        let notice = notice(&came);
        assert_eq!(notice.approval.unwrap().id, first);
        ids.push(notice.id);
    }
    ids.dedup();
    assert_eq!(ids.len(), 1, "it is the same each time");
    let came = notice(&stage.answer(OK).await);
    assert_eq!(came.approval.unwrap().id, second);
    assert_ne!(came.id, ids[0]);
    hooks.close().await;
}

#[tokio::test]
async fn what_is_told_late_is_as_it_is_by_then() {
    let (log, stage) = (Log::new().await, Stage::new().await);
    let hooks = log.start(&[hook(&stage.url(), &[])]).await;
    let session = log.session().await;
    let approval = log.ask(session).await;
    let first = notice(&stage.answer("").await);
    assert_eq!(first.approval.unwrap().stage, Come::Open);
    let answer = Answer::allow();
    let answered = ApprovalAnswered { approval, answer, by: By::Server, child: None };
    // It may have been told again before this is written.
    let write = log.write(session, vec![answered.into()]);
    let mut told = None;
    let tell = async {
        while told != Some(Come::Answered) {
            told = Some(notice(&stage.answer("").await).approval.unwrap().stage);
        }
    };
    tokio::join!(write, tell);
    hooks.close().await;
}

#[tokio::test]
async fn how_far_a_receiver_has_come_survives_a_restart() {
    let (mut log, stage) = (Log::new().await, Stage::new().await);
    let webhooks = [hook(&stage.url(), &[])];
    let session = log.session().await;
    log.ask(session).await;
    // What happened before it was there is not told.
    let hooks = log.start(&webhooks).await;
    let told = log.ask(session).await;
    assert_eq!(notice(&stage.answer(OK).await).approval.unwrap().id, told);

    // It has heard this one, and the server ends before it could say so.
    let under_way = log.ask(session).await;
    let mut connection = stage.accept().await;
    let came = notice(&connection.request().await.unwrap());
    assert_eq!(came.approval.unwrap().id, under_way);
    hooks.close().await;
    connection.gone().await;

    // Nobody tells of this one.
    let meanwhile = log.ask(session).await;
    log = log.again().await;
    let hooks = log.start(&webhooks).await;
    let again = notice(&stage.answer(OK).await);
    assert_eq!((again.id, again.approval.unwrap().id), (came.id, under_way));
    assert_eq!(notice(&stage.answer(OK).await).approval.unwrap().id, meanwhile);
    let after = log.ask(session).await;
    assert_eq!(notice(&stage.answer(OK).await).approval.unwrap().id, after);
    hooks.close().await;
}

#[tokio::test]
async fn one_that_is_down_holds_up_nobody_else() {
    let (log, up, down) = (Log::new().await, Stage::new().await, Stage::new().await);
    let gone = hook(&down.url(), &[]);
    drop(down);
    let silent = Stage::new().await;
    let hooks = log.start(&[gone, hook(&silent.url(), &[]), hook(&up.url(), &[])]).await;
    let session = log.session().await;
    for _ in 0..5 {
        let approval = log.ask(session).await;
        assert_eq!(notice(&up.answer(OK).await).approval.unwrap().id, approval);
    }
    // Also one that takes the connection and says nothing does not keep the server from stopping.
    let mut connection = silent.accept().await;
    connection.request().await.unwrap();
    hooks.close().await;
}

#[tokio::test]
async fn what_nobody_hears_for_a_day_is_given_up_and_noted() {
    let (log, stage) = (Log::new().await, Stage::new().await);
    let url = format!("{}/secret-path", stage.url());
    let hooks = log.start(&[hook(&url, &[])]).await;
    let session = log.session().await;
    let first = log.ask(session).await;
    let refused = "HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n";
    stage.answer(refused).await;
    log.clock.pass(SignedDuration::from_hours(23));
    stage.answer(refused).await;
    let second = log.ask(session).await;
    log.clock.pass(SignedDuration::from_hours(2));
    // Once or twice more, and then the next one.
    let id = loop {
        let id = notice(&stage.answer(refused).await).approval.unwrap().id;
        if id != first {
            break id;
        }
    };
    assert_eq!(id, second, "it is two hours old");
    assert_eq!(notice(&stage.answer(OK).await).approval.unwrap().id, second);
    let filter =
        AuditFilter { kind: Some("webhook.given_up".into()), limit: 10, ..AuditFilter::default() };
    let noted = log.store.audit(filter).await.unwrap().items;
    let [noted] = &noted[..] else { panic!("{noted:?}") };
    assert_eq!((noted.session, noted.approval), (Some(session), Some(first)));
    assert!(noted.detail.as_str().contains("503"), "{}", noted.detail);
    assert!(!noted.detail.as_str().contains("secret-path"), "{}", noted.detail);
    hooks.close().await;
}

#[tokio::test]
async fn the_end_of_a_session_is_told_once() {
    let (log, stage) = (Log::new().await, Stage::new().await);
    let hooks = log.start(&[hook(&stage.url(), &["session.ended"])]).await;
    let next = async || {
        let notice = notice(&stage.answer(OK).await);
        assert_eq!(notice.event, WebhookEvent::SessionEnded);
        assert!(notice.approval.is_none() && notice.why.is_none());
        notice.session.id
    };

    // A process that was given up, and one that goes on although it was to stop.
    let [idle, resumed] = [log.session().await, log.session().await];
    log.write(idle, vec![ended(1)]).await;
    log.write(resumed, vec![stop(), ResumeAsked { by: By::Server }.into(), ended(1)]).await;

    let stopped = log.session().await;
    log.write(stopped, vec![stop()]).await;
    log.write(stopped, vec![Noted { text: "it ends".into() }.into(), stop(), ended(1)]).await;
    // And again, which makes no difference.
    log.write(stopped, vec![stop()]).await;
    assert_eq!(next().await, stopped);

    // Without a process.
    log.write(idle, vec![stop()]).await;
    assert_eq!(next().await, idle);

    // It is brought back, and ends once more.
    log.write(stopped, vec![ResumeAsked { by: By::Server }.into()]).await;
    log.write(stopped, started(2).into()).await;
    log.write(stopped, vec![stop(), ended(2), Noted { text: "later".into() }.into()]).await;
    assert_eq!(next().await, stopped);

    // One that has failed does not end as well.
    let failed = log.session().await;
    log.write(failed, vec![ended(1), Failed { why: "a".into() }.into(), stop()]).await;
    log.write(resumed, vec![stop()]).await;
    assert_eq!(next().await, resumed);
    hooks.close().await;
}

#[tokio::test]
async fn the_end_is_found_in_a_long_log() {
    let (log, stage) = (Log::new().await, Stage::new().await);
    let hooks = log.start(&[hook(&stage.url(), &["session.ended"])]).await;
    let [session, other] = [log.session().await, log.session().await];
    let talk = |count: usize| -> Vec<Happening> {
        (0..count).map(|number| Noted { text: number.to_string() }.into()).collect()
    };
    log.write(other, talk(700)).await;
    log.write(other, vec![ended(1), Noted { text: "more".into() }.into()]).await;
    let mut happens = vec![stop()];
    happens.extend(talk(700));
    happens.push(ended(1));
    happens.extend(talk(1));
    log.write(session, happens).await;
    let told = notice(&stage.answer(OK).await);
    assert_eq!((told.session.id, told.session.state), (session, State::Ended));
    hooks.close().await;
}

#[tokio::test]
async fn a_failure_is_told_with_its_reason_and_only_what_was_asked_for_is_told() {
    let (log, stage) = (Log::new().await, Stage::new().await);
    let hooks = log.start(&[hook(&stage.url(), &["session.failed"])]).await;
    let session = log.session().await;
    log.ask(session).await;
    log.write(session, vec![stop(), ended(1)]).await;
    log.write(session, vec![Failed { why: "too often; it said: a secret".into() }.into()]).await;
    let came = notice(&stage.answer(OK).await);
    assert_eq!(came.event, WebhookEvent::SessionFailed);
    assert_eq!((came.session.state, came.why.as_deref()), (State::Failed, Some("too often")));
    assert_eq!(came.link, format!("https://agents.example.org/sessions/{session}"));
    hooks.close().await;
}

#[tokio::test]
async fn a_session_that_was_deleted_is_not_told_of_and_not_waited_for() {
    let (log, stage) = (Log::new().await, Stage::new().await);
    let hooks = log.start(&[hook(&stage.url(), &[])]).await;
    let [gone, stays] = [log.session().await, log.session().await];
    let lost = log.ask(gone).await;
    log.write(gone, vec![ended(1)]).await;
    let token = countersign_server::id::TokenId::new();
    let person = By::Person { name: "Ada".to_owned(), token, from: None };
    log.store.delete(gone, person).await.unwrap();
    let approval = log.ask(stays).await;
    loop {
        // It may have been told before it was deleted.
        let id = notice(&stage.answer("").await).approval.unwrap().id;
        if id == approval {
            break;
        }
        assert_eq!(id, lost);
    }
    hooks.close().await;
}

#[tokio::test]
async fn a_receiver_that_is_slow_misses_nothing() {
    let (log, stage) = (Log::new().await, Stage::new().await);
    let hooks = log.start(&[hook(&stage.url(), &["approval.opened"])]).await;
    let session = log.session().await;
    let first = log.ask(session).await;
    let mut connection = stage.accept().await;
    assert_eq!(notice(&connection.request().await.unwrap()).approval.unwrap().id, first);
    // More than the bus keeps for anybody.
    let talk = (0..3000).map(|number| Noted { text: number.to_string() }.into()).collect();
    log.write(session, talk).await;
    let second = log.ask(session).await;
    connection.say(OK).await;
    drop(connection);
    assert_eq!(notice(&stage.answer(OK).await).approval.unwrap().id, second);
    hooks.close().await;
}

#[tokio::test]
async fn two_with_the_same_address_do_not_take_from_each_other() {
    let (log, stage) = (Log::new().await, Stage::new().await);
    let url = stage.url();
    let webhooks = [hook(&url, &["approval.opened"]), hook(&url, &["session.failed"])];
    let hooks = log.start(&webhooks).await;
    let session = log.session().await;
    let failing = log.session().await;
    // Only the first is told anything, so only it moves on.
    log.ask(session).await;
    stage.answer(OK).await;
    hooks.close().await;
    log.write(failing, vec![ended(1), Failed { why: "a".into() }.into()]).await;
    let approval = log.ask(session).await;
    let hooks = log.start(&webhooks).await;
    let (mut asked, mut failed) = (false, false);
    while !asked || !failed {
        // The first one may come again: nobody knows whether that it was heard was noted in time.
        let notice = notice(&stage.answer(OK).await);
        asked |= notice.approval.is_some_and(|asked| asked.id == approval);
        failed |= notice.event == WebhookEvent::SessionFailed && notice.session.id == failing;
    }
    hooks.close().await;
}

#[tokio::test]
async fn what_cannot_be_called_or_signed_is_refused_at_the_start() {
    let log = Log::new().await;
    let named = hook("https://user:pass@example.org/", &[]);
    let error = log.try_start(&[named]).await.unwrap_err();
    assert!(matches!(error, WebhookError::Address { .. }), "{error}");
    let unsigned: Webhook = toml::from_str("url = \"https://example.org/\"").unwrap();
    let error = log.try_start(&[unsigned]).await.unwrap_err();
    assert!(matches!(error, WebhookError::Secret { .. }), "{error}");
    let nothing: Webhook =
        toml::from_str(&format!("url = \"https://example.org\"\nsecret = {SECRET:?}\nevents = []"))
            .unwrap();
    log.start(&[nothing]).await.close().await;
}
