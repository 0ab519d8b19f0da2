//! Cards: what a person is asked, with everything that they need to answer it.
//!
//! The order on a card is always the same: what, why a person is asked, exactly what will run, what to
//! know about it, the rule that would make it the last time, and the answers.

mod input;
mod question;
mod rules;
mod tool;

use std::path::Path;

use askama::Template;
use countersign_protocol::ask::Elicitation;
use countersign_protocol::tool::ExitPlanModeInput;
use countersign_server::session::{Approval, ApprovalKind, Given, Stage};
use jiff::Timestamp;

use self::input::Kind;
pub use self::rules::Matched;
use crate::decision::decided;
use crate::render::code::Language;
use crate::render::diff::Diff;
use crate::render::{Html, markdown, visible};

/// Where a rule can be kept: what the CLI calls it, and what people do.
const PLACES: [(&str, &str); 4] = [
    ("session", "this session"),
    ("localSettings", "this folder, for me"),
    ("projectSettings", "this folder, for everybody"),
    ("userSettings", "all my folders"),
];

/// The session that asks, as far as a card says something of it.
#[derive(Clone, Debug)]
pub struct Asker {
    /// Its title.
    pub title: String,
    /// The folder that it works in.
    pub folder: String,
    /// Whether it waits without a process.
    pub is_parked: bool,
}

/// Something that a person is asked.
#[derive(Debug)]
pub struct Card<'a> {
    /// What.
    pub approval: &'a Approval,
    /// Who asks.
    pub asker: &'a Asker,
    /// Whether it stands among cards of other sessions, and says whose it is.
    pub names_session: bool,
    /// What was called before in this session, newest first: to see what a rule would have matched.
    pub before: &'a [Matched],
    /// The folder that it is called in: a command may have left that of the session.
    pub folder: &'a str,
    /// The home folder of the CLI, where it is known.
    pub home: Option<&'a Path>,
    /// The agent that calls it, in words.
    pub agent: Option<&'a str>,
    /// The plans of the rounds before, oldest first, with their numbers.
    pub plans: &'a [(u32, String)],
    /// Whether whoever looks at it may answer.
    pub may_decide: bool,
}

impl Card<'_> {
    /// The card, as HTML.
    #[must_use]
    pub fn html(&self, is_open: bool) -> Html {
        let frame = Frame {
            id: crate::transcript::id("a", &self.approval.id.to_string()),
            approval: self.approval.id.to_string(),
            parked_id: parked_id(&self.approval.id.to_string()),
            parked: parked(self.asker.is_parked),
            session: self.approval.session.to_string(),
            kind: self.approval.kind.name(),
            title: visible::text_of(&self.title()),
            agent: self.agent.map(visible::text_of),
            tool: self.tool(),
            asker: self.asker,
            names_session: self.names_session,
            at: self.approval.opened_at,
            is_open,
            may_decide: self.may_decide,
            inside: self.inside(),
        };
        Html::of_template(&frame)
    }

    /// What is asked, in a few words.
    #[must_use]
    pub fn title(&self) -> String {
        match self.approval.kind {
            ApprovalKind::Tool => tool::title(self.approval, &self.asker.folder),
            ApprovalKind::Plan => match self.approval.round {
                Some(round) if round > 1 => format!("Plan, round {round}"),
                _ => "Plan".to_owned(),
            },
            ApprovalKind::EnterPlan => "Enter plan mode?".to_owned(),
            ApprovalKind::Question => "Question".to_owned(),
            ApprovalKind::Elicitation => format!("{} asks", self.approval.tool),
        }
    }

    /// The name of the tool, where it is one that people know by it.
    fn tool(&self) -> Option<&str> {
        let is_own = self.approval.kind == ApprovalKind::Tool && !self.approval.tool.contains("__");
        let name = self.approval.tool.as_str();
        (is_own && !self.title().split(' ').any(|word| word == name)).then_some(name)
    }

    fn inside(&self) -> Html {
        match self.approval.kind {
            ApprovalKind::Tool => tool::html(self),
            ApprovalKind::Plan => self.plan(),
            ApprovalKind::EnterPlan => Html::of_template(&EnterPlan {}),
            ApprovalKind::Question => question::html(self),
            ApprovalKind::Elicitation => self.form(),
        }
    }

    fn plan(&self) -> Html {
        let input = self.approval.permission().ok();
        let input = input.and_then(|request| request.input.decode::<ExitPlanModeInput>().ok());
        let (plan, prompts) = match &input {
            Some(input) => {
                let prompts = input.allowed_prompts.iter().flatten();
                let prompts = prompts.map(|prompt| format!("{}: {}", prompt.tool, prompt.prompt));
                (input.plan.as_deref().unwrap_or_default(), prompts.collect())
            }
            None => ("", Vec::new()),
        };
        let diff = self.plans.last().map(|(_, last)| Diff::between(last, plan, false));
        let earlier = self.plans.iter().rev();
        Html::of_template(&Plan {
            id: self.approval.id.to_string(),
            shown: markdown::html(plan),
            plan,
            prompts,
            is_odd: visible::is_in(plan) || markdown::has_unseen(plan),
            written: visible::html(plan, Language::named("markdown")),
            earlier: earlier.map(|(round, plan)| (*round, markdown::html(plan))).collect(),
            diff: diff.filter(|diff| !diff.is_empty()).map(|diff| diff.html(None)),
        })
    }

    fn form(&self) -> Html {
        let Ok(asked) = self.approval.request.decode::<Elicitation>() else {
            return Html::of_template(&Unreadable { request: self.approval.request.as_str() });
        };
        Html::of_template(&Form {
            message: visible::text_of(&asked.message),
            url: asked.url.as_deref().filter(|url| markdown::is_address(url)),
            fields: input::fields(&asked),
        })
    }
}

/// The element of a card that says whether its session is parked.
#[must_use]
pub fn parked_id(approval: &str) -> String {
    format!("{}-parked", crate::transcript::id("a", approval))
}

/// What a card says of it.
#[must_use]
pub fn parked(is_parked: bool) -> Html {
    let words = "The session is parked; it resumes with your answer.";
    if is_parked { Html::of(words) } else { Html::new() }
}

/// That something is asked, in a few words that follow the title of the session.
#[must_use]
pub fn in_words(approval: &Approval, folder: &str) -> String {
    match approval.kind {
        ApprovalKind::Tool => format!("asks: {}", tool::about(approval, folder)),
        ApprovalKind::Plan => "has a plan".to_owned(),
        ApprovalKind::EnterPlan => "wants to plan first".to_owned(),
        ApprovalKind::Question => "has a question".to_owned(),
        ApprovalKind::Elicitation => format!("{} asks for something", approval.tool),
    }
}

/// The line that is left of a card that is closed: what became of it, and who did it.
#[must_use]
pub fn closed(approval: &Approval, asker: Option<&Asker>) -> Html {
    let words = match (&approval.given, approval.stage) {
        (Some(Given { answer, by, .. }), _) => decided(answer, by),
        (None, Stage::Cancelled) => "It is not asked any more".to_owned(),
        (None, Stage::Expired) => "Nobody answered in time; it was refused".to_owned(),
        (None, stage) => format!("It is {}", stage.name()),
    };
    let folder = asker.map_or("", |asker| &asker.folder);
    let about = match approval.kind {
        ApprovalKind::Tool => tool::about(approval, folder),
        ApprovalKind::Plan => "Plan".to_owned(),
        ApprovalKind::EnterPlan => "Plan mode".to_owned(),
        ApprovalKind::Question => "Question".to_owned(),
        ApprovalKind::Elicitation => format!("Form of {}", approval.tool),
    };
    Html::of_template(&Closed {
        id: crate::transcript::id("a", &approval.id.to_string()),
        about: visible::text_of(&about),
        title: asker.map(|asker| asker.title.as_str()),
        words: &words,
        why: approval.why.as_deref(),
        child: approval.given.as_ref().and_then(|given| given.child).map(|child| child.to_string()),
    })
}

#[derive(Template)]
#[template(path = "card/frame.html")]
struct Frame<'a> {
    id: String,
    approval: String,
    parked_id: String,
    parked: Html,
    session: String,
    kind: &'a str,
    title: Html,
    agent: Option<Html>,
    /// The tool, where the title does not have its name.
    tool: Option<&'a str>,
    asker: &'a Asker,
    names_session: bool,
    at: Timestamp,
    is_open: bool,
    may_decide: bool,
    inside: Html,
}

#[derive(Template)]
#[template(path = "card/plan.html")]
struct Plan<'a> {
    id: String,
    shown: Html,
    plan: &'a str,
    prompts: Vec<String>,
    /// Whether there is something in it that is not seen when it is drawn.
    is_odd: bool,
    written: Html,
    earlier: Vec<(u32, Html)>,
    diff: Option<Html>,
}

#[derive(Template)]
#[template(path = "card/enter_plan.html")]
struct EnterPlan {}

#[derive(Template)]
#[template(path = "card/form.html")]
struct Form<'a> {
    message: Html,
    url: Option<&'a str>,
    fields: Vec<input::Field>,
}

#[derive(Template)]
#[template(path = "card/unreadable.html")]
struct Unreadable<'a> {
    request: &'a str,
}

#[derive(Template)]
#[template(path = "card/closed.html")]
struct Closed<'a> {
    id: String,
    about: Html,
    title: Option<&'a str>,
    words: &'a str,
    why: Option<&'a str>,
    child: Option<String>,
}
