//! A session on a terminal: what happens is shown, and the person decides.

mod draw;
mod person;

use std::pin::Pin;
use std::process::ExitCode;
use std::time::Duration;

use countersign::protocol::request::InterruptResponse;
use countersign::turn::{Outcome, Turn, TurnEvent};
use countersign::{ControlError, Session, SessionBuilder, SessionHandle, TurnError};
use tokio::time::{Instant, MissedTickBehavior};

use crate::failure::{Exit, Failure};
use crate::run::background::Background;
use crate::run::commands::Command;
use crate::run::desk::{self, Desk, Happened};
use crate::run::dialog::prompt::Prompt;
use crate::run::ending;
use crate::run::feed::{About, Feed};
use crate::run::signals::{Asks, Signals};
use crate::run::start::{Start, start};
use crate::run::terminal::keys::{Input, Key};
use crate::run::terminal::passing::Passing;
use crate::run::terminal::{self, Terminal};
use crate::run::view::line::{Line, Tone};
use crate::run::view::markdown::Markdown;
use crate::run::view::place::Place;
use crate::run::view::summary;

/// How often the time that something takes is shown anew.
const TICK: Duration = Duration::from_millis(500);

/// The exit code when the terminal is gone, as if by the signal that says so.
const HUNG_UP: u8 = 128 + 1;

type Interrupting = Pin<Box<dyn Future<Output = Result<InterruptResponse, ControlError>> + Send>>;

/// What is to be done.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) builder: SessionBuilder,
    pub(crate) place: Place,
    /// What to say first.
    pub(crate) prompt: Option<String>,
    /// Whether the person may say more.
    pub(crate) goes_on: bool,
    /// Whether it will be there to be resumed.
    pub(crate) can_be_resumed: bool,
    pub(crate) colours: bool,
}

/// Why a turn is no longer followed.
#[derive(Debug)]
enum Next {
    /// It is over.
    Over,
    /// The person says this.
    Said(String),
    Leave(Leave),
}

/// Why the session is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leave {
    /// All is said.
    Done,
    CtrlC,
    /// By a signal, with this exit code.
    Signal(u8),
}

/// How a turn ended: with an outcome, or without one though the conversation goes on.
type End = Result<Option<Outcome>, Leave>;

/// What happens next.
enum Step {
    Event(Option<Box<TurnEvent>>),
    Desk(Happened),
    Input(std::io::Result<Input>),
    Signal(Asks),
    Interrupted(Result<InterruptResponse, ControlError>),
    Tick,
}

/// Holds the session.
pub(crate) async fn run(job: Job) -> Result<ExitCode, Failure> {
    let Job { builder, place, prompt, goes_on, can_be_resumed, colours } = job;
    let (builder, desk) = desk::open(builder.partial_messages(), place.clone());
    let mut signals = Signals::new()?;
    // The terminal is taken only then: until there is a session, Ctrl-C is a signal, Ctrl-Z is up to
    // the shell, and what is typed is kept.
    let mut passing = Passing::new(colours);
    let tell = |waited| passing.show(draw::starting(waited));
    let mut session = match start(builder, &mut signals, tell).await? {
        Start::Session(session) => *session,
        Start::Left(code) => return Ok(ExitCode::from(code)),
    };
    drop(passing);
    let mut talk = Talk {
        terminal: Terminal::new(colours)?,
        desk,
        signals,
        feed: Feed::new(place.clone()),
        prompt: Prompt::default(),
        interrupting: None,
        ctrl_c: None,
        typed: None,
        opened: None,
        is_above: false,
        listens: Instant::now(),
        since: Instant::now(),
        introduced: None,
        background: Background::default(),
        mode: String::new(),
        goes_on,
    };
    talk.greet(&session, &place)?;
    let end = talk.hold(&mut session, prompt).await;
    // Not earlier: a plan may have begun another process.
    let handle = session.handle();
    talk.part(&handle, can_be_resumed).await;
    drop(talk);
    drop(session);
    let (leave, last) = match end {
        // Whatever could not be written because of it.
        Err(_) if terminal::is_gone() => (Leave::Signal(HUNG_UP), None),
        end => end?,
    };
    match (leave, last) {
        (Leave::CtrlC, _) => Ok(Exit::Interrupted.into()),
        (Leave::Signal(code), _) => Ok(ExitCode::from(code)),
        (Leave::Done, Some(outcome)) if !goes_on && outcome.interrupted() => {
            Ok(Exit::Interrupted.into())
        }
        (Leave::Done, Some(outcome)) if !goes_on => match ending::failed(&outcome) {
            Some(failure) => Err(failure),
            None => Ok(ExitCode::SUCCESS),
        },
        (Leave::Done, _) => Ok(ExitCode::SUCCESS),
    }
}

/// A session on a terminal.
struct Talk {
    terminal: Terminal,
    desk: Desk,
    signals: Signals,
    feed: Feed,
    prompt: Prompt,
    interrupting: Option<Interrupting>,
    /// When Ctrl-C was pressed last.
    ctrl_c: Option<Instant>,
    /// When something was typed last, or a dialog closed that it may have been meant for.
    typed: Option<Instant>,
    /// The dialog that was opened last, and from when on it takes keys.
    opened: Option<u64>,
    listens: Instant,
    /// Whether what does not fit into it was printed above it.
    is_above: bool,
    /// When the turn began.
    since: Instant,
    /// The session and model that were last said.
    introduced: Option<String>,
    background: Background,
    /// The permission mode.
    mode: String,
    /// Whether the person may say more.
    goes_on: bool,
}

impl Talk {
    /// Turn by turn, to the end.
    async fn hold(
        &mut self,
        session: &mut Session,
        first: Option<String>,
    ) -> Result<(Leave, Option<Outcome>), Failure> {
        let mut last = None;
        let mut said = first;
        loop {
            let text = match said.take() {
                Some(text) => text,
                None if !self.goes_on => return Ok((Leave::Done, last)),
                None => match self.idle(session).await? {
                    Next::Said(text) => text,
                    Next::Over => continue,
                    Next::Leave(leave) => return Ok((leave, last)),
                },
            };
            self.repeat(&text)?;
            if let Some(command) = Command::of(&text).filter(|_| self.goes_on) {
                if command == Command::Quit {
                    return Ok((Leave::Done, last));
                }
                let answer = command.run(&session.handle()).await;
                let lines = self.feed.notice(Tone::Dim, &answer);
                self.terminal.print(lines)?;
                continue;
            }
            let mut end = self.turn(session, text).await?;
            // In a conversation what comes of them is shown when it comes.
            while let Ok(Some(outcome)) = &end
                && !self.goes_on
                && self.background.is_busy()
                && !outcome.interrupted()
            {
                let lines = self.feed.notice(Tone::Dim, "waiting for agents in the background");
                self.terminal.print(lines)?;
                end = self.follow_to_the_end(session.current_turn()).await?;
                end = self.carry_out(session, end).await?;
            }
            match end {
                Ok(outcome) => last = outcome,
                Err(leave) => return Ok((leave, last)),
            }
        }
    }

    /// One turn, and what follows from it.
    async fn turn(&mut self, session: &mut Session, text: String) -> Result<End, Failure> {
        self.since = Instant::now();
        let turn = session.send(text).await.map_err(TurnError::from);
        let turn = turn.map_err(|error| ending::not_finished(&error))?;
        let end = self.follow_to_the_end(turn).await?;
        self.carry_out(session, end).await
    }

    /// Begins the conversation that a plan was approved to be carried out in, if a turn ended so.
    async fn carry_out(&mut self, session: &mut Session, mut end: End) -> Result<End, Failure> {
        while let Ok(Some(outcome)) = &mut end
            && let Some(fresh) = outcome.fresh_start.take()
        {
            let lines = self.feed.notice(Tone::Dim, "a new conversation begins with the plan");
            self.terminal.print(lines)?;
            self.draw(false)?;
            // A CLI may be started for it, which may take long.
            let turn = tokio::select! {
                turn = session.begin_fresh(&fresh) => turn,
                leave = self.given_up() => return Ok(Err(leave?)),
            };
            let turn = turn.map_err(|error| ending::not_fresh(&error))?;
            end = self.follow_to_the_end(turn).await?;
        }
        Ok(end)
    }

    async fn follow_to_the_end(&mut self, mut turn: Turn<&mut Session>) -> Result<End, Failure> {
        match self.follow(&mut turn, false).await? {
            Next::Leave(leave) => Ok(Err(leave)),
            Next::Over | Next::Said(_) => Ok(Ok(self.over(turn.finish().await)?)),
        }
    }

    /// Says how a turn ended, whoever asked for it. None if it has no outcome, but the conversation
    /// goes on.
    fn over(&mut self, end: Result<Outcome, TurnError>) -> Result<Option<Outcome>, Failure> {
        let withdrawn = self.desk.clear_withdrawn();
        self.decided(withdrawn)?;
        let mut lines = self.feed.over(self.terminal.columns());
        let end = match end {
            Ok(outcome) => {
                if outcome.interrupted() {
                    // It is in this way that a plan leaves the conversation that it was made in.
                    if outcome.fresh_start.is_none() {
                        lines.extend(self.feed.notice(Tone::Warn, "interrupted"));
                    }
                } else if let Some(error) = outcome.error() {
                    lines.extend(self.feed.notice(Tone::Bad, &error));
                } else if outcome.text.trim().is_empty() {
                    // A command of the CLI: the model has said nothing.
                    let answer = Markdown::text(outcome.answer().trim());
                    lines.extend(self.feed.about(About::Text, answer));
                }
                lines.extend(self.feed.about(About::Summary, summary::of(&outcome)));
                Ok(Some(outcome))
            }
            Err(error @ (TurnError::SessionEnded(_) | TurnError::Send(_))) => {
                Err(ending::not_finished(&error))
            }
            Err(error) if self.goes_on => {
                lines.extend(self.feed.notice(Tone::Bad, &error.to_string()));
                Ok(None)
            }
            Err(error) => Err(ending::not_finished(&error)),
        };
        self.terminal.print(lines)?;
        end
    }

    /// Waits for what the person says next. What happens in the background is shown meanwhile.
    async fn idle(&mut self, session: &mut Session) -> Result<Next, Failure> {
        let mut turn = session.current_turn();
        match self.follow(&mut turn, true).await? {
            Next::Over => {
                let end = self.over(turn.finish().await)?;
                Ok(match self.carry_out(session, Ok(end)).await? {
                    Ok(_) => Next::Over,
                    Err(leave) => Next::Leave(leave),
                })
            }
            next => Ok(next),
        }
    }

    /// Shows what happens, and has the person decide, until the turn is over or something is said.
    async fn follow(&mut self, turn: &mut Turn<&mut Session>, idle: bool) -> Result<Next, Failure> {
        let handle = turn.session().handle();
        let mode = handle.snapshot().permission_mode;
        self.mode = mode.map_or_else(|| "not known".to_owned(), |mode| mode.to_string());
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            self.draw(idle)?;
            let (is_deaf, listens) = (self.is_deaf(), self.listens);
            let interrupted = async {
                match &mut self.interrupting {
                    Some(interrupting) => interrupting.await,
                    None => std::future::pending().await,
                }
            };
            let step = tokio::select! {
                // The person comes first, and what was said is shown before what is asked.
                biased;
                input = self.terminal.next() => Step::Input(input),
                asks = self.signals.next() => Step::Signal(asks),
                answer = interrupted => Step::Interrupted(answer),
                event = turn.next() => Step::Event(event.map(Box::new)),
                happened = self.desk.next() => Step::Desk(happened),
                () = tokio::time::sleep_until(listens), if is_deaf => Step::Tick,
                _ = tick.tick(), if !idle => Step::Tick,
            };
            if let Some(next) = self.step(step, &handle, idle).await? {
                return Ok(next);
            }
        }
    }

    async fn step(
        &mut self,
        step: Step,
        handle: &SessionHandle,
        idle: bool,
    ) -> Result<Option<Next>, Failure> {
        match step {
            Step::Event(None) => return Ok(Some(Next::Over)),
            Step::Event(Some(event)) => {
                if let TurnEvent::Began(init) = &*event {
                    self.introduce(&init.model, init.session_id.as_str())?;
                }
                self.background.saw(&event);
                let lines = self.feed.event(&event, self.terminal.columns());
                self.terminal.print(lines)?;
            }
            Step::Desk(Happened::Asked(asked)) => self.desk.take(asked),
            Step::Desk(Happened::Withdrawn) => {
                let lines = self.desk.clear_withdrawn();
                self.decided(lines)?;
            }
            Step::Input(Ok(Input::Resized(columns, rows))) => {
                self.terminal.resize(columns, rows)?;
            }
            Step::Input(Ok(Input::Key(key))) => return self.key(&key, handle, idle).await,
            // The terminal is gone, and with it the person.
            Step::Input(Err(_)) => return Ok(Some(Next::Leave(Leave::Signal(HUNG_UP)))),
            Step::Signal(Asks::Interrupt) => return self.ctrl_c(handle, idle),
            Step::Signal(Asks::End(code)) => return Ok(Some(Next::Leave(Leave::Signal(code)))),
            Step::Interrupted(answer) => {
                self.interrupting = None;
                if let Err(error) = answer {
                    let lines = self.feed.notice(Tone::Bad, &error.to_string());
                    self.terminal.print(lines)?;
                }
                let lines = self.desk.refuse_all();
                self.decided(lines)?;
            }
            Step::Tick => {}
        }
        Ok(None)
    }

    /// Ends the session, and says how to go on with it. Another Ctrl-C does not wait for anything.
    ///
    /// What cannot be written is not said: the terminal may be gone, and the session ends all the
    /// same.
    async fn part(&mut self, handle: &SessionHandle, can_be_resumed: bool) {
        let lines = self.desk.refuse_all();
        drop(self.decided(lines));
        let snapshot = handle.snapshot();
        if let Some(id) = snapshot.session_id.filter(|_| can_be_resumed && snapshot.results > 0) {
            let words = format!("To go on: countersign run --resume {id}");
            drop(self.terminal.print(vec![Line::of(Tone::Dim, &words)]));
        }
        drop(self.terminal.show(vec![Line::of(Tone::Dim, "ending…")]));
        let mut closing = std::pin::pin!(handle.close());
        loop {
            tokio::select! {
                _ = &mut closing => break,
                asks = self.signals.next() => {
                    if asks != Asks::Interrupt || self.ctrl_c.is_some() {
                        drop(handle.kill().await);
                        break;
                    }
                }
                input = self.terminal.next() => match input {
                    Ok(Input::Key(Key::Ctrl('c'))) => {
                        drop(handle.kill().await);
                        break;
                    }
                    Ok(_) => {}
                    Err(_) => {
                        drop(handle.kill().await);
                        break;
                    }
                },
            }
        }
        drop(self.terminal.show(Vec::new()));
    }
}
