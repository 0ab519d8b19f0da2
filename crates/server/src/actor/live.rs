//! A process that is there: what it says is written down, and what is wanted of it is done.

use std::sync::Arc;
use std::time::Duration;

use countersign::Session;
use countersign::park::ParkError;
use countersign::protocol::message::Priority;
use countersign::protocol::permission::PermissionMode;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::time::Instant;

use super::frames::{Heard, hear};
use super::words::without_stderr;
use super::{Actor, Done, Leave, Parking};
use crate::hub::Need;
use crate::id::{MessageId, TurnId};
use crate::session::{
    Happening, Head, MessageContent, MessageSent, ModeChanged, ModelChanged, TurnBegan, TurnCause,
    TurnEnd, TurnEnded, Wish, WishRefused,
};

/// How long it takes until parking is tried again.
const PARK_AGAIN: Duration = Duration::from_secs(30);

/// How long it takes until a message is looked up again.
const READ_AGAIN: Duration = Duration::from_millis(200);

/// How many messages are written down together.
const TOGETHER: usize = 64;

/// How often is looked at everything, though nothing happened.
pub(super) const LOOK: Duration = Duration::from_secs(15);

impl Actor {
    /// Attends to the process, until it is to be given up or has ended.
    pub(super) async fn attend(&mut self, session: &mut Session) -> Leave {
        loop {
            match self.round(session).await {
                Ok(None) => {}
                Ok(Some(leave)) | Err(leave) => return leave,
            }
        }
    }

    /// Does what is to be done, and waits for the next thing.
    async fn round(&mut self, session: &mut Session) -> Result<Option<Leave>, Leave> {
        if self.leaving.is_none()
            && let Some(leave) = self.reconcile(session).await?
        {
            return Ok(Some(leave));
        }
        let deadline = self.deadline();
        let (closing, ending) = (self.hub.closing().clone(), self.hub.ending().clone());
        let is_leaving = self.leaving.is_some();
        tokio::select! {
            biased;
            Some(ask) = self.asks.recv() => self.asked(ask, Some(session)).await?,
            Some(done) = self.work.next() => self.done(done, session).await?,
            message = session.next_message() => match message {
                Some(message) => self.heard(message, session).await?,
                None => return Ok(Some(self.ended(session).await)),
            },
            () = self.poke.notified() => self.look().await,
            () = self.slot.give_up.notified() => self.give_up = true,
            // Looked at once: whatever can be given up is, and the rest as it comes to its end.
            () = closing.cancelled(), if !self.is_closing => self.is_closing = true,
            () = ending.cancelled(), if !is_leaving => self.leave_off(session),
            () = tokio::time::sleep_until(deadline) => self.look().await,
        }
        Ok(None)
    }

    /// The process has ended.
    async fn ended(&mut self, session: &Session) -> Leave {
        match self.leaving {
            Some(why) => Leave::Closed(why),
            None => Leave::Lost(Box::new(session.handle().ended().await)),
        }
    }

    /// Ends the process. What it says until then is still heard.
    fn leave(&mut self, why: &'static str, session: &Session) {
        if self.leaving.is_some() {
            return;
        }
        self.leaving = Some(why);
        let handle = session.handle();
        self.work.push(Box::pin(async move {
            handle.close().await;
            Done::Closed
        }));
    }

    /// Ends the process because the server stops. A turn that is running goes on when there is a server
    /// again, so it is cut off: one that is interrupted would be over.
    fn leave_off(&mut self, session: &Session) {
        let why = "the server stops";
        if self.head.turn.is_none() && self.head.approvals.is_empty() {
            self.leave(why, session);
            return;
        }
        self.leaving = Some(why);
        let handle = session.handle();
        self.work.push(Box::pin(async move {
            handle.kill().await;
            Done::Closed
        }));
    }

    /// The next time at which something has to be done, if nothing happens.
    fn deadline(&self) -> Instant {
        let settings = self.hub.settings();
        let mut next = Instant::now() + LOOK;
        if self.leaving.is_some() {
            return next;
        }
        if let Some(since) = self.resting_since {
            next = next.min(since + settings.idle_after);
        }
        if let Some(at) = self.park_at().filter(|_| !self.is_being_parked()) {
            next = next.min(at);
        }
        next
    }

    /// When the session is to be parked, if it can be.
    fn park_at(&self) -> Option<Instant> {
        let (approval, _) = self.head.parkable()?;
        let since = self.waiters.get(&approval)?.since;
        let at = since + self.hub.settings().park_after;
        Some(self.park_not_before.map_or(at, |not_before| at.max(not_before)))
    }

    /// Does what the session asks for.
    async fn reconcile(&mut self, session: &mut Session) -> Result<Option<Leave>, Leave> {
        if self.head.stop {
            self.leave("the session was stopped", session);
            return Ok(None);
        }
        self.deliver().await?;
        self.leave_bypass(session).await?;
        if self.leaving.is_some() {
            return Ok(None);
        }
        self.wishes(session);
        self.interrupt(session);
        self.send(session).await?;
        self.rest(session);
        self.end_stalled_turn(session).await?;
        let now = Instant::now();
        let must_go = self.give_up || self.hub.is_closing();
        if let Some(at) = self.park_at() {
            let not_before = self.park_not_before.unwrap_or(now);
            let is_due = now >= at || (must_go && now >= not_before);
            if is_due && self.park(session).await? {
                return Ok(Some(Leave::Parked));
            }
        }
        if let Some(since) = self.resting_since {
            if self.hub.is_closing() {
                self.leave("the server stops", session);
            } else if must_go {
                self.leave("its process is needed elsewhere", session);
            } else if now >= since + self.hub.settings().idle_after {
                self.leave("it had nothing to do", session);
            }
        }
        Ok(None)
    }

    /// Gives up the process while a person is asked, once everything is written that brings the call
    /// back: that may take its time, in which everything else goes on. Says whether it is given up.
    async fn park(&mut self, session: &mut Session) -> Result<bool, Leave> {
        let Some((approval, _)) = self.head.parkable() else { return Ok(false) };
        match &self.parking {
            Parking::Prepared(_) if self.is_being_parked() => return Ok(false),
            Parking::Ready(on, _) if *on == approval => {}
            _ => {
                self.parking = Parking::Prepared(approval);
                let prepared = session.prepare_parking();
                self.work.push(Box::pin(async move { Done::Parkable(approval, prepared.await) }));
                return Ok(false);
            }
        }
        self.drain(session).await?;
        let still = self.head.parkable().is_some_and(|(id, _)| id == approval);
        let Parking::Ready(_, parkable) = std::mem::take(&mut self.parking) else {
            return Ok(false);
        };
        if !still {
            // What was heard has changed it.
            return Ok(false);
        }
        match parkable.park().await {
            Ok(_) => Ok(true),
            Err(error) => {
                self.not_parked(&error);
                Ok(false)
            }
        }
    }

    /// Whether what brings the call back that is asked for is being written.
    fn is_being_parked(&self) -> bool {
        let asked = self.head.parkable().map(|(approval, _)| approval);
        matches!(self.parking, Parking::Prepared(on) if asked == Some(on))
    }

    /// The process is kept, though a person is asked.
    fn not_parked(&mut self, error: &ParkError) {
        tracing::info!(session = %self.id, %error, "the session is not parked");
        self.parking = Parking::No;
        self.park_not_before = Some(Instant::now() + PARK_AGAIN);
        self.give_up = false;
    }

    /// Ends a turn that the CLI does not know of: it has dropped the message, because it knew it.
    async fn end_stalled_turn(&mut self, session: &Session) -> Result<(), Leave> {
        let handle = session.handle();
        let is_stalled = !handle.snapshot().is_running
            && handle.open_requests() == 0
            && self.head.approvals.is_empty();
        let Some(turn) = self.head.turn.as_ref().map(|turn| turn.id).filter(|_| is_stalled) else {
            self.stalled_since = None;
            return Ok(());
        };
        // Its end may be among what is not read yet.
        let since = *self.stalled_since.get_or_insert_with(Instant::now);
        if since.elapsed() < LOOK {
            return Ok(());
        }
        self.stalled_since = None;
        let why = Some("the CLI does not go on with it".to_owned());
        let is_interrupted = self.head.interrupt == Some(turn);
        let end = if is_interrupted { TurnEnd::Interrupted } else { TurnEnd::CutOff };
        self.write(vec![TurnEnded { turn, end, used: None, why }.into()]).await
    }

    /// Takes note of whether there is anything to do.
    fn rest(&mut self, session: &Session) {
        let head = &self.head;
        let is_resting = head.turn.is_none()
            // It may have begun with something of which nothing was heard yet.
            && !session.handle().snapshot().is_running
            && head.approvals.is_empty()
            && !head.has_next()
            && self.watching.tasks.is_empty()
            && !self.pending.mode
            && !self.pending.model;
        match (is_resting, self.resting_since) {
            (true, None) => self.resting_since = Some(Instant::now()),
            (false, Some(_)) => self.resting_since = None,
            _ => {}
        }
        if !is_resting && self.head.parkable().is_none() {
            self.give_up = false;
        }
        let need = if self.resting_since.is_some() {
            Need::Rests
        } else if self.head.parkable().is_some()
            // Who was asked in vain is not asked again for a while: others may be able to.
            && self.park_not_before.is_none_or(|not_before| Instant::now() >= not_before)
        {
            Need::Asks
        } else {
            Need::Works
        };
        self.slot.need(need);
    }

    /// Whether the process may bypass permissions, and the session is not to any more. Plan mode
    /// writes without asking in such a process (2.1.62 and 2.1.197), so there has to be another one.
    fn outlives_bypass(&self) -> bool {
        let mode = self.head.wanted_mode.as_ref().unwrap_or(&self.head.mode);
        self.may_bypass && *mode != PermissionMode::BypassPermissions
    }

    /// Ends a process that may bypass permissions when the session is not to any more, as soon as
    /// nothing is running in it.
    async fn leave_bypass(&mut self, session: &Session) -> Result<(), Leave> {
        if !self.outlives_bypass() {
            return Ok(());
        }
        let is_busy = self.head.turn.is_some()
            || session.handle().snapshot().is_running
            || !self.head.approvals.is_empty()
            || !self.watching.tasks.is_empty();
        if !is_busy {
            self.leave("another mode needs another process", session);
        } else if self.head.wanted_mode == Some(PermissionMode::Plan) {
            let why = "the process was started in the mode bypassPermissions, in which plan mode would \
                       not ask before it writes: interrupt the turn first, or choose the mode default";
            let value = Some(PermissionMode::Plan.as_str().to_owned());
            let (wish, why) = (Wish::Mode, why.to_owned());
            self.write(vec![WishRefused { wish, value, why }.into()]).await?;
        }
        Ok(())
    }

    /// Asks the CLI for another mode or model.
    fn wishes(&mut self, session: &Session) {
        if let Some(mode) = self.head.wanted_mode.clone()
            && !self.pending.mode
        {
            self.pending.mode = true;
            let handle = session.handle();
            self.work.push(Box::pin(async move {
                let done = handle.set_permission_mode(mode.clone()).await;
                Done::Mode(mode, done.map_err(|error| error.to_string()))
            }));
        }
        if let Some(wanted) = self.head.wanted_model.clone()
            && !self.pending.model
        {
            self.pending.model = true;
            let handle = session.handle();
            self.work.push(Box::pin(async move {
                let done = match wanted.model.clone() {
                    Some(model) => handle.set_model(model).await.map(drop),
                    None => handle.reset_model().await.map(drop),
                };
                Done::Model(wanted.model, done.map_err(|error| error.to_string()))
            }));
        }
    }

    /// Ends the turn that somebody wants to end. A CLI that does not do it is ended.
    fn interrupt(&mut self, session: &Session) {
        let Some(turn) = self.head.interrupt else { return };
        if self.pending.interrupt == Some(turn) {
            return;
        }
        self.pending.interrupt = Some(turn);
        let (handle, within) = (session.handle(), self.hub.settings().interrupt_within);
        self.work.push(Box::pin(async move {
            let asked = async {
                handle.interrupt().await.map_err(|error| error.to_string())?;
                let over = handle.watch().wait_for(|known| !known.is_running).await;
                over.map(drop).ok_or_else(|| "the session has ended".to_owned())
            };
            let done = match tokio::time::timeout(within, asked).await {
                Ok(done) => done,
                Err(_) => Err(format!("it did not do it within {within:?}")),
            };
            Done::Interrupt(done)
        }));
    }

    /// Gives the CLI the next message.
    async fn send(&mut self, session: &Session) -> Result<(), Leave> {
        let head = &self.head;
        let (message, turn, begins) = match (&head.turn, head.queue.first()) {
            (_, None) => return Ok(()),
            (None, Some(_)) if !head.has_next() || self.outlives_bypass() => return Ok(()),
            (None, Some(next)) => (next.message, TurnId::new(), true),
            (Some(turn), _) => {
                let is_open = head.interrupt.is_none() && !head.is_asking();
                let now = head.queue.iter().find(|queued| queued.now);
                match now.filter(|_| is_open) {
                    Some(now) => (now.message, turn.id, false),
                    None => return Ok(()),
                }
            }
        };
        let mut happens: Vec<Happening> = Vec::new();
        if begins {
            happens.push(TurnBegan { turn, cause: TurnCause::Message }.into());
            // The turn is there because of it.
            self.watching.taken_up.insert(message.to_string());
        }
        happens.push(MessageSent { message, turn }.into());
        if !self.write_unless_refused(happens).await? {
            // Somebody has taken it back meanwhile.
            return Ok(());
        }
        // From now on it cannot be changed any more.
        let Some(mut content) = self.content_of(message).await? else {
            return self.note(format!("the message {message} is not in the store")).await;
        };
        if let Some(story) = self.retold().await? {
            content.text = format!("{story}\n\n{}", content.text);
        }
        let priority = (!begins).then_some(Priority::Next);
        if let Err(error) = session.handle().post(content.to_message(message, priority)).await {
            // The process is gone, and what that means is seen to elsewhere.
            let error = error.to_string();
            let error = without_stderr(&error);
            tracing::info!(session = %self.id, error, "a message could not be sent");
        }
        Ok(())
    }

    /// What a message says, however long the store takes.
    async fn content_of(&mut self, message: MessageId) -> Result<Option<MessageContent>, Leave> {
        loop {
            match self.hub.store().message(message).await {
                Ok(stored) => return Ok(stored.map(|stored| stored.content)),
                Err(error) => {
                    tracing::warn!(session = %self.id, %error, "a message cannot be read yet");
                }
            }
            let ending = self.hub.ending().clone();
            tokio::select! {
                () = tokio::time::sleep(READ_AGAIN) => {}
                // It is given back to where it waited: the CLI does not know it.
                () = ending.cancelled() => return Err(Leave::Unwritten),
            }
        }
    }

    /// Something that was waited for is there.
    async fn done(&mut self, done: Done, session: &Session) -> Result<(), Leave> {
        match done {
            Done::Closed | Done::Answered => Ok(()),
            Done::Withdrawn(approval) => self.withdrawn(approval, session).await,
            Done::Parkable(approval, done) => {
                // Something else may be asked by now.
                if matches!(self.parking, Parking::Prepared(on) if on == approval) {
                    match done {
                        Ok(parkable) => {
                            self.parking = Parking::Ready(approval, Box::new(parkable));
                        }
                        Err(error) => self.not_parked(&error),
                    }
                }
                Ok(())
            }
            Done::Interrupt(Ok(())) => Ok(()),
            Done::Interrupt(Err(why)) => {
                let text =
                    format!("The turn could not be interrupted ({why}); the process is ended.");
                // First: when the process is gone, nothing is heard of this any more.
                self.note(text).await?;
                let handle = session.handle();
                self.work.push(Box::pin(async move {
                    handle.kill().await;
                    Done::Closed
                }));
                Ok(())
            }
            // A CLI that is gone has refused nothing: it is done when there is none, or by the next.
            Done::Mode(_, Err(_)) | Done::Model(_, Err(_)) if session.handle().is_ending() => {
                Ok(())
            }
            Done::Mode(mode, done) => {
                self.pending.mode = false;
                match done {
                    Ok(()) => self.write(vec![ModeChanged { mode }.into()]).await,
                    Err(why) => {
                        let (wish, value) = (Wish::Mode, Some(mode.to_string()));
                        self.write(vec![WishRefused { wish, value, why }.into()]).await
                    }
                }
            }
            Done::Model(model, done) => {
                self.pending.model = false;
                match done {
                    Ok(()) => self.write(vec![ModelChanged { model }.into()]).await,
                    Err(why) => {
                        let (wish, value) = (Wish::Model, model);
                        self.write(vec![WishRefused { wish, value, why }.into()]).await
                    }
                }
            }
        }
    }

    /// The CLI says something, and perhaps more at once.
    async fn heard(
        &mut self,
        first: countersign::Message,
        session: &mut Session,
    ) -> Result<(), Leave> {
        self.watching.has_spoken = true;
        self.hub.process_spoke(self.id);
        let mut head = Head::clone(&self.head);
        let mut happens = Vec::new();
        let mut next = Some(first);
        let mut count = 0;
        while let Some(message) = next {
            if !head.options.limits.is_empty() {
                self.watching.look_at_limits(&session.handle().snapshot());
            }
            match hear(&message, &head, &mut self.watching) {
                Heard::Nothing => {}
                Heard::Delta(line) => {
                    if happens.is_empty() {
                        self.hub.bus().publish_delta(self.id, self.head.seq, Arc::from(line));
                    } else {
                        // In its place: not before what came before it.
                        self.flush(&mut happens).await?;
                        head = Head::clone(&self.head);
                        self.hub.bus().publish_delta(self.id, self.head.seq, Arc::from(line));
                    }
                }
                Heard::Happens(more) => {
                    for happening in &more {
                        // What it makes of the session counts for what comes next.
                        if let Err(refused) = head.apply(head.updated_at, happening) {
                            tracing::error!(session = %self.id, %refused, "a frame does not fit");
                        }
                    }
                    happens.extend(more);
                }
            }
            count += 1;
            next = if count < TOGETHER {
                session.next_message().now_or_never().flatten()
            } else {
                None
            };
        }
        self.flush(&mut happens).await?;
        self.mode_in_force(session).await
    }

    async fn flush(&mut self, happens: &mut Vec<Happening>) -> Result<(), Leave> {
        if happens.is_empty() {
            return Ok(());
        }
        let happens = std::mem::take(happens);
        match self.hub.write(self.id, happens.clone()).await {
            Ok(head) => self.head = head,
            Err(error) if error.is_final() => {
                // What does not fit is left out, and the rest is kept.
                tracing::error!(session = %self.id, %error, "what the CLI said does not fit");
                for happening in happens {
                    match self.hub.write(self.id, vec![happening]).await {
                        Ok(head) => self.head = head,
                        Err(error) if error.is_final() => {
                            tracing::error!(session = %self.id, %error, "an event is left out");
                        }
                        Err(error) => return Err(self.unwritten(&error)),
                    }
                }
            }
            Err(error) => return Err(self.unwritten(&error)),
        }
        Ok(())
    }

    /// Hears everything that was said until now.
    async fn drain(&mut self, session: &mut Session) -> Result<(), Leave> {
        while let Some(Some(message)) = session.next_message().now_or_never() {
            self.heard(message, session).await?;
        }
        Ok(())
    }

    /// Takes note of a mode that the CLI has changed.
    async fn mode_in_force(&mut self, session: &Session) -> Result<(), Leave> {
        let Some(mode) = session.handle().snapshot().permission_mode else { return Ok(()) };
        if mode == self.head.mode || self.pending.mode || self.head.wanted_mode.is_some() {
            return Ok(());
        }
        self.write(vec![ModeChanged { mode }.into()]).await
    }
}
