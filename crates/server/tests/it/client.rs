//! The client of the API: what it sends, what it makes of answers, and what it does when there is none.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use countersign_protocol::permission::PermissionMode;
use countersign_server::access::Scope;
use countersign_server::access::api::CreateToken;
use countersign_server::api::view::{
    ListAllEvents, ListApprovals, ListAudit, ListEvents, ListSessions, Part, SessionView,
};
use countersign_server::client::{Client, ClientError};
use countersign_server::id::{ApprovalId, BrowserId, MessageId, SessionId, TokenId, TurnId};
use countersign_server::outgoing::OutgoingError;
use countersign_server::service::{ForkSession, NewMessage, NewSession};
use countersign_server::session::{
    Answer, Approval, By, Created, Happening, Head, MessageContent, State as Doing,
};
use http::StatusCode;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::document;
use crate::wire::{Stage, answer, certificate, json as said, problem};

const AT: &str = "2026-11-18T08:00:00Z";

pub(crate) fn client(stage: &Stage) -> Client {
    Client::new(&stage.url(), "cst_secret").unwrap()
}

/// A session as it is when it was made.
pub(crate) fn view(session: SessionId) -> SessionView {
    let created = Created {
        folder: "/work".into(),
        title: "a title".into(),
        labels: BTreeSet::new(),
        mode: PermissionMode::Plan,
        model: None,
        options: Box::default(),
        conversation: Default::default(),
        parent: None,
        by: By::Server,
    };
    let at: Timestamp = AT.parse().unwrap();
    let head = Head::create(session, at, &Happening::from(created)).unwrap();
    SessionView::from(&head)
}

fn approval(id: ApprovalId) -> Value {
    json!({
        "id": id, "session": SessionId::new(), "turn": null, "kind": "tool", "tool": "Bash",
        "request": {"z": 1, "a": 2.50}, "stage": "answered", "opened_at": AT,
        "given": {"answer": {"deny": {"message": "no", "stop": false}}, "at": AT,
            "by": {"kind": "person", "name": "somebody", "token": TokenId::new()}},
    })
}

/// A server that answers everything, and remembers what it was asked.
#[derive(Clone, Default)]
struct Canned(Arc<Mutex<Vec<Asked>>>);

/// A request, as `GET /sessions`, and the key that came with it.
type Asked = (String, Option<String>);

async fn can(State(canned): State<Canned>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let header = |name: &str| parts.headers.get(name).map(|value| value.to_str().unwrap());
    assert_eq!(header("authorization"), Some("Bearer cst_secret"));
    if !body.is_empty() {
        assert_eq!(header("content-type"), Some("application/json"));
        serde_json::from_slice::<Value>(&body).unwrap();
    }
    let key = header("idempotency-key").map(str::to_owned);
    let is_get = parts.method == http::Method::GET;
    assert_eq!(key.is_none(), is_get, "every command has a key: {} {}", parts.method, parts.uri);
    let path = parts.uri.path().strip_prefix("/api/v1").unwrap();
    canned.0.lock().unwrap().push((format!("{} {path}", parts.method), key));
    let token = json!({"id": TokenId::new(), "name": "a", "scope": "read", "created_at": AT});
    let session = SessionId::new();
    let message = json!({"id": MessageId::new(), "session": session, "content": {"text": "a"},
        "by": {"kind": "server"}, "at": AT});
    let end = path.rsplit('/').find(|part| part.parse::<SessionId>().is_err()).unwrap();
    let body = match (end, is_get) {
        ("sessions", true) if path == "/sessions" => json!({"items": [view(session)], "next": "x"}),
        ("sessions", true) => json!(view(session)),
        ("approvals" | "inbox", true) if path.len() < 12 => json!({"items": [], "next": "x"}),
        ("approvals", true) => approval(ApprovalId::new()),
        ("answer", _) => json!({"session": session, "approval": ApprovalId::new()}),
        ("messages", true) => json!([message]),
        ("messages", false) => json!({"session": session, "message": MessageId::new()}),
        ("events", _) => json!({"items": [], "more": false}),
        ("plans", _) => json!([]),
        ("process", _) => json!({"is_alive": false, "unknown_frames": 0, "commands": []}),
        ("wire", _) => json!({"lines": [], "earlier": 0, "pieces": 0}),
        ("rules", _) => json!({"rules": [], "problems": []}),
        ("audit", _) => json!({"items": []}),
        ("export", _) => return "".into_response(),
        ("server", _) => json!({"version": "1", "started_at": AT, "roots": [], "live_processes": 0,
            "live_processes_at_most": 8, "waiting_for_process": 0, "allow_bypass": false}),
        ("me", _) => json!({"who": {"kind": "token", "id": TokenId::new(), "name": "a"},
            "scope": "admin", "from": "127.0.0.1"}),
        ("usage", _) => json!({"sessions": {"idle": 3}, "open_approvals": 1, "cost_usd": 0.5,
            "input_tokens": 1, "output_tokens": 2, "turns": 3}),
        ("backup", _) => json!({"file": "a"}),
        ("tokens", true) => json!({"tokens": [token]}),
        ("tokens", false) if path == "/tokens" => json!({"secret": "cst_new", "token": token}),
        ("browsers", true) => json!({"browsers": []}),
        ("tokens" | "browsers", false) => return StatusCode::NO_CONTENT.into_response(),
        ("sessions", false) if parts.method == http::Method::DELETE => {
            return StatusCode::NO_CONTENT.into_response();
        }
        ("login-links", _) => json!({"url": "http://a/login#csl_b", "expires_at": AT}),
        ("stream", _) => return ([("content-type", "text/event-stream")], "").into_response(),
        _ => json!({"session": session}),
    };
    axum::Json(body).into_response()
}

/// The operations that the server documents, as `GET /sessions/{session}`.
fn documented() -> BTreeSet<String> {
    let operations = document::operations();
    let operations = operations.iter().filter(|one| !one.is("operation"));
    operations
        .map(|operation| {
            let path = operation.path.strip_prefix("/api/v1").unwrap_or(&operation.path);
            format!("{} {path}", operation.method)
        })
        .collect()
}

/// Whether a request is one of this operation.
fn is_of(request: &str, operation: &str) -> bool {
    let (mut request, mut operation) = (request.split('/'), operation.split('/'));
    loop {
        match (request.next(), operation.next()) {
            (None, None) => return true,
            (Some(is), Some(should)) if is == should || should.starts_with('{') => {}
            _ => return false,
        }
    }
}

#[tokio::test]
async fn there_is_a_method_for_everything_that_the_api_can_do() {
    let canned = Canned::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().fallback(can).with_state(canned.clone());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });

    let client = Client::new(&url, "cst_secret").unwrap();
    let (session, message) = (SessionId::new(), MessageId::new());
    let listed = client.sessions(&ListSessions::default()).await.unwrap();
    assert_eq!(listed.items[0].state, Doing::Idle);
    assert_eq!(listed.items[0].head.mode, PermissionMode::Plan);
    assert_eq!(listed.next.as_deref(), Some("x"));
    let new: NewSession = serde_json::from_value(json!({"folder": "/work"})).unwrap();
    client.create_session(&new).await.unwrap();
    client.session(session).await.unwrap();
    client.delete_session(session).await.unwrap();
    client.rename(session, "a").await.unwrap();
    client.label(session, BTreeSet::from(["a".into()])).await.unwrap();
    client.archive(session, true).await.unwrap();
    client.set_mode(session, PermissionMode::Default).await.unwrap();
    client.set_model(session, None).await.unwrap();
    client.stop(session).await.unwrap();
    client.resume(session).await.unwrap();
    client.interrupt(session, TurnId::new()).await.unwrap();
    client.fork(session, &ForkSession::default()).await.unwrap();
    assert_eq!(client.messages(session).await.unwrap().len(), 1);
    let hello = NewMessage { text: "hello".into(), ..NewMessage::default() };
    client.send(session, &hello).await.unwrap();
    client.order_messages(session, vec![message]).await.unwrap();
    client.edit_message(session, message, MessageContent::text("a")).await.unwrap();
    client.remove_message(session, message).await.unwrap();
    client.events(session, &ListEvents::default()).await.unwrap();
    client.all_events(&ListAllEvents::default()).await.unwrap();
    client.plans(session).await.unwrap();
    client.process(session).await.unwrap();
    client.wire(session).await.unwrap();
    client.rules(session).await.unwrap();
    client.inbox(&Part::default()).await.unwrap();
    client.approvals(&ListApprovals::default()).await.unwrap();
    client.approval(ApprovalId::new()).await.unwrap();
    client.answer(ApprovalId::new(), Answer::allow()).await.unwrap();
    client.audit(&ListAudit::default()).await.unwrap();
    assert!(
        client.export_audit(&ListAudit::default()).await.unwrap().next().await.unwrap().is_none()
    );
    client.server().await.unwrap();
    assert_eq!(client.me().await.unwrap().scope, Scope::Admin);
    assert_eq!(client.usage().await.unwrap().open_approvals, 1);
    client.backup().await.unwrap();
    client.tokens().await.unwrap();
    let new = CreateToken { name: "a".into(), scope: Scope::Read, expires_at: None };
    assert_eq!(client.create_token(&new).await.unwrap().secret, "cst_new");
    client.revoke_token(TokenId::new()).await.unwrap();
    client.browsers().await.unwrap();
    client.sign_out(BrowserId::new()).await.unwrap();
    let link = client.create_login_link().await.unwrap();
    assert_eq!(link.url.expose(), "http://a/login#csl_b");
    assert!(!format!("{link:?}").contains("csl_b"));
    client.follow(session, None).await.unwrap();
    client.follow_all(None).await.unwrap();
    client.follow_inbox(None).await.unwrap();

    let asked = canned.0.lock().unwrap();
    for operation in documented() {
        // Only a browser is let in with a link, and can be signed out by itself; the document is for
        // those who make clients.
        let others = ["GET /login", "POST /login", "POST /logout", "GET /openapi.json"];
        let done = asked.iter().any(|(request, _)| is_of(request, &operation));
        assert!(done || others.contains(&&*operation), "nothing does {operation}");
    }
    for (request, _) in &*asked {
        let known = documented().iter().any(|operation| is_of(request, operation));
        assert!(known, "the API has no {request}");
    }
    let keys: Vec<_> = asked.iter().filter_map(|(_, key)| key.as_ref()).collect();
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len(), "each key is a new one");
}

#[tokio::test]
async fn what_is_wanted_of_a_list_is_in_the_address() {
    let stage = Stage::new().await;
    let wanted = ListSessions {
        state: Some("idle,parked".into()),
        archived: Some(false),
        q: Some("50% & more".into()),
        limit: Some(7),
        ..ListSessions::default()
    };
    let empty = said("200 OK", &json!({"items": []}));
    let (client, wanted) = (client(&stage), &wanted);
    let (came, page) = tokio::join!(stage.answer(&empty), client.sessions(wanted));
    assert!(page.unwrap().items.is_empty());
    let (_, query) = came.line.split_once('?').unwrap();
    let query = query.strip_suffix(" HTTP/1.1").unwrap();
    let pairs: BTreeSet<_> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let expected =
        [("state", "idle,parked"), ("archived", "false"), ("q", "50% & more"), ("limit", "7")];
    assert_eq!(pairs, expected.map(|(name, value)| (name.into(), value.into())).into());
}

#[tokio::test]
async fn a_command_whose_answer_is_lost_is_sent_again_with_the_same_key() {
    let stage = Stage::new().await;
    let client = client(&stage);
    let approval = ApprovalId::new();
    let taken = json!({"session": SessionId::new(), "approval": approval});
    let server = async {
        // The work is done, and the connection drops before anything is said.
        let first = stage.answer("").await;
        // In the middle of the answer.
        let second = stage.answer("HTTP/1.1 202 Accepted\r\ncontent-length: 99\r\n\r\n{").await;
        // Not now.
        let busy = "HTTP/1.1 503 No\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n";
        let third = stage.answer(busy).await;
        let last = stage.answer(&said("202 Accepted", &taken)).await;
        [first, second, third, last]
    };
    let (came, answered) = tokio::join!(server, client.answer(approval, Answer::deny("no")));
    assert_eq!(answered.unwrap().approval, approval);
    let [first, rest @ ..] = came;
    let key = first.header("idempotency-key").unwrap();
    assert!(key.parse::<uuid::Uuid>().is_ok());
    for again in rest {
        assert_eq!((&again.line, &again.body), (&first.line, &first.body));
        assert_eq!(again.header("idempotency-key"), Some(key));
    }
}

#[tokio::test]
async fn it_is_not_tried_again_for_ever() {
    let stage = Stage::new().await;
    let client = Client::builder(&stage.url(), "cst_a").retries(2).build().unwrap();
    let server = async {
        for _ in 0..3 {
            stage.answer("").await;
        }
    };
    let ((), error) = tokio::join!(server, client.stop(SessionId::new()));
    let error = error.unwrap_err();
    assert!(matches!(error, ClientError::Connection(OutgoingError::Lost { .. })), "{error}");
}

#[tokio::test]
async fn a_server_that_wants_us_to_wait_long_is_not_waited_for() {
    let stage = Stage::new().await;
    let client = client(&stage);
    let busy = problem(503, "unavailable", &json!({}));
    let busy = busy.replacen("\r\n", "\r\nretry-after: 3600\r\n", 1);
    let (_, error) = tokio::join!(stage.answer(&busy), client.stop(SessionId::new()));
    let error = error.unwrap_err();
    assert_eq!(error.problem().unwrap().retry_after().unwrap().as_secs(), 3600);
}

#[tokio::test]
async fn what_would_be_done_twice_is_not_sent_again() {
    let stage = Stage::new().await;
    let client = client(&stage);
    let new = CreateToken { name: "a".into(), scope: Scope::Read, expires_at: None };
    let (_, error) = tokio::join!(stage.answer(""), client.create_token(&new));
    assert!(matches!(error, Err(ClientError::Connection(OutgoingError::Lost { .. }))));
    let (_, error) = tokio::join!(stage.answer(""), client.backup());
    assert!(matches!(error, Err(ClientError::Connection(OutgoingError::Lost { .. }))));
}

#[tokio::test]
async fn what_is_gone_after_a_lost_answer_was_deleted_by_us() {
    let stage = Stage::new().await;
    let client = client(&stage);
    let gone = problem(404, "no-session", &json!({}));
    let server = async {
        stage.answer("").await;
        stage.answer(&gone).await;
    };
    let ((), deleted) = tokio::join!(server, client.delete_session(SessionId::new()));
    deleted.unwrap();
    let (_, error) = tokio::join!(stage.answer(&gone), client.delete_session(SessionId::new()));
    assert!(error.unwrap_err().is_not_found());
}

#[tokio::test]
async fn nobody_there_is_told_at_once() {
    let stage = Stage::new().await;
    let client = client(&stage);
    drop(stage);
    let error = client.me().await.unwrap_err();
    assert!(error.to_string().contains("is the server running"), "{error}");
}

#[tokio::test]
async fn who_was_first_is_told_with_what_was_asked_word_for_word() {
    let stage = Stage::new().await;
    let client = client(&stage);
    let id = ApprovalId::new();
    let answered =
        problem(409, "already-answered", &json!({"approval": approval(id), "more": [1]}));
    let (_, error) = tokio::join!(stage.answer(&answered), client.answer(id, Answer::allow()));
    let error = error.unwrap_err();
    let first: Approval = error.already_answered().unwrap();
    assert_eq!(first.given.unwrap().answer, Answer::deny("no"));
    assert_eq!(first.request.as_str(), approval(id)["request"].to_string());
    let problem = error.problem().unwrap();
    assert_eq!((problem.kind(), problem.status()), ("already-answered", 409));
    assert_eq!((problem.title(), problem.detail()), ("A title", Some("what to do")));
    assert_eq!(problem.member::<Vec<u8>>("more"), Some(vec![1]));
    assert_eq!(problem.members().len(), 2);
    assert_eq!(error.to_string(), "A title: what to do");
    assert!(error.stale_turn().is_none() && !error.is_refused());
}

#[tokio::test]
async fn other_refusals_can_be_told_apart() {
    let stage = Stage::new().await;
    let client = client(&stage);
    let turn = TurnId::new();
    let stale = problem(409, "stale-turn", &json!({"running": turn}));
    let (_, error) = tokio::join!(stage.answer(&stale), client.interrupt(SessionId::new(), turn));
    let error = error.unwrap_err();
    assert_eq!(error.stale_turn(), Some(Some(turn)));
    assert!(error.already_answered().is_none());
    let stale = problem(409, "stale-turn", &json!({"running": null}));
    let (_, error) = tokio::join!(stage.answer(&stale), client.interrupt(SessionId::new(), turn));
    assert_eq!(error.unwrap_err().stale_turn(), Some(None));
    for (status, kind) in [(401, "not-signed-in"), (403, "scope-too-low")] {
        let refused = problem(status, kind, &json!({}));
        let (_, error) = tokio::join!(stage.answer(&refused), client.me());
        assert!(error.unwrap_err().is_refused());
    }
}

#[tokio::test]
async fn something_else_at_the_address_is_noticed() {
    let stage = Stage::new().await;
    let client = client(&stage);
    let elsewhere = "HTTP/1.1 302 Found\r\nlocation: /login\r\ncontent-length: 0\r\n\r\n";
    let missing = answer("404 Not Found", "text/html", "<h1>nginx</h1>");
    for (other, status) in [(elsewhere, 302), (&missing, 404)] {
        let (_, error) = tokio::join!(stage.answer(other), client.me());
        let error = error.unwrap_err();
        assert!(
            matches!(error, ClientError::NotOurs { status: is, .. } if is == status),
            "{error}"
        );
    }
    let page = answer("200 OK", "text/html", "<h1>Hello</h1>");
    let (_, error) = tokio::join!(stage.answer(&page), client.me());
    assert!(matches!(error.unwrap_err(), ClientError::Unreadable { .. }));
    let page = answer("200 OK", "text/html", "<h1>Hello</h1>");
    let (_, error) = tokio::join!(stage.answer(&page), client.follow_all(None));
    assert!(matches!(error.unwrap_err(), ClientError::NotOurs { .. }));
}

#[tokio::test]
async fn the_audit_is_exported_entry_by_entry_and_a_part_is_not_taken_for_all() {
    let stage = Stage::new().await;
    let client = client(&stage);
    let entry = |kind: &str| {
        json!({"at": AT, "kind": kind, "by": {"kind": "server"}, "detail": {"é": 1}}).to_string()
    };
    let lines = format!("{}\n{}\n", entry("one"), entry("two"));
    let chunk = |text: &[u8]| [format!("{:x}\r\n", text.len()).as_bytes(), text, b"\r\n"].concat();
    // Cut inside a character.
    let at = lines.find('é').unwrap() + 1;
    let (front, back) = lines.as_bytes().split_at(at);
    for end in [&b"0\r\n\r\n"[..], b""] {
        let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        let all = [&head[..], &chunk(front), &chunk(back), end].concat();
        let wanted = ListAudit { kind: Some("x".into()), ..ListAudit::default() };
        let server = async {
            let mut connection = stage.accept().await;
            let came = connection.request().await.unwrap();
            connection.say_bytes(&all).await;
            came
        };
        let (came, export) = tokio::join!(server, client.export_audit(&wanted));
        assert_eq!(came.line, "GET /api/v1/audit/export?kind=x HTTP/1.1");
        let mut export = export.unwrap();
        for kind in ["one", "two"] {
            assert_eq!(export.next().await.unwrap().unwrap().kind, kind);
        }
        match export.next().await {
            Ok(None) => assert!(!end.is_empty()),
            Err(ClientError::Connection(OutgoingError::Lost { .. })) => assert!(end.is_empty()),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_server_with_a_certificate_of_its_own_is_trusted_by_its_file() {
    let stage = Stage::new().await;
    let folder = tempfile::tempdir().unwrap();
    let own = certificate(&["localhost"]);
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, own.cert.pem()).unwrap();
    let url = format!("https://localhost:{}", stage.address().port());
    let client = Client::builder(&url, "cst_secret").ca_file(&file).build().unwrap();
    let noted = said("202 Accepted", &json!({"session": SessionId::new()}));
    let (came, stopped) =
        tokio::join!(stage.answer_secured(&own, &noted), client.stop(SessionId::new()));
    stopped.unwrap();
    assert_eq!(came.unwrap().header("authorization"), Some("Bearer cst_secret"));
}
