//! Whether a session has ended with an event.
//!
//! A session is [`Ended`](State::Ended) when somebody wants it to stop, it has no process, and it has not
//! failed. There is no event that says so, but only two can make it so: `session.stop_asked`, when
//! there is no process, and `process.ended`, when it was wanted before. Which it is follows from what
//! was in the log before: the rules are those of [`Head::apply`](crate::session::Head::apply), and a
//! test holds them against it.

use crate::session::{Event, Happening, State};
use crate::store::{Store, StoreError};

/// The kinds of events that can end a session.
pub(super) const KINDS: [&str; 2] = ["session.stop_asked", "process.ended"];

/// How many events are read at once.
const AT_ONCE: usize = 200;

/// Whether a session has ended with this event, in which it had not ended before.
pub(super) async fn has_ended(store: &dyn Store, event: &Event) -> Result<bool, StoreError> {
    if !KINDS.contains(&event.happening.kind()) {
        return Ok(false);
    }
    // Mostly nothing has happened since, and the session says it itself.
    let head = store.head(event.session).await?;
    if let Some(head) = head.filter(|head| head.seq == event.seq)
        && head.state() != State::Ended
    {
        return Ok(false);
    }
    let mut before = Before::default();
    let mut from = event.seq;
    while !before.suffices(&event.happening) {
        let events = store.events_before(event.session, from, AT_ONCE).await?;
        let Some(first) = events.first() else { break };
        from = first.seq;
        for event in events.iter().rev() {
            before.look_back_at(&event.happening);
        }
    }
    Ok(before.ends_with(&event.happening))
}

/// What a session was before an event, as far as it is known from looking back.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    /// Whether somebody wanted it to stop.
    stop: Option<bool>,
    /// Whether it had a process.
    process: Option<bool>,
    /// Whether it had failed.
    failed: Option<bool>,
}

impl Before {
    /// Looks at the event before those that were looked at. What came later counts more.
    fn look_back_at(&mut self, happening: &Happening) {
        match happening {
            Happening::StopAsked(_) => {
                self.stop.get_or_insert(true);
            }
            Happening::ResumeAsked(_)
            | Happening::MessageQueued(_)
            | Happening::ApprovalAnswered(_) => {
                self.stop.get_or_insert(false);
                self.failed.get_or_insert(false);
            }
            Happening::Failed(_) => {
                self.failed.get_or_insert(true);
                self.process.get_or_insert(false);
            }
            Happening::ProcessStarting(_) => {
                self.process.get_or_insert(true);
                self.failed.get_or_insert(false);
            }
            Happening::ProcessStarted(_) => {
                self.process.get_or_insert(true);
            }
            Happening::ProcessEnded(_) | Happening::AwaitsProcess(_) => {
                self.process.get_or_insert(false);
            }
            Happening::Created(_) => {
                self.stop.get_or_insert(false);
                self.process.get_or_insert(false);
                self.failed.get_or_insert(false);
            }
            _ => {}
        }
    }

    /// Whether enough is known to say what an event makes of it.
    fn suffices(&self, happening: &Happening) -> bool {
        match happening {
            // There was a process, and with a process nothing has failed.
            Happening::ProcessEnded(_) => self.stop.is_some(),
            _ => self.stop.is_some() && self.process.is_some() && self.failed.is_some(),
        }
    }

    /// Whether it ends with this event.
    fn ends_with(&self, happening: &Happening) -> bool {
        let is = |known: Option<bool>| known.unwrap_or(false);
        match happening {
            Happening::ProcessEnded(_) => is(self.stop),
            Happening::StopAsked(_) => !is(self.stop) && !is(self.process) && !is(self.failed),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use countersign_protocol::RawJson;
    use countersign_protocol::permission::PermissionMode;
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::{Before, KINDS};
    use crate::id::{ApprovalId, ConversationId, MessageId, SessionId, TurnId};
    use crate::session::{
        Answer, ApprovalAnswered, ApprovalKind, ApprovalOpened, Archived, AwaitsProcess, By,
        Created, Failed, GoesOn, Happening, Head, MessageContent, MessageQueued, Noted, Parked,
        ProcessEnded, ProcessStarted, ProcessStarting, ResumeAsked, State, StopAsked, TurnBegan,
        TurnCause,
    };

    fn created() -> Happening {
        Created {
            folder: "/work".into(),
            title: "a".into(),
            labels: BTreeSet::new(),
            mode: PermissionMode::Default,
            model: None,
            options: Default::default(),
            conversation: ConversationId::new(),
            parent: None,
            by: By::Server,
        }
        .into()
    }

    /// Something that could happen, whether or not it can as the session is.
    fn choice(head: &Head, number: u8) -> Happening {
        let by = || By::Server;
        let generation = head.generation;
        let approval = head.approvals.keys().next().copied().unwrap_or_default();
        match number % 16 {
            0 | 1 => StopAsked { by: by() }.into(),
            2 => ResumeAsked { by: by() }.into(),
            3 => {
                let content = MessageContent::text("a");
                let message = MessageId::new();
                MessageQueued { message, content, now: false, first: false, by: by() }.into()
            }
            4 => Failed { why: "a".into() }.into(),
            5 => AwaitsProcess {}.into(),
            6 | 7 => ProcessStarting { generation: generation + 1 }.into(),
            8 => ProcessStarted { generation, process: None, mark: None, version: None }.into(),
            9 | 10 => ProcessEnded { generation, why: "a".into(), failed: number > 127 }.into(),
            11 => Parked { generation }.into(),
            12 => ApprovalOpened {
                approval: ApprovalId::new(),
                generation,
                turn: None,
                kind: ApprovalKind::Tool,
                tool: "Bash".into(),
                tool_use_id: None,
                agent: None,
                request: RawJson::empty_object(),
                token: None,
            }
            .into(),
            13 => {
                let answer = Answer::allow();
                ApprovalAnswered { approval, answer, by: by(), child: None }.into()
            }
            14 => match &head.turn {
                Some(turn) => GoesOn { turn: turn.id, say: "a".into() }.into(),
                None => TurnBegan { turn: TurnId::new(), cause: TurnCause::Cli }.into(),
            },
            _ if number > 127 => Archived { archived: true, by: by() }.into(),
            _ => Noted { text: "a".into() }.into(),
        }
    }

    proptest! {
        #[test]
        fn a_session_ends_when_the_rules_say_so(numbers in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut log = vec![created()];
            let mut head = Head::create(SessionId::new(), Timestamp::UNIX_EPOCH, &log[0]).unwrap();
            for number in numbers {
                let next = choice(&head, number);
                let mut after = head.clone();
                if after.apply(Timestamp::UNIX_EPOCH, &next).is_err() {
                    continue;
                }
                let ends = head.state() != State::Ended && after.state() == State::Ended;
                let mut before = Before::default();
                for earlier in log.iter().rev() {
                    if before.suffices(&next) {
                        break;
                    }
                    before.look_back_at(earlier);
                }
                prop_assert_eq!(before.ends_with(&next), ends, "{:?} after {:?}", next, log);
                prop_assert!(!ends || KINDS.contains(&next.kind()));
                log.push(next);
                head = after;
            }
        }
    }
}
