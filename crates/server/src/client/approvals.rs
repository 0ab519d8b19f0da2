//! What people are asked, and what they answer.

use http::Method;

use super::call::Call;
use super::{Client, ClientError};
use crate::api::view::{GiveAnswer, ListApprovals, Part};
use crate::id::ApprovalId;
use crate::service::AnswerTaken;
use crate::session::{Answer, Approval};
use crate::store::Page;

impl Client {
    /// Everything that waits for a person, over all sessions, oldest first.
    ///
    /// # Errors
    /// When the server does not say.
    pub async fn inbox(&self, part: &Part) -> Result<Page<Approval>, ClientError> {
        self.call(Call::get("/inbox").query(part)?).await
    }

    /// Approvals that fit, a page of them.
    ///
    /// # Errors
    /// When the server does not say.
    pub async fn approvals(&self, wanted: &ListApprovals) -> Result<Page<Approval>, ClientError> {
        self.call(Call::get("/approvals").query(wanted)?).await
    }

    /// An approval, with the request as the CLI made it and with everything that became of it.
    ///
    /// # Errors
    /// When there is none.
    pub async fn approval(&self, approval: ApprovalId) -> Result<Approval, ClientError> {
        self.call(Call::get(format!("/approvals/{approval}"))).await
    }

    /// Answers. The answer is on disk when this returns, and gets to exactly that call.
    ///
    /// # Errors
    /// When somebody was first ([`ClientError::already_answered`] says what was answered), or it is
    /// no answer to what was asked.
    pub async fn answer(
        &self,
        approval: ApprovalId,
        answer: Answer,
    ) -> Result<AnswerTaken, ClientError> {
        let call = Call::command(Method::POST, format!("/approvals/{approval}/answer"));
        self.call(call.body(&GiveAnswer { answer })?).await
    }
}
