//! The client and the real API, with a way between them on which connections get lost.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use countersign_server::access::{
    self, Access, Cookies, MemoryAccess, NewToken, Scope, Streams, SystemClock,
};
use countersign_server::api::view::{ListEvents, ListSessions, Part};
use countersign_server::api::{self, Api, Info};
use countersign_server::bus::Bus;
use countersign_server::client::{Client, Followed, Following};
use countersign_server::config::{Config, Roots};
use countersign_server::hub::{Hub, Settings};
use countersign_server::id::{ApprovalId, SessionId};
use countersign_server::service::{NewSession, Service};
use countersign_server::session::{
    Answer, ApprovalKind, ApprovalOpened, By, Happening, Noted, ProcessStarted, ProcessStarting,
    Stage,
};
use countersign_server::store::{SqliteStore, Store as _, Write};
use countersign_server::web::Shell;
use countersign_server::web::guard::Hosts;
use countersign_server::web::metrics::Metrics;
use countersign_server::web::serve::Server;
use jiff::Timestamp;
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, copy, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// A server with sessions that nobody attends to, for as long as the test lasts.
struct Running {
    folder: TempDir,
    store: Arc<SqliteStore>,
    url: String,
    token: String,
    way: Way,
    _tasks: JoinSet<()>,
}

/// The way to a server.
struct Way {
    url: String,
    /// How many answers get lost: the server has done its work, and nobody hears of it.
    loses: Arc<AtomicUsize>,
    /// Ends all connections.
    cut: Arc<tokio::sync::Notify>,
}

impl Running {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bus = Arc::new(Bus::new());
        let file: PathBuf = folder.path().join("countersign.db");
        let store = Arc::new(SqliteStore::open(file, bus.clone()).await.unwrap());
        let hub = Hub::new(store.clone(), bus, Settings::default());
        let roots = Roots::new(&[folder.path().to_owned()]).unwrap();
        // Requests come by another port than the server listens on.
        let file = "listen = \"127.0.0.1:0\"\nallowed_hosts = [\"127.0.0.1\"]";
        let config: Config = toml::from_str(file).unwrap();
        let server = Server::bind(&config).await.unwrap();
        let address = server.address();
        let access = Arc::new(Access::new(
            Arc::new(MemoryAccess::default()),
            Arc::new(SystemClock),
            Cookies::of(&config, address),
            config.url(address),
        ));
        let new = NewToken { name: "test".into(), scope: Scope::Admin, expires_at: None };
        let token = access.create_token(new).await.unwrap().0.expose().to_owned();
        let info = Info { backups: folder.path().join("copies"), started_at: Timestamp::now() };
        let service = Service::new(hub, roots);
        let streams = Streams::at_most(100);
        let api = Api { service, info: Arc::new(info), access: access.clone(), streams };
        let shell = Shell {
            hosts: Arc::new(Hosts::new(&config, address)),
            access: access.clone(),
            metrics: Arc::new(Metrics::default()),
            body: config.limits.body,
            request: config.limits.request,
        };
        let closed = Router::new()
            .nest("/api/v1", api::routes().with_state(api))
            .merge(access::api::routes().with_state(access));
        let routes = shell.around(Router::new(), closed);
        let mut tasks = JoinSet::new();
        let running = server.run(routes, CancellationToken::new());
        tasks.spawn(async move {
            running.await;
        });
        let way = Way::to(address, &mut tasks).await;
        let url = format!("http://{address}");
        Self { folder, store, url, token, way, _tasks: tasks }
    }

    /// A client that speaks to the server itself.
    fn near(&self) -> Client {
        Client::new(&self.url, &self.token).unwrap()
    }

    /// A client at the other end of the way.
    fn far(&self) -> Client {
        Client::new(&self.way.url, &self.token).unwrap()
    }

    fn new_session(&self) -> NewSession {
        let folder = self.folder.path().to_str().unwrap();
        serde_json::from_value(json!({"folder": folder, "title": "a session"})).unwrap()
    }

    async fn note(&self, session: SessionId, text: &str) {
        let noted: Happening = Noted { text: text.into() }.into();
        self.store.write(Write::to(session, vec![noted])).await.unwrap();
    }

    /// A person is asked in a session.
    async fn ask(&self, session: SessionId) -> ApprovalId {
        let approval = ApprovalId::new();
        let (generation, process, mark, version) = (1, None, None, None);
        let request = json!({"subtype": "can_use_tool", "tool_name": "Bash",
            "input": {"command": "ls"}, "tool_use_id": "call"});
        let opened = ApprovalOpened {
            approval,
            generation,
            turn: None,
            kind: ApprovalKind::Tool,
            tool: "Bash".into(),
            tool_use_id: Some("call".into()),
            agent: None,
            request: request.into(),
            token: None,
        };
        let happens = vec![
            ProcessStarting { generation }.into(),
            ProcessStarted { generation, process, mark, version }.into(),
            opened.into(),
        ];
        self.store.write(Write::to(session, happens)).await.unwrap();
        approval
    }

    /// How often something happened in a session.
    async fn count(&self, session: SessionId, kind: &str) -> usize {
        let events = self.store.events(session, 0, 1000).await.unwrap();
        events.iter().filter(|event| event.happening.kind() == kind).count()
    }
}

impl Way {
    async fn to(server: std::net::SocketAddr, tasks: &mut JoinSet<()>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let loses = Arc::new(AtomicUsize::new(0));
        let cut = Arc::new(tokio::sync::Notify::new());
        let way = Self { url, loses: loses.clone(), cut: cut.clone() };
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let near = listener.accept().await.unwrap().0;
                let (loses, cut) = (loses.clone(), cut.clone());
                connections.spawn(async move {
                    let far = TcpStream::connect(server).await.unwrap();
                    let ends = cut.notified();
                    tokio::select! {
                        () = carry(near, far, &loses) => {}
                        () = ends => {}
                    }
                });
            }
        });
        way
    }

    fn lose(&self, answers: usize) {
        self.loses.store(answers, Ordering::SeqCst);
    }

    fn cut(&self) {
        self.cut.notify_waiters();
    }
}

/// Carries a connection, until an answer gets lost.
async fn carry(mut near: TcpStream, mut far: TcpStream, loses: &AtomicUsize) {
    let lost = loses.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
    if lost.is_err() {
        drop(copy_bidirectional(&mut near, &mut far).await);
        return;
    }
    let (mut from_near, _to_near) = near.split();
    let (mut from_far, mut to_far) = far.split();
    // The answer has begun, so the work is done.
    let mut first = [0];
    tokio::select! {
        _ = copy(&mut from_near, &mut to_far) => {}
        _ = from_far.read(&mut first) => {}
    }
}

/// The texts of the next notes.
async fn notes(following: &mut Following, count: usize) -> Vec<String> {
    let mut texts = Vec::new();
    while texts.len() < count {
        if let Followed::Event(event) = following.next().await.unwrap().unwrap()
            && let Ok(Happening::Noted(noted)) = event.happening()
        {
            texts.push(noted.text);
        }
    }
    texts
}

#[tokio::test]
async fn a_command_is_carried_out_once_however_many_answers_get_lost() {
    let running = Running::new().await;
    let client = running.far();
    running.way.lose(2);
    let made = client.create_session(&running.new_session()).await.unwrap();
    let all = running.near().sessions(&ListSessions::default()).await.unwrap();
    assert_eq!(all.items.iter().map(|view| view.head.id).collect::<Vec<_>>(), [made.session]);
    // A connection that was used before is not used again: the way loses what comes over new ones.
    let client = running.far();
    running.way.lose(1);
    client.rename(made.session, "another title").await.unwrap();
    assert_eq!(running.count(made.session, "session.renamed").await, 1);
    assert_eq!(client.session(made.session).await.unwrap().head.title, "another title");
}

#[tokio::test]
async fn an_answer_counts_once_and_whoever_is_second_is_told_the_first() {
    let running = Running::new().await;
    let session = running.near().create_session(&running.new_session()).await.unwrap().session;
    let approval = running.ask(session).await;
    let inbox = running.near().inbox(&Part::default()).await.unwrap();
    assert_eq!(inbox.items.iter().map(|open| open.id).collect::<Vec<_>>(), [approval]);

    running.way.lose(1);
    let taken = running.far().answer(approval, Answer::deny("not today")).await.unwrap();
    assert_eq!((taken.session, taken.approval), (session, approval));
    assert_eq!(running.count(session, "approval.answered").await, 1);

    let error = running.near().answer(approval, Answer::allow()).await.unwrap_err();
    let first = error.already_answered().unwrap();
    assert_eq!(first.given.unwrap().answer, Answer::deny("not today"));
    assert_ne!(first.stage, Stage::Open);
    assert_eq!(running.count(session, "approval.answered").await, 1);
}

#[tokio::test]
async fn streams_go_on_over_connections_that_get_lost() {
    let running = Running::new().await;
    let client = running.far();
    let session = client.create_session(&running.new_session()).await.unwrap().session;
    running.note(session, "before").await;
    let mut one = client.follow(session, None).await.unwrap();
    let mut all = client.follow_all(None).await.unwrap();
    let mut past = client.follow(session, Some(0)).await.unwrap();
    // What the session is comes first, and after what the others go on is known by then.
    assert!(matches!(one.next().await.unwrap().unwrap(), Followed::Head(_)));
    assert_eq!(notes(&mut past, 1).await, ["before"]);
    running.note(session, "first").await;
    assert_eq!(notes(&mut all, 1).await, ["first"]);
    // While nobody is connected more happens than is read at once.
    running.way.cut();
    for number in 0..600 {
        running.note(session, &number.to_string()).await;
    }
    let mut expected = vec!["first".to_owned()];
    expected.extend((0..600).map(|number| number.to_string()));
    assert_eq!(notes(&mut one, 601).await, expected);
    assert_eq!(notes(&mut past, 601).await, expected);
    assert_eq!(notes(&mut all, 600).await, expected[1..]);
    let wanted = ListEvents { limit: Some(3), ..ListEvents::default() };
    let events = client.events(session, &wanted).await.unwrap();
    assert!(events.more);
    assert_eq!(events.items[0].kind, "session.created");
    // It is deleted, and the stream ends with that.
    let token = countersign_server::id::TokenId::new();
    let person = By::Person { name: "Ada".to_owned(), token, from: None };
    running.store.delete(session, person).await.unwrap();
    let last = loop {
        if let Followed::Event(event) = one.next().await.unwrap().unwrap() {
            break event;
        }
    };
    assert_eq!(last.kind, "session.deleted");
    assert!(one.next().await.is_none());
}

#[tokio::test]
async fn a_stream_that_is_lost_before_anything_happens_misses_nothing() {
    let running = Running::new().await;
    let client = running.far();
    let session = client.create_session(&running.new_session()).await.unwrap().session;
    let mut all = client.follow_all(None).await.unwrap();
    // Nothing is said but after what it goes on.
    let said = tokio::time::timeout(std::time::Duration::from_secs(240), async {
        while all.last().is_none() {
            let soon = std::time::Duration::from_millis(10);
            drop(tokio::time::timeout(soon, all.next()).await);
        }
    });
    said.await.unwrap();
    running.way.cut();
    running.note(session, "meanwhile").await;
    assert_eq!(notes(&mut all, 1).await, ["meanwhile"]);
}
