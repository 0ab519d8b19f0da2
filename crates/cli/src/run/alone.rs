//! A session without a terminal: nobody is asked, and what needs permission is refused.

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use countersign::permission::{HandlerFailure, PermissionAnswer, PermissionAsk, PermissionHandler};
use countersign::turn::{Outcome, Turn, TurnEvent};
use countersign::{Session, SessionBuilder};

use super::background::Background;
use super::ending;
use super::events::Event;
use super::feed::Feed;
use super::signals::{Asks, Signals};
use super::start::{STARTING, Start, start};
use super::view::line::{Line, Tone};
use super::view::place::Place;
use super::view::summary;
use crate::failure::{Exit, Failure};
use crate::output::{Output, plain};

/// What the model is told.
const NOBODY: &str = "This was refused because nobody can be asked: the session runs without a \
                      terminal. Go on without it, or say what has to be allowed.";

/// How wide notes are. Nobody knows how wide what they are written to is.
const COLUMNS: usize = 100;

/// Refuses everything, and counts.
#[derive(Clone, Debug, Default)]
struct Nobody(Arc<AtomicUsize>);

impl PermissionHandler for Nobody {
    async fn decide(&self, ask: PermissionAsk) -> Result<PermissionAnswer, HandlerFailure> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(ask.deny(NOBODY))
    }
}

/// How a turn was left.
enum End {
    Over(Box<Outcome>),
    /// With this exit code.
    Left(u8),
}

/// Holds one turn.
pub(crate) async fn run(
    builder: SessionBuilder,
    place: Place,
    prompt: String,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let nobody = Nobody::default();
    let mut builder = builder.on_permission(nobody.clone());
    if !output.is_json() {
        builder = builder.partial_messages();
    }
    let mut signals = Signals::new()?;
    // A program that reads standard error finds nothing there but failures.
    let mut is_silent = output.is_quiet() || (output.is_json() && !std::io::stderr().is_terminal());
    let tell = |_| {
        if !std::mem::replace(&mut is_silent, true) {
            output.note(STARTING);
        }
    };
    let mut session = match start(builder, &mut signals, tell).await? {
        Start::Session(session) => *session,
        Start::Left(code) => return Ok(ExitCode::from(code)),
    };
    let mut said = Said {
        json: output.is_json(),
        feed: Feed::new(place),
        background: Background::default(),
        output,
        in_line: false,
        streamed: String::new(),
    };
    let end = held(&mut session, prompt, &mut said, &mut signals).await;
    session.close().await;
    let outcome = match end? {
        End::Over(outcome) => outcome,
        End::Left(code) => return Ok(ExitCode::from(code)),
    };
    let refused = nobody.0.load(Ordering::SeqCst);
    said.result(&outcome, refused)?;
    if outcome.interrupted() {
        return Ok(Exit::Interrupted.into());
    }
    if let Some(failure) = ending::failed(&outcome) {
        return Err(failure);
    }
    if refused > 0 {
        let times = if refused == 1 { "one call".to_owned() } else { format!("{refused} calls") };
        let words = format!("{times} needed permission, and nobody could be asked");
        let hint = "Run it in a terminal, or allow what it needs with --allowed-tools or --mode.";
        return Err(Failure::new(words).hint(hint).code(Exit::NobodyToAsk));
    }
    Ok(ExitCode::SUCCESS)
}

async fn held(
    session: &mut Session,
    prompt: String,
    said: &mut Said<'_>,
    signals: &mut Signals,
) -> Result<End, Failure> {
    let turn = session.send(prompt).await?;
    let mut end = follow(turn, said, signals).await?;
    while let End::Over(outcome) = &end
        && said.background.is_busy()
        && !outcome.interrupted()
    {
        end = follow(session.current_turn(), said, signals).await?;
    }
    Ok(end)
}

async fn follow(
    mut turn: Turn<&mut Session>,
    said: &mut Said<'_>,
    signals: &mut Signals,
) -> Result<End, Failure> {
    let handle = turn.session().handle();
    let mut interrupting = None;
    loop {
        let interrupted = async {
            match &mut interrupting {
                Some(interrupting) => std::pin::Pin::as_mut(interrupting).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            event = turn.next() => match event {
                Some(event) => said.event(&event)?,
                None => break,
            },
            asks = signals.next() => match asks {
                Asks::Interrupt if interrupting.is_none() => {
                    let handle = handle.clone();
                    let interrupt = async move {
                        // A turn that cannot be interrupted is left with the next signal.
                        drop(handle.interrupt().await);
                        std::future::pending::<()>().await;
                    };
                    interrupting = Some(Box::pin(interrupt));
                }
                Asks::Interrupt => return Ok(End::Left(Exit::Interrupted as u8)),
                Asks::End(code) => return Ok(End::Left(code)),
            },
            () = interrupted => {}
        }
    }
    let outcome = turn.finish().await.map_err(|error| ending::not_finished(&error))?;
    Ok(End::Over(Box::new(outcome)))
}

/// What is said of it.
struct Said<'a> {
    json: bool,
    feed: Feed,
    background: Background,
    output: &'a mut Output,
    /// Whether a line of text is not complete.
    in_line: bool,
    /// Text that has come so far of what is being written.
    streamed: String,
}

impl Said<'_> {
    fn event(&mut self, event: &TurnEvent) -> Result<(), Failure> {
        self.background.saw(event);
        if self.json {
            if let Some(event) = Event::of(event) {
                self.output.json(&event)?;
                self.output.flush()?;
            }
            return Ok(());
        }
        match event {
            TurnEvent::Began(init) => {
                let parts = [
                    format!("Claude Code {}", init.claude_code_version),
                    init.model.clone(),
                    format!("mode {}", init.permission_mode),
                    init.cwd.clone(),
                    format!("session {}", init.session_id),
                ];
                self.break_off_text()?;
                self.say(&plain(&parts.join(" · ")));
            }
            TurnEvent::TextDelta { text, parent: None } => {
                self.streamed.push_str(text);
                self.text(text)?;
            }
            TurnEvent::Text { text, parent: None } => self.whole(text)?,
            event => {
                if let TurnEvent::Retry(_) = event {
                    self.break_off_text()?;
                }
                for line in self.feed.event(event, COLUMNS) {
                    self.note(&line)?;
                }
            }
        }
        Ok(())
    }

    /// Writes text of the model.
    fn text(&mut self, text: &str) -> Result<(), Failure> {
        if !text.is_empty() {
            self.in_line = true;
            self.output.bytes(plain(text).as_bytes())?;
            self.output.flush()?;
        }
        Ok(())
    }

    /// The whole text, most of which may have come in pieces.
    fn whole(&mut self, text: &str) -> Result<(), Failure> {
        let streamed = std::mem::take(&mut self.streamed);
        match text.strip_prefix(&*streamed) {
            Some(rest) => self.text(rest)?,
            None => {
                // What came before is void.
                self.streamed = streamed;
                self.break_off_text()?;
                self.text(text)?;
            }
        }
        // A note may have ended it already.
        if self.in_line { self.end_line() } else { Ok(()) }
    }

    /// The text that was being written will not be completed.
    fn break_off_text(&mut self) -> Result<(), Failure> {
        if !std::mem::take(&mut self.streamed).is_empty() {
            self.note(&Line::of(Tone::Warn, "(what was written above has broken off)"))?;
        }
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), Failure> {
        self.in_line = false;
        self.output.line("")?;
        self.output.flush()
    }

    fn note(&mut self, line: &Line) -> Result<(), Failure> {
        if self.in_line {
            self.end_line()?;
        }
        // An empty line would be a gap in nothing.
        if !line.is_empty() {
            self.say(&line.rendered(true));
        }
        Ok(())
    }

    /// Says something besides the text.
    fn say(&mut self, words: &str) {
        if !self.output.is_quiet() {
            self.output.note(words);
        }
    }

    fn result(&mut self, outcome: &Outcome, refused: usize) -> Result<(), Failure> {
        if self.json {
            return self.output.json(&Event::result(outcome, refused));
        }
        let answer = outcome.answer().trim();
        if outcome.succeeded() && outcome.text.trim().is_empty() && !answer.is_empty() {
            // A command of the CLI: the model has said nothing.
            self.output.line(plain(answer))?;
            self.output.flush()?;
        }
        for line in self.feed.over(COLUMNS).into_iter().chain(summary::of(outcome)) {
            self.note(&line)?;
        }
        if let Some(id) = outcome.session_id() {
            self.say(&plain(&format!("To go on: countersign run --resume {id}")));
        }
        Ok(())
    }
}
