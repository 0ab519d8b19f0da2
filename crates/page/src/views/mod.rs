//! The pages.

mod audit;
mod failed;
mod fragment;
mod head;
mod inbox;
mod new;
mod search;
mod session;
mod settings;

use std::sync::Arc;

pub(crate) use self::head::stands;
pub(crate) use self::session::queue;

use axum::Router;
use axum::middleware::from_fn;
use axum::response::{Html as Body, IntoResponse as _, Response};
use axum::routing::get;
use countersign_server::access::{Identity, Scope};
use countersign_server::api::Api;
use countersign_server::id::SessionId;
use countersign_server::session::{Approval, Head, Stage, State};
use countersign_server::store::{ApprovalFilter, Page, SessionFilter};
use countersign_server::web::Problem;
use http::HeaderMap;
use http::header::COOKIE;

use crate::assets;
use crate::card::{Asker, Card};
use crate::render::Html;
use crate::rows;

/// How many sessions stand on the left.
const LISTED: usize = 200;

/// How many cards are in the inbox at once.
pub(crate) const INBOX: usize = 50;

/// The pages, for those who are signed in.
pub(crate) fn routes(api: Api) -> Router {
    Router::new()
        .route("/", get(inbox::page))
        .route("/sessions/{session}", get(session::page))
        .route("/new", get(new::page))
        .route("/search", get(search::page))
        .route("/settings", get(settings::page))
        .route("/audit", get(audit::page))
        .route("/page/stream", get(crate::stream::stream))
        .route("/page/sessions/{session}/transcript", get(fragment::transcript))
        .route("/page/sessions/{session}/result", get(fragment::result))
        .route("/page/sessions/{session}/tab/{tab}", get(fragment::tab))
        .route("/page/sessions/{session}/export", get(fragment::export))
        .layer(from_fn(failed::pages))
        .with_state(api)
}

/// What is said where there is nothing.
pub(crate) fn missing() -> Router {
    Router::new().fallback(failed::missing)
}

/// What is around every page.
pub(crate) struct Frame {
    /// `light` or `dark`, if somebody chose.
    theme: Option<&'static str>,
    /// Which page it is.
    view: &'static str,
    /// What whoever looks at it may do.
    scope: &'static str,
    /// How much waits for a person.
    count: u64,
    /// The sessions on the left.
    sessions: Html,
    /// Changes with what is loaded beside the page, so that nothing old is used.
    version: &'static str,
}

impl Frame {
    async fn new(
        api: &Api,
        identity: &Identity,
        headers: &HeaderMap,
        view: &'static str,
        current: Option<SessionId>,
    ) -> Result<Self, Problem> {
        let heads = listed(api).await?;
        let sessions =
            rows::list(heads.items.iter().map(|head| &**head), current, heads.next.is_some());
        let count = api.service.hub().store().count_open().await?;
        let scope = match identity.scope {
            Scope::Read => "read",
            Scope::Decide => "decide",
            Scope::Admin => "admin",
        };
        Ok(Self { theme: theme(headers), view, scope, count, sessions, version: assets::version() })
    }
}

/// The sessions that stand on the left: the latest, and those that wait for a person, however long they
/// have.
pub(crate) async fn listed(api: &Api) -> Result<Page<Arc<Head>>, Problem> {
    let store = api.service.hub().store();
    let filter = SessionFilter { archived: Some(false), limit: LISTED, ..SessionFilter::default() };
    let mut listed = store.sessions(filter.clone()).await?;
    if listed.next.is_some() {
        let waiting = SessionFilter { states: vec![State::Waiting, State::Parked], ..filter };
        let waiting = store.sessions(waiting).await?.items;
        let is_listed = |head: &Head| listed.items.iter().any(|listed| listed.id == head.id);
        let older: Vec<_> = waiting.into_iter().filter(|head| !is_listed(head)).collect();
        listed.items.extend(older);
    }
    Ok(listed)
}

/// The theme that somebody chose.
fn theme(headers: &HeaderMap) -> Option<&'static str> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    match pairs.find(|(name, _)| *name == "countersign-theme")?.1 {
        "light" => Some("light"),
        "dark" => Some("dark"),
        _ => None,
    }
}

/// A page, as an answer.
fn shown(template: &impl askama::Template) -> Response {
    match template.render() {
        Ok(text) => Body(text).into_response(),
        Err(error) => {
            tracing::error!(%error, "a page could not be made");
            Problem::new(countersign_server::web::problem::INTERNAL).into_response()
        }
    }
}

/// Who asks, by the head of the session.
pub(crate) fn asker(head: &Head) -> Asker {
    Asker {
        title: rows::title(head).to_owned(),
        folder: head.folder.clone(),
        is_parked: head.state() == State::Parked,
    }
}

/// What is open, oldest first.
pub(crate) async fn open(api: &Api, session: Option<SessionId>) -> Result<Vec<Approval>, Problem> {
    let filter = ApprovalFilter {
        session,
        stages: vec![Stage::Open],
        limit: INBOX,
        ..ApprovalFilter::default()
    };
    Ok(api.service.hub().store().approvals(filter).await?.items)
}

/// The card of an approval.
pub(crate) async fn card(
    api: &Api,
    identity: &Identity,
    approval: &Approval,
    head: &Arc<Head>,
    names_session: bool,
    is_open: bool,
) -> Result<Html, Problem> {
    let around = crate::past::around(api, approval).await?;
    let plans = crate::past::earlier_plans(api, approval).await?;
    let asker = asker(head);
    let home = api.service.hub().settings().variable("HOME");
    let card = Card {
        approval,
        asker: &asker,
        names_session,
        before: &around.before,
        folder: around.folder.as_deref().unwrap_or(&head.folder),
        home: home.as_deref(),
        agent: around.agent.as_deref(),
        plans: &plans,
        may_decide: identity.scope.includes(Scope::Decide),
    };
    Ok(card.html(is_open))
}
