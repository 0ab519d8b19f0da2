//! What a field of a frame is: said, an id, a time, or nothing to anybody.

use serde_json::{Map, Value};

use super::path::{Pattern, PatternError, Step};
use super::sort::{Sort, free_key, id_key, is_payload_key};
use crate::format::Channel;

/// What is to be made of the values at some places in frames, besides what is known of them.
///
/// ```
/// use countersign_record::meaning::{Comparer, Rules, Treat};
/// use countersign_record::Channel;
/// use serde_json::json;
///
/// let rules = Rules::new()
///     .with("result:total_cost_usd", Treat::Ignore)?
///     .with("**.ticket", Treat::Id)?;
/// let mut comparer = Comparer::new(rules);
/// let left = json!({"type": "result", "total_cost_usd": 0.1, "ticket": "A"});
/// let right = json!({"type": "result", "ticket": "B"});
/// assert!(comparer.compare(Channel::Out, &left, &right).is_empty());
/// # Ok::<(), countersign_record::meaning::PatternError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Rules {
    own: Vec<(Pattern, Treat)>,
}

/// What is to be made of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Treat {
    /// It means nothing, nor does it mean anything whether it is there.
    Ignore,
    /// It is an id: any other will do, as long as it is the same one everywhere.
    Id,
    /// Any other value of the same type will do, as for a time.
    Any,
    /// It means what it says, whatever it looks like.
    Exact,
}

impl Rules {
    /// What is known of the protocol, and nothing else.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule for the values at some places; see [`Pattern`] for how to name them. Of
    /// several rules for one place the last one counts.
    ///
    /// # Errors
    ///
    /// When the text is not a pattern.
    pub fn with(mut self, pattern: &str, treat: Treat) -> Result<Self, PatternError> {
        self.own.push((pattern.parse()?, treat));
        Ok(self)
    }

    fn own(&self, frame: &Frame, path: &[Step<'_>]) -> Option<Treat> {
        let found = self.own.iter().rev().find(|(pattern, _)| pattern.fits(&frame.kind, path));
        found.map(|(_, treat)| *treat)
    }

    /// What the value at a place is.
    pub(crate) fn class(&self, frame: &Frame, place: &Place<'_>) -> Class {
        match self.own(frame, &place.steps) {
            Some(Treat::Ignore) => return Class::Ignored,
            Some(Treat::Id) => return Class::Id(Sort::Uuid, Space::Named("rule")),
            Some(Treat::Any) => return Class::Free("any"),
            Some(Treat::Exact) => return Class::Exact,
            None => {}
        }
        let Some(key) = place.key() else { return Class::Said };
        if frame.is_ignored(&place.steps) {
            return Class::Ignored;
        }
        if place.payload {
            return Class::Said;
        }
        let sort = id_key(key).or_else(|| (key == "id").then(|| place.id_of()).flatten());
        if let Some(sort) = sort {
            let space = match sort {
                Sort::Request => Space::Named(frame.asker(&place.steps)),
                // The name of a plan is known by the folder that it is in.
                Sort::Plan => Space::Shared,
                sort => Space::Named(sort.name()),
            };
            return Class::Id(sort, space);
        }
        free_key(key).map_or(Class::Said, Class::Free)
    }
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Nothing to anybody.
    Ignored,
    /// An id, if it is a text.
    Id(Sort, Space),
    /// Anything of the same type: a time.
    Free(&'static str),
    /// Something said, in which there may be ids.
    Said,
    /// Something said, in which nothing is looked for.
    Exact,
}

/// Within which an id means the same thing.
///
/// Ids that cannot be taken for anything else, such as uuids, share one space: the id of a session
/// is found in a path. Others have one for each sort, since `1` may be the name of a request and
/// of a tool call; and requests have one for each side that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    /// Ids that are told by their looks.
    Shared,
    /// Ids that only a field tells.
    Named(&'static str),
}

/// What a frame is, as far as it matters to what its fields are.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) channel: Channel,
    /// The type, and the subtype of a `system` or control frame.
    pub(crate) kind: String,
    is_user: bool,
}

impl Frame {
    pub(crate) fn of(channel: Channel, value: &Value) -> Self {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let kind = text(value.get("type")).unwrap_or_default();
        let subtype = match kind.as_str() {
            "system" => text(value.get("subtype")),
            "control_request" => text(value.pointer("/request/subtype")),
            "control_response" => text(value.pointer("/response/subtype")),
            _ => None,
        };
        let is_user = kind == "user";
        let kind = match subtype {
            Some(subtype) => format!("{kind}/{subtype}"),
            None => kind,
        };
        Self { channel, kind, is_user }
    }

    /// The `session_id` of a user message is the client's to fill in; the CLI has its own and
    /// passes over this one.
    fn is_ignored(&self, path: &[Step<'_>]) -> bool {
        self.channel == Channel::In && self.is_user && matches!(path, [Step::Key("session_id")])
    }

    /// Whether a null here is as good as nothing. Elsewhere it is not: `updatedInput: null` is an
    /// error, and without the field the input stays what it is.
    pub(crate) fn null_is_absent(&self, path: &[Step<'_>]) -> bool {
        self.channel == Channel::In
            && self.is_user
            && matches!(path, [Step::Key("parent_tool_use_id")])
    }

    /// Who has made up the request id that stands here.
    fn asker(&self, path: &[Step<'_>]) -> &'static str {
        let (writer, other) = match self.channel {
            Channel::In => ("client's request", "CLI's request"),
            Channel::Out | Channel::Err => ("CLI's request", "client's request"),
        };
        let listed =
            path.iter().any(|step| matches!(step, Step::Key(k) if k.starts_with("pending_")));
        let answers = self.kind.starts_with("control_response")
            || self.kind == "system/control_request_progress";
        if answers && !listed { other } else { writer }
    }
}

/// Where a walk through a frame is.
#[derive(Debug, Default)]
pub(crate) struct Place<'f> {
    pub(crate) steps: Vec<Step<'f>>,
    /// Inside the input of a tool, or something else that is not the protocol's.
    pub(crate) payload: bool,
    /// The object that the value, or the list it is in, is a field of.
    parent: Option<&'f Map<String, Value>>,
}

/// What to go back to after a step.
#[derive(Clone, Copy)]
pub(crate) struct Back<'f> {
    payload: bool,
    parent: Option<&'f Map<String, Value>>,
}

impl<'f> Place<'f> {
    /// Goes to a field of an object.
    pub(crate) fn enter(&mut self, parent: &'f Map<String, Value>, key: &'f str) -> Back<'f> {
        let back = Back { payload: self.payload, parent: self.parent };
        self.steps.push(Step::Key(key));
        // The input of a hook is the protocol's; that of a tool is not.
        let hook = key == "input"
            && parent.get("subtype").and_then(Value::as_str) == Some("hook_callback");
        self.payload |= is_payload_key(key) && !hook;
        self.parent = Some(parent);
        back
    }

    pub(crate) fn leave(&mut self, back: Back<'f>) {
        self.steps.pop();
        self.payload = back.payload;
        self.parent = back.parent;
    }

    /// The field that the value, or the list it is in, stands in.
    fn key(&self) -> Option<&'f str> {
        self.steps.iter().rev().find_map(|step| match step {
            Step::Key(key) => Some(*key),
            Step::Index(_) => None,
        })
    }

    /// What an `id` is the id of, by the object it stands in.
    fn id_of(&self) -> Option<Sort> {
        let parent = self.parent?;
        let is = |key: &str, value: &str| parent.get(key).and_then(Value::as_str) == Some(value);
        if is("role", "assistant") {
            return Some(Sort::Message);
        }
        if ["tool_use", "server_tool_use", "mcp_tool_use"].iter().any(|kind| is("type", kind)) {
            return Some(Sort::Tool);
        }
        let mut above = self.steps.iter().rev().skip(1);
        let above = above.find_map(|step| match step {
            Step::Key(key) => Some(*key),
            Step::Index(_) => None,
        });
        matches!(above, Some("deferred_tool_use" | "tool_use_meta" | "tool_result_meta"))
            .then_some(Sort::Tool)
    }
}
