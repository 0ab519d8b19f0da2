//! Somebody changes what waits in the moment in which it is sent.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign::Environment;
use countersign::park::ParkingToken;
use countersign::process::Mark;
use countersign::store::SessionStore;
use countersign_lab::Lab;
use countersign_server::bus::Bus;
use countersign_server::config::Roots;
use countersign_server::hub::{Hub, Settings};
use countersign_server::id::{ApprovalId, MessageId, SessionId};
use countersign_server::service::{Caller, NewMessage, Service};
use countersign_server::session::{
    Answer, Approval, By, Event, Happening, Head, MessageContent, MessageEdited, MessageRemoved,
};
use countersign_server::store::{
    ApprovalFilter, AuditEntry, AuditFilter, Command, Page, ServerRun, SessionFilter, SqliteStore,
    Store, StoreFuture, StoredMessage, Totals, Write, WriteError, Written,
};
use jiff::Timestamp;
use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use crate::kit::{Cli, Outcome, lab, simulated};

pub(super) fn trials() -> Vec<Trial> {
    [
        simulated("faults::a_message_is_removed_as_it_is_sent", removed),
        simulated("faults::a_message_is_edited_as_it_is_sent", edited),
    ]
    .into_iter()
    .flatten()
    .collect()
}

type Doing = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Something that is done once, in a certain moment of a message.
type Act = Mutex<Option<(MessageId, Box<dyn FnOnce() -> Doing + Send>)>>;

/// A store in which something happens between two steps of whoever uses it.
struct Between {
    inner: Arc<dyn Store>,
    /// Done before it is written that a message is sent.
    before_sent: Act,
    /// Done when a message was read, before whoever reads it has it.
    after_read: Act,
}

fn take(act: &Act, wanted: Option<MessageId>) -> Option<Box<dyn FnOnce() -> Doing + Send>> {
    let mut act = act.lock().unwrap();
    let (_, act) = act.take_if(|(message, _)| Some(*message) == wanted)?;
    Some(act)
}

impl Store for Between {
    fn write(&self, write: Write) -> StoreFuture<'_, Written, WriteError> {
        let happenings = write.appends.iter().flat_map(|append| &append.happenings);
        let sent = happenings.into_iter().find_map(|happening| match happening {
            Happening::MessageSent(sent) => Some(sent.message),
            _ => None,
        });
        Box::pin(async move {
            if let Some(act) = take(&self.before_sent, sent) {
                act().await;
            }
            self.inner.write(write).await
        })
    }

    fn message(&self, message: MessageId) -> StoreFuture<'_, Option<StoredMessage>> {
        Box::pin(async move {
            let stored = self.inner.message(message).await;
            if let Some(act) = take(&self.after_read, Some(message)) {
                act().await;
            }
            stored
        })
    }

    fn carried_out(&self, command: Command) -> StoreFuture<'_, Option<String>, WriteError> {
        self.inner.carried_out(command)
    }

    fn delete(&self, session: SessionId, by: By) -> StoreFuture<'_, (), WriteError> {
        self.inner.delete(session, by)
    }

    fn head(&self, session: SessionId) -> StoreFuture<'_, Option<Arc<Head>>> {
        self.inner.head(session)
    }

    fn sessions(&self, filter: SessionFilter) -> StoreFuture<'_, Page<Arc<Head>>> {
        self.inner.sessions(filter)
    }

    fn unsettled(&self) -> StoreFuture<'_, Vec<SessionId>> {
        self.inner.unsettled()
    }

    fn open_since_before(
        &self,
        time: Timestamp,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(SessionId, ApprovalId)>> {
        self.inner.open_since_before(time, limit)
    }

    fn events(
        &self,
        session: SessionId,
        after: u64,
        limit: usize,
    ) -> StoreFuture<'_, Vec<Arc<Event>>> {
        self.inner.events(session, after, limit)
    }

    fn events_before(
        &self,
        session: SessionId,
        before: u64,
        limit: usize,
    ) -> StoreFuture<'_, Vec<Arc<Event>>> {
        self.inner.events_before(session, before, limit)
    }

    fn events_of<'a>(
        &'a self,
        session: SessionId,
        kinds: &'a [&'a str],
        before: u64,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<Event>>> {
        self.inner.events_of(session, kinds, before, limit)
    }

    fn count_open(&self) -> StoreFuture<'_, u64> {
        self.inner.count_open()
    }

    fn all_events<'a>(
        &'a self,
        after: u64,
        kinds: &'a [&'a str],
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<Event>>> {
        self.inner.all_events(after, kinds, limit)
    }

    fn last_position(&self) -> StoreFuture<'_, u64> {
        self.inner.last_position()
    }

    fn approval(&self, approval: ApprovalId) -> StoreFuture<'_, Option<Approval>> {
        self.inner.approval(approval)
    }

    fn parking_token(&self, approval: ApprovalId) -> StoreFuture<'_, Option<ParkingToken>> {
        self.inner.parking_token(approval)
    }

    fn approvals(&self, filter: ApprovalFilter) -> StoreFuture<'_, Page<Approval>> {
        self.inner.approvals(filter)
    }

    fn queued_messages(&self, session: SessionId) -> StoreFuture<'_, Vec<StoredMessage>> {
        self.inner.queued_messages(session)
    }

    fn audit(&self, filter: AuditFilter) -> StoreFuture<'_, Page<AuditEntry>> {
        self.inner.audit(filter)
    }

    fn note_in_audit(&self, entry: AuditEntry) -> StoreFuture<'_, ()> {
        self.inner.note_in_audit(entry)
    }

    fn totals(&self) -> StoreFuture<'_, Totals> {
        self.inner.totals()
    }

    fn cursor<'a>(&'a self, name: &'a str) -> StoreFuture<'a, Option<u64>> {
        self.inner.cursor(name)
    }

    fn set_cursor<'a>(&'a self, name: &'a str, position: u64) -> StoreFuture<'a, ()> {
        self.inner.set_cursor(name, position)
    }

    fn begin_run(&self, run: ServerRun) -> StoreFuture<'_, Vec<ServerRun>> {
        self.inner.begin_run(run)
    }

    fn end_run(&self, mark: Mark) -> StoreFuture<'_, ()> {
        self.inner.end_run(mark)
    }

    fn forget_commands(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        self.inner.forget_commands(before)
    }

    fn forget_audit(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        self.inner.forget_audit(before)
    }

    fn backup(&self, to: PathBuf) -> StoreFuture<'_, ()> {
        self.inner.backup(to)
    }

    fn check(&self) -> StoreFuture<'_, ()> {
        self.inner.check()
    }

    fn transcripts(&self) -> Arc<dyn SessionStore> {
        self.inner.transcripts()
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        self.inner.close()
    }
}

/// A session that asks for something, with a message that waits until it is decided.
struct Small {
    lab: Lab,
    _data: TempDir,
    store: Arc<Between>,
    hub: Arc<Hub>,
    service: Service,
    caller: Caller,
    session: SessionId,
    message: MessageId,
}

const TALK: &str = r#"
[[answer]]
when = { text = '/said (\w+)/' }
text = "You said ${match.1}."

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "All right."
"#;

impl Small {
    async fn new(cli: Cli) -> Result<Self, Box<dyn std::error::Error>> {
        let lab = lab(cli, TALK).await;
        let data = TempDir::new()?;
        let bus = Arc::new(Bus::new());
        let inner = SqliteStore::open(data.path().join("store"), Arc::clone(&bus)).await?;
        let store = Arc::new(Between {
            inner: Arc::new(inner),
            before_sent: Mutex::default(),
            after_read: Mutex::default(),
        });
        let (program, environment) = lab.for_a_client()?;
        let roots = Roots::new(&[lab.work()])?;
        let settings = Settings {
            roots: roots.clone(),
            cli: Some(program),
            environment: Environment::replace(environment),
            shutdown_within: Duration::from_secs(5),
            ..Settings::default()
        };
        let hub = Hub::new(Arc::clone(&store) as Arc<dyn Store>, bus, settings);
        hub.recover().await?;
        let service = Service::new(Arc::clone(&hub), roots);
        let caller = Caller::new(By::Server);
        let new = serde_json::json!({
            "folder": lab.work(), "prompt": "Write it.", "options": {"setting_sources": []},
        });
        let session = service.create(&caller, serde_json::from_value(new)?).await?.receipt.session;
        let (said, message) = (NewMessage::default(), MessageId::new());
        let mut small = Self { lab, _data: data, store, hub, service, caller, session, message };
        small.until(Head::is_asking).await;
        let said = NewMessage { text: "I said one".to_owned(), ..said };
        small.message = small.service.send(&small.caller, session, said).await?.receipt.message;
        Ok(small)
    }

    async fn until(&self, is_so: impl Fn(&Head) -> bool) -> Arc<Head> {
        let mut news = self.hub.bus().subscribe(self.session);
        let wait = async {
            loop {
                let head = self.service.session(self.session).await.unwrap();
                if is_so(&head) {
                    return head;
                }
                news.recv().await.ok();
            }
        };
        tokio::time::timeout(Duration::from_secs(240), wait).await.unwrap()
    }

    /// Decides what is asked, and waits until there is nothing more to do.
    async fn decide(&self) -> Result<Arc<Head>, Box<dyn std::error::Error>> {
        let head = self.until(Head::is_asking).await;
        let approval = *head.approvals.keys().next().unwrap();
        self.service.answer(&self.caller, approval, Answer::deny("no")).await?;
        Ok(self.until(|head| head.turn.is_none() && head.queue.is_empty()).await)
    }

    /// What the results of the turns say.
    async fn texts(&self) -> Result<Vec<String>, Box<dyn std::error::Error>> {
        let events = self.store.events(self.session, 0, usize::MAX).await?;
        let result = |event: &Arc<Event>| match &event.happening {
            Happening::Frame(frame) => {
                let frame: Value = frame.line.decode().ok()?;
                (frame["type"] == "result").then(|| frame["result"].as_str().map(str::to_owned))?
            }
            _ => None,
        };
        Ok(events.iter().filter_map(result).collect())
    }

    async fn close(self) -> Outcome {
        self.hub.close().await;
        self.store.close().await?;
        self.lab.close().await?;
        Ok(())
    }
}

/// It is not sent, and nothing else comes of it.
async fn removed(cli: Cli) -> Outcome {
    let small = Small::new(cli).await?;
    let (inner, session, message) = (Arc::clone(&small.store.inner), small.session, small.message);
    let act = move || -> Doing {
        Box::pin(async move {
            let removed = MessageRemoved { message, by: By::Server };
            inner.write(Write::to(session, vec![removed.into()])).await.unwrap();
        })
    };
    *small.store.before_sent.lock().unwrap() = Some((message, Box::new(act)));
    small.decide().await?;
    let said = NewMessage { text: "I said three".to_owned(), ..NewMessage::default() };
    small.service.send(&small.caller, session, said).await?;
    let head = small.until(|head| head.usage.turns == 2).await;
    assert_eq!((head.generation, head.failures.len()), (1, 0), "its process was kept");
    assert_eq!(small.texts().await?, ["All right.", "You said three."]);
    small.close().await
}

/// Either it is sent as it is now, or whoever comes too late is told so.
async fn edited(cli: Cli) -> Outcome {
    let small = Small::new(cli).await?;
    let (inner, session, message) = (Arc::clone(&small.store.inner), small.session, small.message);
    let act = move || -> Doing {
        Box::pin(async move {
            let content = MessageContent::text("I said two");
            let edited = MessageEdited { message, content, by: By::Server };
            inner.write(Write::to(session, vec![edited.into()])).await.ok();
        })
    };
    *small.store.after_read.lock().unwrap() = Some((message, Box::new(act)));
    small.decide().await?;
    let kept = small.store.message(message).await?.unwrap().content.text;
    let word = kept.trim_start_matches("I said ");
    assert_eq!(small.texts().await?, ["All right.".to_owned(), format!("You said {word}.")]);
    small.close().await
}
