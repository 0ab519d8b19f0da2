//! Sessions, and what is said in them.

use std::collections::BTreeSet;

use countersign_protocol::permission::PermissionMode;
use http::Method;

use super::call::Call;
use super::{Client, ClientError};
use crate::api::view::{
    EditMessage, Events, Interrupt, ListAllEvents, ListEvents, ListSessions, OrderMessages,
    PlanRound, ProcessView, SessionView, SetArchived, SetLabels, SetMode, SetModel, SetTitle,
};
use crate::hub::WireLines;
use crate::id::{MessageId, SessionId, TurnId};
use crate::service::{
    ForkSession, MessageTaken, NewMessage, NewSession, Noted, RulesInForce, SessionMade,
};
use crate::session::MessageContent;
use crate::store::{Page, StoredMessage};

impl Client {
    /// Sessions that fit, a page of them.
    ///
    /// # Errors
    /// When the server does not say.
    pub async fn sessions(&self, wanted: &ListSessions) -> Result<Page<SessionView>, ClientError> {
        self.call(Call::get("/sessions").query(wanted)?).await
    }

    /// Makes a session, and has it begin with a prompt if there is one.
    ///
    /// # Errors
    /// When its folder may not be used, or something else about it is not right.
    pub async fn create_session(&self, new: &NewSession) -> Result<SessionMade, ClientError> {
        self.call(Call::command(Method::POST, "/sessions").body(new)?).await
    }

    /// A session.
    ///
    /// # Errors
    /// When there is none.
    pub async fn session(&self, session: SessionId) -> Result<SessionView, ClientError> {
        self.call(Call::get(format!("/sessions/{session}"))).await
    }

    /// What is known of the process of a session, beside what its log says.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn process(&self, session: SessionId) -> Result<ProcessView, ClientError> {
        self.call(Call::get(format!("/sessions/{session}/process"))).await
    }

    /// The rules in force for a session, and where each came from.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn rules(&self, session: SessionId) -> Result<RulesInForce, ClientError> {
        self.call(Call::get(format!("/sessions/{session}/rules"))).await
    }

    /// The last lines that passed between the server and the CLI of a session.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn wire(&self, session: SessionId) -> Result<WireLines, ClientError> {
        self.call(Call::get(format!("/sessions/{session}/wire"))).await
    }

    /// Deletes a session with everything that it had. What was decided in it stays in the audit.
    ///
    /// # Errors
    /// When there is none, or it has a process.
    pub async fn delete_session(&self, session: SessionId) -> Result<(), ClientError> {
        self.done(Call::delete(format!("/sessions/{session}"))).await
    }

    /// Gives a session another title.
    ///
    /// # Errors
    /// When there is none, or the title is none.
    pub async fn rename(&self, session: SessionId, title: &str) -> Result<Noted, ClientError> {
        let body = SetTitle { title: title.to_owned() };
        self.call(Call::command(Method::PUT, format!("/sessions/{session}/title")).body(&body)?)
            .await
    }

    /// Gives a session other labels: all that it is to have.
    ///
    /// # Errors
    /// When there is no such session, or a label is none.
    pub async fn label(
        &self,
        session: SessionId,
        labels: BTreeSet<String>,
    ) -> Result<Noted, ClientError> {
        let call = Call::command(Method::PUT, format!("/sessions/{session}/labels"));
        self.call(call.body(&SetLabels { labels })?).await
    }

    /// Puts a session into the archive, or takes it out.
    ///
    /// # Errors
    /// When there is none, or it has a process.
    pub async fn archive(&self, session: SessionId, archived: bool) -> Result<Noted, ClientError> {
        let call = Call::command(Method::PUT, format!("/sessions/{session}/archived"));
        self.call(call.body(&SetArchived { archived })?).await
    }

    /// Asks for another mode. It is in force when `mode.changed` is in the log.
    ///
    /// # Errors
    /// When there is no such session, or it may not be in that mode.
    pub async fn set_mode(
        &self,
        session: SessionId,
        mode: PermissionMode,
    ) -> Result<Noted, ClientError> {
        let call = Call::command(Method::PUT, format!("/sessions/{session}/mode"));
        self.call(call.body(&SetMode { mode })?).await
    }

    /// Asks for another model, or for the CLI's own choice. It is in use when `model.changed` is in
    /// the log.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn set_model(
        &self,
        session: SessionId,
        model: Option<&str>,
    ) -> Result<Noted, ClientError> {
        let body = SetModel { model: model.map(str::to_owned) };
        self.call(Call::command(Method::PUT, format!("/sessions/{session}/model")).body(&body)?)
            .await
    }

    /// Stops a session: its process ends, and what a person is asked is not asked any more.
    ///
    /// # Errors
    /// When there is none.
    pub async fn stop(&self, session: SessionId) -> Result<Noted, ClientError> {
        self.call(Call::command(Method::POST, format!("/sessions/{session}/stop"))).await
    }

    /// Has a session go on that was stopped or has failed.
    ///
    /// # Errors
    /// When there is none.
    pub async fn resume(&self, session: SessionId) -> Result<Noted, ClientError> {
        self.call(Call::command(Method::POST, format!("/sessions/{session}/resume"))).await
    }

    /// Ends the turn that is running.
    ///
    /// # Errors
    /// When that turn is over: [`ClientError::stale_turn`] says which one is running.
    pub async fn interrupt(&self, session: SessionId, turn: TurnId) -> Result<Noted, ClientError> {
        let call = Call::command(Method::POST, format!("/sessions/{session}/interrupt"));
        self.call(call.body(&Interrupt { turn })?).await
    }

    /// Makes a copy of a session, of all that was said or up to a message.
    ///
    /// # Errors
    /// When there is no such session, or nothing that could be copied.
    pub async fn fork(
        &self,
        session: SessionId,
        fork: &ForkSession,
    ) -> Result<SessionMade, ClientError> {
        self.call(Call::command(Method::POST, format!("/sessions/{session}/fork")).body(fork)?)
            .await
    }

    /// The messages of a session that wait, in their order.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn messages(&self, session: SessionId) -> Result<Vec<StoredMessage>, ClientError> {
        self.call(Call::get(format!("/sessions/{session}/messages"))).await
    }

    /// Says something in a session.
    ///
    /// # Errors
    /// When there is no such session, nothing is said, or the session has cost all that it may.
    pub async fn send(
        &self,
        session: SessionId,
        message: &NewMessage,
    ) -> Result<MessageTaken, ClientError> {
        let call = Call::command(Method::POST, format!("/sessions/{session}/messages"));
        self.call(call.body(message)?).await
    }

    /// Puts the messages that wait into another order, which names each of them once.
    ///
    /// # Errors
    /// When it does not.
    pub async fn order_messages(
        &self,
        session: SessionId,
        order: Vec<MessageId>,
    ) -> Result<Noted, ClientError> {
        let call = Call::command(Method::PUT, format!("/sessions/{session}/messages"));
        self.call(call.body(&OrderMessages { order })?).await
    }

    /// Changes a message that waits.
    ///
    /// # Errors
    /// When it does not wait any more.
    pub async fn edit_message(
        &self,
        session: SessionId,
        message: MessageId,
        content: MessageContent,
    ) -> Result<Noted, ClientError> {
        let call = Call::command(Method::PUT, format!("/sessions/{session}/messages/{message}"));
        self.call(call.body(&EditMessage { content })?).await
    }

    /// Takes a message back that waits.
    ///
    /// # Errors
    /// When it does not wait any more.
    pub async fn remove_message(
        &self,
        session: SessionId,
        message: MessageId,
    ) -> Result<Noted, ClientError> {
        let path = format!("/sessions/{session}/messages/{message}");
        self.call(Call::command(Method::DELETE, path)).await
    }

    /// Events of a session, oldest first: those after a number, or the last ones before it.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn events(
        &self,
        session: SessionId,
        wanted: &ListEvents,
    ) -> Result<Events, ClientError> {
        self.call(Call::get(format!("/sessions/{session}/events")).query(wanted)?).await
    }

    /// Events of all sessions after a position, oldest first.
    ///
    /// # Errors
    /// When the server does not say.
    pub async fn all_events(&self, wanted: &ListAllEvents) -> Result<Events, ClientError> {
        self.call(Call::get("/events").query(wanted)?).await
    }

    /// The plans that were made in a session, with what changed from round to round.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn plans(&self, session: SessionId) -> Result<Vec<PlanRound>, ClientError> {
        self.call(Call::get(format!("/sessions/{session}/plans"))).await
    }
}
