//! What is done with a server again and again, however many sessions it has.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_server::api::view::{ListSessions, Part};
use countersign_server::client::{Client, ClientError};
use countersign_server::id::SessionId;
use countersign_server::session::Answer;

use super::figures::Times;
use super::proc::processor_time;
use super::script::{COMMON, SAID, token};
use super::stage::{AT_ONCE, Asked, Served, Stage, asked, each, until};
use super::{Failure, Options};
use crate::random::Random;

/// How long one kind of request is made at most, once it was made a few times.
const ENOUGH: (Duration, u64) = (Duration::from_secs(15), 5);

/// How long each kind took.
pub(super) type Took = BTreeMap<Operation, Times>;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    List,
    ListFifty,
    ListParked,
    Inbox,
    One,
    FindOne,
    FindBeginning,
    FindAll,
    FindSaid,
    FindNothing,
    Totals,
    Append,
    Session,
    AnswerOnDisk,
    AnswerRan,
}

impl Operation {
    pub(super) const ALL: [Self; 15] = [
        Self::List,
        Self::ListFifty,
        Self::ListParked,
        Self::Inbox,
        Self::One,
        Self::FindOne,
        Self::FindBeginning,
        Self::FindAll,
        Self::FindSaid,
        Self::FindNothing,
        Self::Totals,
        Self::Append,
        Self::Session,
        Self::AnswerOnDisk,
        Self::AnswerRan,
    ];

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::List => "the first ten of the list",
            Self::ListFifty => "the first fifty, or all",
            Self::ListParked => "the first ten that are parked",
            Self::Inbox => "the first ten of the inbox",
            Self::One => "one session",
            Self::FindOne => "search for a word of one session",
            Self::FindBeginning => "search for the beginning of words of a tenth",
            Self::FindAll => "search for a word of all titles",
            Self::FindSaid => "search for a word of all sessions, and of no title",
            Self::FindNothing => "search for a word of none",
            Self::Totals => "what all of them have used",
            Self::Append => "a command that writes one event (a title)",
            Self::Session => "a session made, asked, answered, its turn over",
            Self::AnswerOnDisk => "an answer to a parked one, until it is on disk",
            Self::AnswerRan => "the same, until a new process has run the call",
        }
    }
}

/// Makes all requests that read, and commands, as often as is wanted.
pub(super) async fn requests(
    options: &Options,
    served: &Served,
    took: &mut Took,
) -> Result<(), Failure> {
    let client = &served.client;
    let some = some_sessions(client).await?;
    let mut random = Random::new(7);
    let mut list = async |operation: Operation, wanted: ListSessions| -> Result<(), Failure> {
        let times =
            timed(options, served, async || client.sessions(&wanted).await.map(drop)).await?;
        took.insert(operation, times);
        Ok(())
    };
    // As many as there are with the fewest sessions, so that pages are equally long.
    let ten = || ListSessions { limit: Some(10), ..ListSessions::default() };
    let find = |q: String| ListSessions { q: Some(q), ..ten() };
    list(Operation::List, ten()).await?;
    list(Operation::ListFifty, ListSessions::default()).await?;
    list(Operation::ListParked, ListSessions { state: Some("parked".to_owned()), ..ten() }).await?;
    list(Operation::FindOne, find(token(1))).await?;
    list(Operation::FindBeginning, find("T1".to_owned())).await?;
    list(Operation::FindAll, find(COMMON.to_owned())).await?;
    list(Operation::FindSaid, find(SAID.to_owned())).await?;
    list(Operation::FindNothing, find("lighthouse".to_owned())).await?;
    let part = Part { after: None, limit: Some(10) };
    let inbox = timed(options, served, async || client.inbox(&part).await.map(drop)).await?;
    took.insert(Operation::Inbox, inbox);
    let mut any = || random.one(&some).copied().unwrap_or_default();
    let chosen: Vec<_> = (0..options.reads).map(|_| any()).collect();
    let (mut one, before) = (Times::default(), processor_time(served.pid())?);
    for session in &chosen {
        let began = Instant::now();
        client.session(*session).await?;
        one.add(began.elapsed());
    }
    one.processor = processor_time(served.pid())?.saturating_sub(before);
    took.insert(Operation::One, one);
    took.insert(
        Operation::Totals,
        timed(options, served, async || client.usage().await.map(drop)).await?,
    );
    let (mut append, before) = (Times::default(), processor_time(served.pid())?);
    for (number, session) in chosen.iter().enumerate() {
        let began = Instant::now();
        client.rename(*session, &format!("The list of the {COMMON}, {number}")).await?;
        append.add(began.elapsed());
    }
    append.processor = processor_time(served.pid())?.saturating_sub(before);
    took.insert(Operation::Append, append);
    Ok(())
}

/// Does something as often as is wanted, or until it has taken long enough.
async fn timed(
    options: &Options,
    served: &Served,
    what: impl AsyncFn() -> Result<(), ClientError>,
) -> Result<Times, Failure> {
    let (mut times, began) = (Times::default(), Instant::now());
    let before = processor_time(served.pid())?;
    while times.count() < options.reads {
        if began.elapsed() > ENOUGH.0 && times.count() >= ENOUGH.1 {
            break;
        }
        let this = Instant::now();
        what().await?;
        times.add(this.elapsed());
    }
    times.processor = processor_time(served.pid())?.saturating_sub(before);
    Ok(times)
}

/// Some sessions, from all over the list.
async fn some_sessions(client: &Client) -> Result<Vec<SessionId>, Failure> {
    let mut some = Vec::new();
    for order in [None, Some(countersign_server::store::SessionOrder::Created)] {
        let wanted = ListSessions { order, limit: Some(500), ..ListSessions::default() };
        let page = client.sessions(&wanted).await?;
        some.extend(page.items.iter().map(|view| view.head.id));
    }
    Ok(some)
}

/// Runs whole sessions, one after the other. Gives their numbers.
pub(super) async fn sessions(
    options: &Options,
    stage: &Stage,
    served: &Served,
    took: &mut Took,
) -> Result<Vec<u64>, Failure> {
    let (client, mut times, mut numbers) = (&served.client, Times::default(), Vec::new());
    for _ in 0..options.answers {
        let number = stage.number();
        let new = stage.asking(number);
        let began = Instant::now();
        let session = client.create_session(&new).await?.session;
        let mut following = client.follow(session, Some(0)).await?;
        let approval = asked(&mut following).await?;
        client.answer(approval, Answer::allow()).await?;
        until(&mut following, |event| event.kind == "turn.ended").await?;
        times.add(began.elapsed());
        numbers.push(number);
        // Its process would be in the way of the next.
        client.stop(session).await?;
        until(&mut following, |event| event.kind == "process.ended").await?;
    }
    took.insert(Operation::Session, times);
    Ok(numbers)
}

/// Has the server really park sessions.
pub(super) async fn park(
    count: u64,
    stage: &Stage,
    served: &Served,
) -> Result<Vec<Asked>, Failure> {
    let numbers: Arc<Vec<u64>> = Arc::new((0..count).map(|_| stage.number()).collect());
    let new: Arc<Vec<_>> = Arc::new(numbers.iter().map(|number| stage.asking(*number)).collect());
    let client = served.client.clone();
    each(count, AT_ONCE, move |place| {
        let (client, new, numbers) = (client.clone(), Arc::clone(&new), Arc::clone(&numbers));
        async move {
            let place = usize::try_from(place)?;
            let session = client.create_session(new.get(place).ok_or("none")?).await?.session;
            let mut following = client.follow(session, Some(0)).await?;
            let approval = asked(&mut following).await?;
            until(&mut following, |event| event.kind == "session.parked").await?;
            until(&mut following, |event| event.kind == "process.ended").await?;
            let number = numbers.get(place).copied().ok_or("none")?;
            Ok(Asked { number, session, approval })
        }
    })
    .await
}

/// Answers sessions that were parked, one after the other.
pub(super) async fn answer_parked(
    parked: &[Asked],
    served: &Served,
    took: &mut Took,
) -> Result<(), Failure> {
    let client = &served.client;
    let (mut on_disk, mut ran) = (Times::default(), Times::default());
    for Asked { session, approval, .. } in parked {
        let mut following = client.follow(*session, None).await?;
        let began = Instant::now();
        client.answer(*approval, Answer::allow()).await?;
        on_disk.add(began.elapsed());
        // It is closed when the CLI has said what came of the call.
        until(&mut following, |event| event.kind == "approval.closed").await?;
        ran.add(began.elapsed());
        until(&mut following, |event| event.kind == "turn.ended").await?;
        client.stop(*session).await?;
        until(&mut following, |event| event.kind == "process.ended").await?;
    }
    took.insert(Operation::AnswerOnDisk, on_disk);
    took.insert(Operation::AnswerRan, ran);
    Ok(())
}
