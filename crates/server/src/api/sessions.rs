//! Sessions.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::view::{
    Interrupt, ListSessions, Nothing, SessionView, SetArchived, SetLabels, SetMode, SetModel,
    SetTitle, limit,
};
use super::{Api, Command, view};
use crate::access::{Admin, Read, Scope};
use crate::id::SessionId;
use crate::service::{Caller, Carried, ForkSession, NewSession, Noted, SessionMade};
use crate::store::{Page, SessionFilter};
use crate::web::extract::{Json, Path, Query};
use crate::web::problem::{self, Problem};

/// Says that a command was carried out before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// What came of a command.
pub(super) fn done<T: Serialize>(status: StatusCode, carried: Carried<T>) -> Response {
    let mut response = (status, Json(carried.receipt)).into_response();
    if carried.before {
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
    response
}

/// What was answered when this command came before, under the same key.
pub(super) async fn before<T: Serialize + DeserializeOwned>(
    api: &Api,
    caller: &Caller,
    status: StatusCode,
) -> Result<Option<Response>, Problem> {
    let carried = api.service.before::<T>(caller).await?;
    Ok(carried.map(|carried| done(status, carried)))
}

/// Sessions that fit, a page of them.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/sessions", tag = "sessions", operation_id = "listSessions", params(ListSessions),
        responses(
            (status = 200, body = Page<SessionView>),
        )
    )
)]
pub(super) async fn list(
    State(api): State<Api>,
    _: Read,
    Query(wanted): Query<ListSessions>,
) -> Result<Json<Page<SessionView>>, Problem> {
    let page = api.service.hub().store().sessions(filter(wanted)?).await?;
    Ok(Json(view::sessions(page)))
}

fn filter(wanted: ListSessions) -> Result<SessionFilter, Problem> {
    let list = |text: Option<String>| -> Vec<String> {
        let text = text.unwrap_or_default();
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    };
    let states: Result<Vec<_>, _> = list(wanted.state).iter().map(|state| state.parse()).collect();
    let bad = |error: crate::session::NotAState| {
        Problem::new(problem::BAD_PARAMETER).detail(error.to_string())
    };
    Ok(SessionFilter {
        states: states.map_err(bad)?,
        labels: list(wanted.label),
        folder: wanted.folder,
        archived: Some(wanted.archived.unwrap_or(false)),
        untouched_since: None,
        parent: wanted.parent,
        words: wanted.q.filter(|words| !words.trim().is_empty()),
        order: wanted.order.unwrap_or_default(),
        after: wanted.after,
        limit: limit(wanted.limit),
    })
}

/// Makes a session, and has it begin with a prompt if there is one. One with MCP servers of its own
/// needs the scope `admin`: they are programs that run without anybody being asked.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        post, path = "/sessions", tag = "sessions", operation_id = "createSession", request_body = NewSession,
        params(("Idempotency-Key" = Option<String>, Header, description = "The same key for the same command is carried out once")),
        responses(
            (status = 201, body = SessionMade),
        )
    )
)]
pub(super) async fn create(
    State(api): State<Api>,
    command: Command<NewSession>,
) -> Result<Response, Problem> {
    if let Some(done) = before::<SessionMade>(&api, &command.caller, StatusCode::CREATED).await? {
        return Ok(done);
    }
    let servers = command.body.options.mcp_servers.as_ref();
    if servers.is_some_and(|servers| !servers.is_empty())
        && !command.identity.scope.includes(Scope::Admin)
    {
        let detail = "`options.mcp_servers` starts programs without anybody being asked, so it needs a \
                      token with the scope admin; a server in a settings file of the project needs none";
        return Err(Problem::new(problem::SCOPE_TOO_LOW)
            .detail(detail)
            .with("needed", Scope::Admin)
            .with("scope", command.identity.scope));
    }
    let made = api.service.create(&command.caller, command.body).await?;
    Ok(done(StatusCode::CREATED, made))
}

/// A session.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/sessions/{session}", tag = "sessions", operation_id = "getSession", params(("session" = SessionId, Path)),
        responses(
            (status = 200, body = SessionView),
        )
    )
)]
pub(super) async fn show(
    State(api): State<Api>,
    _: Read,
    Path(session): Path<SessionId>,
) -> Result<Json<SessionView>, Problem> {
    let head = api.service.session(session).await?;
    Ok(Json(SessionView::from(&*head)))
}

/// Deletes a session with everything that it had. What was decided in it stays in the audit. It must
/// not have a process: stop it first.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        delete, path = "/sessions/{session}", tag = "sessions", operation_id = "deleteSession",
        params(
            ("session" = SessionId, Path),
            ("Idempotency-Key" = Option<String>, Header, description = "The same key for the same command is carried out once"),
        ),
        responses(
            (status = 204, description = "It is gone"),
        )
    )
)]
pub(super) async fn delete(
    State(api): State<Api>,
    _: Admin,
    Path(session): Path<SessionId>,
    command: Command<Nothing>,
) -> Result<Response, Problem> {
    let carried = match api.service.before::<Noted>(&command.caller).await? {
        Some(carried) => carried,
        None => api.service.delete(&command.caller, session).await?,
    };
    let mut response = done(StatusCode::NO_CONTENT, carried);
    *response.body_mut() = axum::body::Body::empty();
    response.headers_mut().remove(http::header::CONTENT_TYPE);
    response.headers_mut().remove(http::header::CONTENT_LENGTH);
    Ok(response)
}

/// Commands on one session that differ in what they say.
macro_rules! commands {
    ($($(#[$about:meta])* $name:ident = $id:literal ($method:ident $path:literal, $body:ty) |$service:ident, $caller:ident, $session:ident, $said:ident| $call:expr;)+) => {$(
        $(#[$about])*
        #[cfg_attr(
            feature = "openapi",
            utoipa::path(
                $method, path = $path, tag = "sessions", operation_id = $id, request_body = $body,
                params(
                    ("session" = SessionId, Path),
                    ("Idempotency-Key" = Option<String>, Header, description = "The same key for the same command is carried out once"),
                ),
                responses(
                    (status = 202, body = Noted),
                )
            )
        )]
        pub(super) async fn $name(
            State(api): State<Api>,
            Path($session): Path<SessionId>,
            command: Command<$body>,
        ) -> Result<Response, Problem> {
            if let Some(done) = before::<Noted>(&api, &command.caller, StatusCode::ACCEPTED).await? {
                return Ok(done);
            }
            let ($service, $caller, $said) = (&api.service, &command.caller, command.body);
            let carried = $call.await?;
            Ok(done(StatusCode::ACCEPTED, carried))
        }
    )+};
}

commands! {
    /// Gives a session another title.
    rename = "renameSession" (put "/sessions/{session}/title", SetTitle)
        |service, caller, session, said| service.rename(caller, session, said.title);
    /// Gives a session other labels.
    label = "labelSession" (put "/sessions/{session}/labels", SetLabels)
        |service, caller, session, said| service.label(caller, session, said.labels);
    /// Puts a session into the archive, or takes it out.
    archive = "archiveSession" (put "/sessions/{session}/archived", SetArchived)
        |service, caller, session, said| service.archive(caller, session, said.archived);
    /// Asks for another mode. It is in force when `mode.changed` is in the log; `wish.refused` says
    /// that the CLI does not do it.
    set_mode = "setMode" (put "/sessions/{session}/mode", SetMode)
        |service, caller, session, said| service.set_mode(caller, session, said.mode);
    /// Asks for another model. It is in use when `model.changed` is in the log.
    set_model = "setModel" (put "/sessions/{session}/model", SetModel)
        |service, caller, session, said| service.set_model(caller, session, said.model);
    /// Stops a session: its process ends, and what a person is asked is not asked any more. A message
    /// or `resume` brings it back.
    stop = "stopSession" (post "/sessions/{session}/stop", Nothing)
        |service, caller, session, _said| service.stop(caller, session);
    /// Has a session go on that was stopped or has failed.
    resume = "resumeSession" (post "/sessions/{session}/resume", Nothing)
        |service, caller, session, _said| service.resume(caller, session);
    /// Ends the turn that is running. It has to be named: an interrupt for a turn that is over is
    /// refused.
    interrupt = "interruptTurn" (post "/sessions/{session}/interrupt", Interrupt)
        |service, caller, session, said| service.interrupt(caller, session, said.turn);
}

/// Makes a copy of a session, of all that was said or up to a message.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        post, path = "/sessions/{session}/fork", tag = "sessions", operation_id = "forkSession", request_body = ForkSession,
        params(
            ("session" = SessionId, Path),
            ("Idempotency-Key" = Option<String>, Header, description = "The same key for the same command is carried out once"),
        ),
        responses(
            (status = 201, body = SessionMade),
        )
    )
)]
pub(super) async fn fork(
    State(api): State<Api>,
    Path(session): Path<SessionId>,
    command: Command<ForkSession>,
) -> Result<Response, Problem> {
    if let Some(done) = before::<SessionMade>(&api, &command.caller, StatusCode::CREATED).await? {
        return Ok(done);
    }
    let made = api.service.fork(&command.caller, session, command.body).await?;
    Ok(done(StatusCode::CREATED, made))
}
