//! What a person answers, and whether it is an answer to what was asked.

use countersign::permission::{
    AnswerError, AskKind, PermissionAnswer, PermissionAsk, PlanChoice, QuestionAsk,
};
use countersign_protocol::RawJson;
use countersign_protocol::ask::{ElicitationAction, ElicitationAnswer};
use countersign_protocol::permission::{
    PermissionMode, PermissionRule, PermissionUpdate, RuleBehavior, RulesUpdate, SetMode,
    UpdateDestination,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::approval::ApprovalKind;
use super::message::{ContentError, Image, image_blocks};

/// What a person answers: an object with one key, which says what kind of answer it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The tool may run; the model may enter plan mode.
    Allow(Allow),
    /// It may not.
    Deny(Deny),
    /// The plan is approved.
    Plan(ApprovePlan),
    /// The plan is not approved yet.
    KeepPlanning(KeepPlanning),
    /// Answers to the questions, in their order. One that is empty skips its question, and so does
    /// one that is missing at the end.
    Answers(Vec<QuestionAnswer>),
    /// Something that is said instead of answering the questions.
    Reply(Reply),
    /// The questions are not answered.
    Skip(Skip),
    /// What an MCP server asked for is filled in, or is not.
    Form(Form),
}

/// Lets a tool run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Allow {
    /// The input that the tool runs with, in the place of the one that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub input: Option<RawJson>,
    /// Suggestions of the CLI that are taken up with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<ChosenSuggestion>,
    /// Rules that are added with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<NewRule>,
    /// The mode that is set with it, for the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::api::shape::Mode>))]
    pub mode: Option<PermissionMode>,
}

/// A suggestion of the CLI that is taken up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ChosenSuggestion {
    /// Which, counted from 0.
    pub number: usize,
    /// Where it is kept, in the place of where the CLI suggests: `session`, `localSettings`,
    /// `projectSettings` or `userSettings`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::api::shape::Destination>))]
    pub destination: Option<UpdateDestination>,
}

/// A rule that is added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewRule {
    /// The tool.
    pub tool: String,
    /// What of its input the rule covers, such as `npm test:*`; everything if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Where it is kept; the session if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::api::shape::Destination>))]
    pub destination: Option<UpdateDestination>,
}

/// Refuses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Deny {
    /// What the model is told.
    pub message: String,
    /// Whether the turn ends as well. The model does not read the message then (since 2.1.197).
    pub stop: bool,
}

/// Approves a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ApprovePlan {
    /// How it is carried out.
    pub choice: PlanWay,
    /// The plan in other words, which is what is approved then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// Whether what the model asks for with the plan is allowed, too. Not with `clear_context`.
    #[serde(default)]
    pub grant_prompts: bool,
    /// Whether the conversation is compacted after the turn, with `/compact`. Not with
    /// `clear_context`, which begins another one.
    #[serde(default)]
    pub compact: bool,
}

/// How a plan is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlanWay {
    /// In a new session that has the plan and nothing else, and in which edits need no approval.
    ClearContext,
    /// In this session; edits need no approval.
    AcceptEdits,
    /// In this session; each edit is asked for.
    ApproveManually,
}

/// Sends a plan back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct KeepPlanning {
    /// What is to change.
    pub feedback: String,
    /// Pictures that show it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
}

/// The answer to one question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct QuestionAnswer {
    /// The labels that are chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choose: Vec<String>,
    /// A text of one's own; beside labels where several may be chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A note on the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Says something instead of answering.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// What.
    pub text: String,
}

/// Skips all questions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Skip {}

/// The answer to an MCP server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Form {
    /// What is done with the form.
    pub action: FormAction,
    /// What is filled in: an object. For `accept` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub content: Option<RawJson>,
}

/// What is done with a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum FormAction {
    /// It is filled in.
    Accept,
    /// It is not.
    Decline,
    /// It is put aside.
    Cancel,
}

/// Why an answer is none to what was asked.
#[derive(Debug, Error)]
pub enum NotAnAnswer {
    /// It answers something else.
    #[error("{given} is no answer to a {asked}: {instead}")]
    AnotherKind {
        /// What was given.
        given: &'static str,
        /// What was asked.
        asked: &'static str,
        /// What can be answered.
        instead: &'static str,
    },
    /// There is no such suggestion.
    #[error("there is no suggestion {number}, but {count}, counted from 0")]
    NoSuchSuggestion {
        /// Which was chosen.
        number: usize,
        /// How many there are.
        count: usize,
    },
    /// A destination that the CLI does not know.
    #[error(
        "{0:?} is no place to keep a rule: use session, localSettings, projectSettings or userSettings"
    )]
    NoSuchDestination(String),
    /// A mode that the CLI does not know.
    #[error("{0:?} is no permission mode")]
    NoSuchMode(String),
    /// A mode that sessions may not have here.
    #[error(
        "the mode bypassPermissions is not allowed here: the server's configuration has to allow it, and the session has to be started in it"
    )]
    Bypass,
    /// More answers than questions.
    #[error("there are {questions} questions, and {answers} answers")]
    TooMany {
        /// How many were asked.
        questions: usize,
        /// How many were answered.
        answers: usize,
    },
    /// Several answers to a question that takes one.
    #[error("question {number} takes one answer: a label or a text, not both")]
    Both {
        /// Which, counted from 0.
        number: usize,
    },
    /// What is for this session cannot be done in another one.
    #[error(
        "`{0}` is about this session, and with `clear_context` the plan is carried out in a new one: leave \
         it out, or choose another way"
    )]
    NotElsewhere(&'static str),
    /// What is filled in is not an object.
    #[error("what is filled in has to be a JSON object, and comes with `accept` alone")]
    NotAForm,
    /// A picture is none.
    #[error(transparent)]
    Picture(#[from] ContentError),
    /// It does not fit what was asked.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// What was asked cannot be read.
    #[error("what was asked cannot be read: {0}")]
    Request(#[from] serde_json::Error),
}

impl From<countersign::permission::QuestionError> for NotAnAnswer {
    fn from(error: countersign::permission::QuestionError) -> Self {
        Self::Answer(error.into())
    }
}

impl Answer {
    /// What kind of answer it is.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Allow(_) => "allow",
            Self::Deny(_) => "deny",
            Self::Plan(_) => "plan",
            Self::KeepPlanning(_) => "keep_planning",
            Self::Answers(_) => "answers",
            Self::Reply(_) => "reply",
            Self::Skip(_) => "skip",
            Self::Form(_) => "form",
        }
    }

    /// A plain consent.
    #[must_use]
    pub fn allow() -> Self {
        Self::Allow(Allow::default())
    }

    /// A refusal.
    #[must_use]
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny(Deny { message: message.into(), stop: false })
    }

    /// A refusal that ends the turn.
    #[must_use]
    pub fn deny_and_stop(message: impl Into<String>) -> Self {
        Self::Deny(Deny { message: message.into(), stop: true })
    }

    /// Whether what was asked for happens because of it. Where that is a tool that changes something,
    /// it must not happen twice.
    #[must_use]
    pub const fn allows(&self) -> bool {
        match self {
            Self::Allow(_) => true,
            Self::Plan(_) => !self.clears_context(),
            Self::Form(form) => matches!(form.action, FormAction::Accept),
            Self::Deny(_)
            | Self::KeepPlanning(_)
            | Self::Answers(_)
            | Self::Reply(_)
            | Self::Skip(_) => false,
        }
    }

    /// Whether the turn ends with it.
    #[must_use]
    pub const fn stops(&self) -> bool {
        matches!(self, Self::Deny(Deny { stop: true, .. })) || self.clears_context()
    }

    /// Whether a plan is to be carried out in a new session.
    #[must_use]
    pub const fn clears_context(&self) -> bool {
        matches!(self, Self::Plan(ApprovePlan { choice: PlanWay::ClearContext, .. }))
    }

    /// Makes the answer to a permission of it.
    ///
    /// # Errors
    /// When it does not answer what was asked.
    pub fn to_permission(&self, ask: PermissionAsk) -> Result<PermissionAnswer, NotAnAnswer> {
        match (ask.into_kind(), self) {
            (AskKind::Tool(ask), Self::Allow(allow)) => allow.answer(ask),
            (AskKind::Tool(ask), Self::Deny(deny)) => Ok(deny.answer(ask)),
            (AskKind::Plan(plan), Self::Deny(deny)) => Ok(deny.answer(plan.into_ask())),
            (AskKind::Questions(ask), Self::Deny(deny)) => Ok(deny.answer(ask.into_ask())),
            (AskKind::Plan(mut plan), Self::Plan(approved)) => {
                if let Some(text) = &approved.plan {
                    plan = plan.edited(text);
                }
                if approved.grant_prompts {
                    plan = plan.granting_prompts();
                }
                Ok(plan.approve(approved.choice.into())?)
            }
            (AskKind::Plan(plan), Self::KeepPlanning(more)) => {
                for (number, image) in more.images.iter().enumerate() {
                    image.check(number)?;
                }
                Ok(plan.keep_planning_with(&*more.feedback, image_blocks(&more.images)))
            }
            (AskKind::Questions(ask), Self::Answers(answers)) => answer_questions(ask, answers),
            (AskKind::Questions(ask), Self::Reply(reply)) => Ok(ask.reply(&*reply.text)?),
            (AskKind::Questions(ask), Self::Skip(_)) => Ok(ask.skip()?),
            (kind, given) => Err(given.another_kind(ApprovalKind::of_ask(&kind))),
        }
    }

    /// Makes the answer to an MCP server of it.
    ///
    /// # Errors
    /// When it is the answer to something else.
    pub fn to_elicitation(&self) -> Result<ElicitationAnswer, NotAnAnswer> {
        let form = match self {
            Self::Form(form) => form,
            Self::Deny(_) => return Ok(ElicitationAnswer::new(ElicitationAction::Decline)),
            other => return Err(other.another_kind(ApprovalKind::Elicitation)),
        };
        let action = match form.action {
            FormAction::Accept => ElicitationAction::Accept,
            FormAction::Decline => ElicitationAction::Decline,
            FormAction::Cancel => ElicitationAction::Cancel,
        };
        let fits = match (&form.content, form.action) {
            (Some(content), FormAction::Accept) => content.is_object(),
            (Some(_), _) => false,
            (None, _) => true,
        };
        if !fits {
            return Err(NotAnAnswer::NotAForm);
        }
        let mut answer = ElicitationAnswer::new(action);
        answer.content.clone_from(&form.content);
        Ok(answer)
    }

    /// Whether the model may enter plan mode: the reason if not.
    ///
    /// # Errors
    /// When it is the answer to something else.
    pub fn to_enter_plan(&self) -> Result<Option<&Deny>, NotAnAnswer> {
        match self {
            Self::Allow(allow) if *allow == Allow::default() => Ok(None),
            Self::Deny(deny) => Ok(Some(deny)),
            other => Err(other.another_kind(ApprovalKind::EnterPlan)),
        }
    }

    fn another_kind(&self, asked: ApprovalKind) -> NotAnAnswer {
        NotAnAnswer::AnotherKind {
            given: self.name(),
            asked: asked.name(),
            instead: asked.answers(),
        }
    }
}

impl Allow {
    fn answer(&self, ask: PermissionAsk) -> Result<PermissionAnswer, NotAnAnswer> {
        let updates = self.updates(ask.suggestions())?;
        let mut allowing = ask.allowing();
        if let Some(input) = &self.input {
            allowing = allowing.input(input.clone())?;
        }
        Ok(allowing.updates(updates).answer())
    }

    /// What changes with it.
    fn updates(
        &self,
        suggestions: &[PermissionUpdate],
    ) -> Result<Vec<PermissionUpdate>, NotAnAnswer> {
        let mut updates = Vec::new();
        for chosen in &self.suggestions {
            let (number, count) = (chosen.number, suggestions.len());
            let suggestion = suggestions.get(number);
            let mut update =
                suggestion.ok_or(NotAnAnswer::NoSuchSuggestion { number, count })?.clone();
            if let Some(destination) = &chosen.destination {
                keep_in(&mut update, known(destination)?);
            }
            updates.push(update);
        }
        for rule in &self.rules {
            let destination = rule.destination.as_ref().unwrap_or(&UpdateDestination::Session);
            let mut new = PermissionRule::new(&*rule.tool);
            new.rule_content.clone_from(&rule.content);
            let rules = RulesUpdate::new(vec![new], RuleBehavior::Allow, known(destination)?);
            updates.push(PermissionUpdate::AddRules(rules));
        }
        if let Some(mode) = &self.mode {
            if !mode.is_known() {
                return Err(NotAnAnswer::NoSuchMode(mode.to_string()));
            }
            updates.push(SetMode::new(mode.clone(), UpdateDestination::Session).into());
        }
        Ok(updates)
    }
}

fn known(destination: &UpdateDestination) -> Result<UpdateDestination, NotAnAnswer> {
    if destination.is_known() {
        Ok(destination.clone())
    } else {
        Err(NotAnAnswer::NoSuchDestination(destination.to_string()))
    }
}

fn keep_in(update: &mut PermissionUpdate, place: UpdateDestination) {
    match update {
        PermissionUpdate::AddRules(change)
        | PermissionUpdate::ReplaceRules(change)
        | PermissionUpdate::RemoveRules(change) => change.destination = place,
        PermissionUpdate::SetMode(change) => change.destination = place,
        PermissionUpdate::AddDirectories(change) | PermissionUpdate::RemoveDirectories(change) => {
            change.destination = place;
        }
        _ => {}
    }
}

impl Deny {
    fn answer(&self, ask: PermissionAsk) -> PermissionAnswer {
        let words = if self.message.is_empty() { "The user refused." } else { &*self.message };
        if self.stop { ask.deny_and_stop(words) } else { ask.deny(words) }
    }
}

impl From<PlanWay> for PlanChoice {
    fn from(way: PlanWay) -> Self {
        match way {
            PlanWay::ClearContext => Self::ClearContextAndAcceptEdits,
            PlanWay::AcceptEdits => Self::AcceptEdits,
            PlanWay::ApproveManually => Self::ApproveManually,
        }
    }
}

fn answer_questions(
    ask: QuestionAsk,
    given: &[QuestionAnswer],
) -> Result<PermissionAnswer, NotAnAnswer> {
    let (questions, answers) = (ask.questions().len(), given.len());
    if answers > questions {
        return Err(NotAnAnswer::TooMany { questions, answers });
    }
    let mut all = ask.answers();
    for (number, given) in given.iter().enumerate() {
        let labels = || given.choose.iter().map(String::as_str);
        let text = given.text.as_deref().filter(|text| !text.trim().is_empty());
        all = match (given.choose.is_empty(), text) {
            (true, None) => all,
            (true, Some(text)) => all.text(number, text)?,
            (false, None) => all.choose(number, labels())?,
            (false, Some(text)) => {
                let several = ask.questions().get(number).and_then(|asked| asked.multi_select);
                if several != Some(true) {
                    return Err(NotAnAnswer::Both { number });
                }
                // Chosen first, so that the labels are checked.
                let joined = labels().chain([text]).collect::<Vec<_>>().join(", ");
                all.choose(number, labels())?.text(number, joined)?
            }
        };
        if let Some(note) = &given.note {
            all = all.note(number, note)?;
        }
    }
    Ok(ask.answer(all)?)
}
