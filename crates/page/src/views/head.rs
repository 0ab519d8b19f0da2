//! How a session stands: at the head of its page, and above the composer.

use askama::Template;
use countersign_protocol::permission::PermissionMode;
use countersign_server::access::{Identity, Scope};
use countersign_server::api::Api;
use countersign_server::id::{SessionId, TurnId};
use countersign_server::session::{Head, State};

use crate::render::Html;
use crate::render::words::{cost, tokens};
use crate::rows;

/// The parts of the page that say how a session stands: elements, and what is in them. Each changes by
/// itself, so that nothing is taken from under somebody's hands because something else has changed.
///
/// The head is told of the context when a turn ends; what is in it by now is known from what the model said.
pub(crate) fn stands(
    api: &Api,
    identity: &Identity,
    head: &Head,
    context: Option<u64>,
) -> Vec<(&'static str, Html)> {
    let may_decide = identity.scope.includes(Scope::Decide);
    let mut parts = vec![
        ("name", Html::of_template(&Name { title: rows::title(head), may_decide })),
        ("standing", standing(head, may_decide)),
    ];
    parts.extend(figures(api, identity, head, context.unwrap_or(head.usage.context_tokens)));
    parts
}

/// Those of them that stand in a line: what it is doing, and what can be done with it.
fn figures(api: &Api, identity: &Identity, head: &Head, context: u64) -> [(&'static str, Html); 6] {
    let state = head.state();
    let (glyph, word) = rows::shown(state);
    let mode = head.wanted_mode.as_ref().unwrap_or(&head.mode);
    let model = match &head.wanted_model {
        Some(wanted) => wanted.model.as_deref(),
        None => head.model.as_deref(),
    };
    let modes = modes(mode, api.service.hub().settings().allow_bypass);
    let choice = |id, name, options| Html::of_template(&Choice { id, name, options });
    let menu = Menu {
        id: head.id,
        can_resume: matches!(state, State::Ended | State::Failed),
        can_stop: state.has_process(),
        archived: head.archived,
        may_delete: identity.scope.includes(Scope::Admin),
    };
    [
        ("state", Html::of_template(&Doing { state: state.name(), glyph, word })),
        ("modes", choice("mode", "Mode", modes)),
        ("models", choice("model", "Model", models(api, model))),
        ("figures", used(head, context)),
        ("stop", Html::of_template(&Stop { turn: head.turn.as_ref().map(|turn| turn.id) })),
        ("menu", Html::of_template(&menu)),
    ]
}

fn used(head: &Head, context: u64) -> Html {
    let usage = &head.usage;
    let percent = context.saturating_mul(100).checked_div(usage.context_window);
    let bar = percent.map(|percent| Context {
        percent: percent.min(100),
        words: format!(
            "{} of {} tokens of context in use",
            tokens(context),
            tokens(usage.context_window)
        ),
    });
    // How much there can be is known when the first turn has ended.
    let count = (bar.is_none() && context > 0).then(|| tokens(context));
    Html::of_template(&Used { context: bar, count, cost: cost(usage.cost_usd) })
}

/// What a session is waiting for, where that is not plain from the rest, and what to do about it.
enum Standing<'a> {
    Nothing,
    Parked,
    Queued,
    Ended,
    Failed(&'a str),
}

fn standing(head: &Head, may_decide: bool) -> Html {
    let standing = match head.state() {
        State::Parked => Standing::Parked,
        State::Queued => Standing::Queued,
        State::Ended => Standing::Ended,
        State::Failed => Standing::Failed(head.failure.as_deref().unwrap_or("It has failed.")),
        _ => Standing::Nothing,
    };
    Html::of_template(&Stands { standing, archived: head.archived, may_decide })
}

/// The modes that can be chosen, with the one in force.
pub(super) fn modes(current: &PermissionMode, allow_bypass: bool) -> Vec<(String, String, bool)> {
    let all = [
        ("default", "Ask first"),
        ("acceptEdits", "Accept edits"),
        ("plan", "Plan"),
        ("dontAsk", "Refuse the rest"),
        ("bypassPermissions", "Ask nothing"),
    ];
    let mut modes: Vec<(String, String, bool)> = all
        .into_iter()
        .filter(|(mode, _)| *mode != "bypassPermissions" || allow_bypass)
        .map(|(mode, name)| (mode.to_owned(), name.to_owned(), mode == current.as_str()))
        .collect();
    if !modes.iter().any(|(.., is_current)| *is_current) {
        modes.push((current.to_string(), current.to_string(), true));
    }
    modes
}

/// The models that can be chosen, with the one in use.
pub(super) fn models(api: &Api, current: Option<&str>) -> Vec<(String, String, bool)> {
    let mut models = vec![(String::new(), "Default model".to_owned(), current.is_none())];
    for model in api.service.hub().models() {
        let is_current = current == Some(model.value.as_str());
        models.push((model.value, model.name, is_current));
    }
    if let Some(model) = current.filter(|_| !models.iter().any(|(.., is_current)| *is_current)) {
        models.push((model.to_owned(), model.to_owned(), true));
    }
    models
}

#[derive(Template)]
#[template(path = "head/name.html")]
struct Name<'a> {
    title: &'a str,
    may_decide: bool,
}

#[derive(Template)]
#[template(path = "head/state.html")]
struct Doing {
    state: &'static str,
    glyph: &'static str,
    word: &'static str,
}

#[derive(Template)]
#[template(path = "head/choice.html")]
struct Choice {
    id: &'static str,
    name: &'static str,
    options: Vec<(String, String, bool)>,
}

struct Context {
    percent: u64,
    words: String,
}

#[derive(Template)]
#[template(path = "head/figures.html")]
struct Used {
    context: Option<Context>,
    count: Option<String>,
    cost: String,
}

#[derive(Template)]
#[template(path = "head/stop.html")]
struct Stop {
    turn: Option<TurnId>,
}

#[derive(Template)]
#[template(path = "head/menu.html")]
struct Menu {
    id: SessionId,
    can_resume: bool,
    can_stop: bool,
    archived: bool,
    may_delete: bool,
}

#[derive(Template)]
#[template(path = "head/standing.html")]
struct Stands<'a> {
    standing: Standing<'a>,
    archived: bool,
    may_decide: bool,
}
