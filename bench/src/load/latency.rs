//! What an approval takes: from the CLI to whoever watches, and from the answer to the CLI. A client
//! without a server does the same in turn.

use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign::permission::PermissionAsk;
use countersign::protocol::FromCli;
use countersign::{Environment, Session, SessionBuilder};
use countersign_server::bus::Bus;
use countersign_server::client::Following;
use countersign_server::id::{ConversationId, SessionId};
use countersign_server::service::NewMessage;
use countersign_server::session::{Answer, By, Created, Renamed};
use countersign_server::store::{SqliteStore, Store as _, Write};
use tokio::sync::mpsc;

use super::figures::{Times, ratio};
use super::report::{Cell, Report, Table, now};
use super::stage::{Served, Stage, asked, until};
use super::{Failure, Options, script};
use crate::stamps;

/// So many come before those that count.
const BEFORE: u64 = 20;

/// The moments of a round on this side.
#[derive(Clone, Copy, Debug)]
struct Moments {
    /// It is known here what is asked.
    seen: u64,
    /// The answer is given.
    answered: u64,
}

pub(super) async fn measure(options: &Options, report: &mut Report) -> Result<(), Failure> {
    now("latency: approvals, in turn with a client without a server");
    let stage = Stage::with_stamps(options).await?;
    let files = ["served.stamps", "bare.stamps"].map(|name| stage.folder.path().join(name));
    let [served_file, bare_file] = &files;
    let mut host = stage.host.clone();
    host.environment.insert(stamps::FILE.to_owned(), served_file.display().to_string());
    let served = stage.serve(&host).await?;
    let mut watched = Watched::open(&stage, &served).await?;
    let mut bare = Bare::connect(&stage, &bare_file.display().to_string()).await?;
    let alone = Alone::open(&stage).await?;
    let (mut by_server, mut by_client) = (Vec::new(), Vec::new());
    let (mut on_disk, mut commits) = (Times::default(), Times::default());
    for _ in 0..options.rounds + BEFORE {
        let (moments, posted) = watched.round(&stage, &served).await?;
        by_server.push(moments);
        on_disk.add(posted);
        by_client.push(bare.round(&stage).await?);
        commits.add(alone.commit().await?);
    }
    bare.session.close().await;
    drop(watched);
    served.stop().await?;
    let server = Ways::of(&stamps::read(served_file)?, &by_server);
    let client = Ways::of(&stamps::read(bare_file)?, &by_client);
    report.expect("approvals with a server", options.rounds, server.asks.count());
    report.expect("approvals without one", options.rounds, client.asks.count());
    let about = format!("{} approvals, in turn", options.rounds);
    let columns = [
        "server, p50",
        "server, p99",
        "bare client, p50",
        "bare client, p99",
        "ratio, p50",
        "ratio, p99",
    ];
    let mut table = Table::new("latency", about, &columns);
    let mut row = |what: &str, server: &Times, client: &Times| {
        let (first, second) = ((server.p50(), server.p99()), (client.p50(), client.p99()));
        let times = [first.0, first.1, second.0, second.1].map(Cell::Time);
        let ratios = [ratio(first.0, second.0), ratio(first.1, second.1)].map(Cell::Ratio);
        table.row(what, &[times.as_slice(), &ratios].concat());
    };
    row("from the CLI to who is asked", &server.asks, &client.asks);
    row("from the answer to the CLI", &server.answers, &client.answers);
    row("there and back", &server.both(), &client.both());
    let mut alone = |what: &str, times: &Times| {
        let mut cells = vec![Cell::Time(times.p50()), Cell::Time(times.p99())];
        cells.resize(columns.len(), Cell::None);
        table.row(what, &cells);
    };
    alone("until the API says that the answer is on disk", &on_disk);
    alone("one write to an empty store, alone", &commits);
    report.add(table);
    stage.close().await
}

/// How long it took, each way.
struct Ways {
    asks: Times,
    answers: Times,
    pairs: Vec<(Duration, Duration)>,
}

impl Ways {
    /// Of what the CLI noted and what was noted here, without the first rounds.
    fn of(cli: &[(u64, u64)], here: &[Moments]) -> Self {
        let skip = usize::try_from(BEFORE).unwrap_or_default();
        let pairs = cli.iter().zip(here).skip(skip);
        let pairs: Vec<_> = pairs
            .filter_map(|((asked, answered), here)| {
                let ask = here.seen.checked_sub(*asked)?;
                let answer = answered.checked_sub(here.answered)?;
                Some((Duration::from_nanos(ask), Duration::from_nanos(answer)))
            })
            .collect();
        let asks = pairs.iter().map(|pair| pair.0).collect();
        let answers = pairs.iter().map(|pair| pair.1).collect();
        Self { asks, answers, pairs }
    }

    fn both(&self) -> Times {
        self.pairs.iter().map(|pair| pair.0 + pair.1).collect()
    }
}

/// A session of the server, and somebody who watches it.
struct Watched {
    session: SessionId,
    following: Following,
}

impl Watched {
    async fn open(stage: &Stage, served: &Served) -> Result<Self, Failure> {
        let made = served.client.create_session(&stage.session(None)).await?;
        let following = served.client.follow(made.session, None).await?;
        Ok(Self { session: made.session, following })
    }

    /// Says something that has to be asked for, and answers as soon as it is seen.
    async fn round(
        &mut self,
        stage: &Stage,
        served: &Served,
    ) -> Result<(Moments, Duration), Failure> {
        let text = script::errand(stage.number());
        let message = NewMessage { text, ..NewMessage::default() };
        served.client.send(self.session, &message).await?;
        let approval = asked(&mut self.following).await?;
        let seen = stamps::now();
        let (answered, began) = (stamps::now(), Instant::now());
        served.client.answer(approval, Answer::allow()).await?;
        let posted = began.elapsed();
        until(&mut self.following, |event| event.kind == "turn.ended").await?;
        Ok((Moments { seen, answered }, posted))
    }
}

/// A session of the client library, whose handler answers at once.
struct Bare {
    session: Session,
    moments: mpsc::Receiver<Moments>,
}

impl Bare {
    async fn connect(stage: &Stage, stamps_file: &str) -> Result<Self, Failure> {
        let (sender, moments) = mpsc::channel(16);
        let handler = move |ask: PermissionAsk| {
            let seen = stamps::now();
            let sender = sender.clone();
            async move {
                let answer = ask.allow();
                // There is room for it: the one before was taken.
                sender.try_send(Moments { seen, answered: stamps::now() }).unwrap_or_default();
                answer
            }
        };
        let environment = stage.host.environment.clone();
        let session = SessionBuilder::new()
            .executable(&stage.host.cli)
            .cwd(&stage.host.root)
            .environment(Environment::replace(environment))
            .env(stamps::FILE, stamps_file)
            .setting_sources(Vec::new())
            .partial_messages()
            .on_permission(handler);
        let session = Box::pin(session.connect()).await?;
        Ok(Self { session, moments })
    }

    async fn round(&mut self, stage: &Stage) -> Result<Moments, Failure> {
        self.session.post(script::errand(stage.number())).await?;
        while let Some(message) = self.session.next_message().await {
            if let Some(FromCli::Result(_)) = message.frame() {
                return self.moments.try_recv().map_err(|_| "nothing was asked".into());
            }
        }
        Err("the session has ended".into())
    }
}

/// A store that nobody else uses: what one write takes at least.
struct Alone {
    store: SqliteStore,
    session: SessionId,
}

impl Alone {
    async fn open(stage: &Stage) -> Result<Self, Failure> {
        let file = stage.folder.path().join("alone.db");
        let store = SqliteStore::open(file, Arc::new(Bus::new())).await?;
        let session = SessionId::new();
        let created = Created {
            folder: "/work".to_owned(),
            title: "alone".to_owned(),
            labels: Default::default(),
            mode: "default".into(),
            model: None,
            options: Box::default(),
            conversation: ConversationId::new(),
            parent: None,
            by: By::Server,
        };
        store.write(Write::to(session, vec![created.into()])).await?;
        Ok(Self { store, session })
    }

    async fn commit(&self) -> Result<Duration, Failure> {
        let renamed = Renamed { title: "still alone".to_owned(), by: By::Server };
        let began = Instant::now();
        self.store.write(Write::to(self.session, vec![renamed.into()])).await?;
        Ok(began.elapsed())
    }
}
