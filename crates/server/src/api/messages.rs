//! Messages that wait for the CLI.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;

use super::sessions::{before, done};
use super::view::{EditMessage, Nothing, OrderMessages};
use super::{Api, Command};
use crate::access::Read;
use crate::id::{MessageId, SessionId};
use crate::service::{MessageTaken, NewMessage};
use crate::store::StoredMessage;
use crate::web::extract::{Json, Path};
use crate::web::problem::Problem;

/// The messages of a session that wait, in their order.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/sessions/{session}/messages", tag = "messages", operation_id = "listMessages",
        params(("session" = SessionId, Path)),
        responses(
            (status = 200, body = Vec<StoredMessage>),
        )
    )
)]
pub(super) async fn list(
    State(api): State<Api>,
    _: Read,
    Path(session): Path<SessionId>,
) -> Result<Json<Vec<StoredMessage>>, Problem> {
    api.service.session(session).await?;
    Ok(Json(api.service.hub().store().queued_messages(session).await?))
}

/// Says something in a session. It waits for the end of the turn that is running, unless it is to go
/// into it. A session that has no process gets one.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        post, path = "/sessions/{session}/messages", tag = "messages", operation_id = "sendMessage", request_body = NewMessage,
        params(
            ("session" = SessionId, Path),
            ("Idempotency-Key" = Option<String>, Header, description = "The same key for the same command is carried out once"),
        ),
        responses(
            (status = 202, body = MessageTaken),
        )
    )
)]
pub(super) async fn send(
    State(api): State<Api>,
    Path(session): Path<SessionId>,
    command: Command<NewMessage>,
) -> Result<Response, Problem> {
    if let Some(done) = before::<MessageTaken>(&api, &command.caller, StatusCode::ACCEPTED).await? {
        return Ok(done);
    }
    let taken = api.service.send(&command.caller, session, command.body).await?;
    Ok(done(StatusCode::ACCEPTED, taken))
}

/// Puts the messages that wait into another order.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        put, path = "/sessions/{session}/messages", tag = "messages", operation_id = "orderMessages", request_body = OrderMessages,
        params(
            ("session" = SessionId, Path),
            ("Idempotency-Key" = Option<String>, Header, description = "The same key for the same command is carried out once"),
        ),
        responses(
            (status = 202, body = crate::service::Noted),
        )
    )
)]
pub(super) async fn order(
    State(api): State<Api>,
    Path(session): Path<SessionId>,
    command: Command<OrderMessages>,
) -> Result<Response, Problem> {
    let noted = api.service.order_messages(&command.caller, session, command.body.order).await?;
    Ok(done(StatusCode::ACCEPTED, noted))
}

/// Changes a message that waits.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        put, path = "/sessions/{session}/messages/{message}", tag = "messages", operation_id = "editMessage",
        request_body = EditMessage,
        params(
            ("session" = SessionId, Path), ("message" = MessageId, Path),
            ("Idempotency-Key" = Option<String>, Header, description = "The same key for the same command is carried out once"),
        ),
        responses(
            (status = 202, body = crate::service::Noted),
        )
    )
)]
pub(super) async fn edit(
    State(api): State<Api>,
    Path((session, message)): Path<(SessionId, MessageId)>,
    command: Command<EditMessage>,
) -> Result<Response, Problem> {
    let content = command.body.content;
    let noted = api.service.edit_message(&command.caller, session, message, content).await?;
    Ok(done(StatusCode::ACCEPTED, noted))
}

/// Takes a message back that waits.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        delete, path = "/sessions/{session}/messages/{message}", tag = "messages", operation_id = "removeMessage",
        params(
            ("session" = SessionId, Path), ("message" = MessageId, Path),
            ("Idempotency-Key" = Option<String>, Header, description = "The same key for the same command is carried out once"),
        ),
        responses(
            (status = 202, body = crate::service::Noted),
        )
    )
)]
pub(super) async fn remove(
    State(api): State<Api>,
    Path((session, message)): Path<(SessionId, MessageId)>,
    command: Command<Nothing>,
) -> Result<Response, Problem> {
    let noted = api.service.remove_message(&command.caller, session, message).await?;
    Ok(done(StatusCode::ACCEPTED, noted))
}
