//! `countersign watch`: what happens, as it happens.

use std::process::ExitCode;

use countersign_server::api::view::{EventView, ListEvents, SessionView};
use countersign_server::client::{Client, ClientError, Followed, Following};
use countersign_server::session::{Happening, Head, State};
use jiff::Timestamp;
use serde_json::json;

use crate::failure::Failure;
use crate::inbox::{Sessions, heading};
use crate::output::Output;
use crate::remote::asked::Asked;
use crate::remote::happening::{Story, approval, said};
use crate::remote::session::title;
use crate::remote::told::told;
use crate::remote::{Remote, named, next, print};
use crate::run::view::line::{Line, Tone};
use crate::words::short;

/// Watch a session as it goes on, or everything that is asked
///
/// Text is shown as it comes, and so is what is asked and decided, by whomever. When the connection is
/// lost it goes on by itself, and nothing is missed. Without a session it tells what waits for a
/// person, over all sessions. Ctrl-C ends it; what it shows goes on.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session: its id, the beginning or the end of it, or `latest`
    session: Option<String>,
    /// How many of the last events are shown first
    #[arg(long, value_name = "NUMBER", default_value_t = 30, requires = "session")]
    history: usize,
    /// End when the session has nothing to do, or waits for a person
    #[arg(long, requires = "session")]
    until_idle: bool,
    #[command(flatten)]
    remote: Remote,
}

impl Args {
    pub(crate) fn run(self, output: &mut Output) -> Result<ExitCode, Failure> {
        self.remote.with(async |client| match &self.session {
            Some(text) => {
                let view = named::session(client, text).await?;
                self.session(client, &view, output).await
            }
            None => inbox(client, output).await,
        })?;
        Ok(ExitCode::SUCCESS)
    }

    async fn session(
        &self,
        client: &Client,
        view: &SessionView,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let id = view.head.id;
        let mut story = Story::new(&view.head.folder, view.head.approvals.keys().copied());
        if !output.is_json() {
            let line = Line::of(Tone::Bold, &title(view))
                .and(Tone::Dim, &format!("  {}  {}", short(id.uuid()), view.state.name()));
            print(&[line], output)?;
        }
        let mut last = view.head.seq;
        if self.history > 0 {
            let (before, limit) = (Some(last + 1), Some(self.history.min(500)));
            let wanted = ListEvents { before, limit, ..ListEvents::default() };
            for event in &client.events(id, &wanted).await.map_err(told)?.items {
                last = last.max(event.seq);
                tell(event, &mut story, output)?;
            }
        }
        output.flush()?;
        let mut following = client.follow(id, Some(last)).await.map_err(told)?;
        // The server says first what the session is now.
        let mut now = None;
        loop {
            if self.until_idle && now.as_deref().is_some_and(|now| is_over(now, last)) {
                break;
            }
            let Some(followed) = following.next().await else { break };
            match followed.map_err(told)? {
                Followed::Event(event) => {
                    last = event.seq;
                    story.is_live(&event);
                    tell(&event, &mut story, output)?;
                }
                // It may be ahead of the events that were told.
                Followed::Head(head) => now = Some(head),
                Followed::Delta(line) if output.is_json() => {
                    output.json(&json!({"kind": "delta", "session": id, "line": line}))?;
                    output.flush()?;
                }
                Followed::Delta(line) => story.delta(line.as_str(), output)?,
                Followed::Reconnecting { because, .. } if !output.is_json() => {
                    story.broke_off(&because.to_string(), output)?;
                }
                other => aside(&other, output)?,
            }
        }
        story.over(output)
    }
}

/// Whether a session has nothing to do before somebody says something, and everything that happened
/// until then has been told.
fn is_over(view: &SessionView, last: u64) -> bool {
    let Head { turn, queue, .. } = &view.head;
    let at_rest = turn.is_none() && queue.is_empty();
    let over = match view.state {
        State::Idle | State::Ready => at_rest,
        State::Waiting | State::Parked | State::Ended | State::Failed => true,
        State::Queued | State::Starting | State::Running => false,
    };
    over && view.head.seq <= last
}

fn tell(event: &EventView, story: &mut Story, output: &mut Output) -> Result<(), Failure> {
    if output.is_json() {
        output.json(event)?;
        return output.flush();
    }
    story.event(event, output)
}

/// Tells what is no event, to programs.
fn aside(followed: &Followed, output: &mut Output) -> Result<(), Failure> {
    if !output.is_json() {
        return Ok(());
    }
    match followed {
        Followed::Lagged { missed } => output.json(&json!({"kind": "lagged", "missed": missed}))?,
        Followed::Reset { after } => output.json(&json!({"kind": "reset", "after": after}))?,
        Followed::Reconnecting { because, wait } => {
            let wait = wait.as_millis();
            let because = because.to_string();
            output.json(&json!({"kind": "reconnecting", "because": because, "wait_ms": wait}))?;
        }
        _ => return Ok(()),
    }
    output.flush()
}

/// Everything that is asked and answered, over all sessions.
async fn inbox(client: &Client, output: &mut Output) -> Result<(), Failure> {
    // Followed first, so that nothing is missed between the two.
    let following = client.follow_inbox(None).await.map_err(told)?;
    let mut sessions = Sessions::default();
    let open = named::inbox(client).await?;
    let mut known: std::collections::BTreeSet<_> = open.iter().map(|asked| asked.id).collect();
    for asked in &open {
        if output.is_json() {
            output.json(asked)?;
        } else {
            let session = sessions.get(client, asked.session).await?;
            print(&[heading(asked, session, Timestamp::now())], output)?;
            print(&Asked::of(asked, &session.folder).lines(None), output)?;
            output.line("")?;
        }
    }
    output.flush()?;
    if open.is_empty() {
        next("nothing waits for you now", output);
    }
    follow_inbox(client, following, &mut known, &mut sessions, output).await
}

async fn follow_inbox(
    client: &Client,
    mut following: Following,
    known: &mut std::collections::BTreeSet<countersign_server::id::ApprovalId>,
    sessions: &mut Sessions,
    output: &mut Output,
) -> Result<(), Failure> {
    while let Some(followed) = following.next().await {
        let event = match followed.map_err(told)? {
            Followed::Event(event) => event,
            Followed::Reconnecting { because, .. } if !output.is_json() => {
                lost(&because, output);
                continue;
            }
            other => {
                aside(&other, output)?;
                continue;
            }
        };
        if output.is_json() {
            output.json(&event)?;
            output.flush()?;
            continue;
        }
        let id = short(event.session.uuid());
        match event.happening() {
            Ok(Happening::ApprovalOpened(opened)) => {
                // It was open already when we began.
                if !known.insert(opened.approval) {
                    continue;
                }
                let asked = approval(&event, &opened);
                let session = sessions.get(client, event.session).await?;
                print(&[heading(&asked, session, Timestamp::now())], output)?;
                print(&Asked::of(&asked, &session.folder).lines(None), output)?;
                output.line("")?;
            }
            Ok(Happening::ApprovalAnswered(answered)) => {
                let approval = short(answered.approval.uuid());
                let words = format!("{}: {}", answered.by.name(), said(&answered.answer));
                print(
                    &[Line::of(Tone::Accent, &approval).and(Tone::Good, &format!("  ⇒ {words}"))],
                    output,
                )?;
            }
            Ok(Happening::ApprovalClosed(closed)) => {
                if let Some(why) = &closed.why {
                    let approval = short(closed.approval.uuid());
                    let line = Line::of(Tone::Accent, &approval);
                    print(&[line.and(Tone::Dim, &format!("  over: {why}"))], output)?;
                }
            }
            Ok(Happening::Parked(_)) => {
                let words = format!("{id} is parked: no process waits; an answer brings it back");
                print(&[Line::of(Tone::Dim, &words)], output)?;
            }
            Ok(Happening::Deleted(deleted)) => {
                let words =
                    format!("{id} was deleted by {}: it asks nothing more", deleted.by.name());
                print(&[Line::of(Tone::Dim, &words)], output)?;
            }
            _ => {}
        }
        output.flush()?;
    }
    Ok(())
}

fn lost(because: &ClientError, output: &mut Output) {
    next(&format!("the connection was lost ({because}); trying again"), output);
}
