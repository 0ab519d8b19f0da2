//! One question, one answer.

use futures_util::Stream;
use thiserror::Error;

use crate::builder::SessionBuilder;
use crate::error::{ConnectError, SendError, TurnError};
use crate::session::Session;
use crate::turn::{Outcome, TurnEvent};

/// Asks the CLI one question with its own settings, and gives the text of the answer.
///
/// Nothing that needs permission is allowed. [`SessionBuilder::ask`] is for everything else.
///
/// # Errors
/// When there is no answer: the CLI is missing, or the turn failed.
///
/// ```no_run
/// # async fn example() -> Result<(), countersign::QueryError> {
/// let answer = countersign::query("What is 2+2?").await?;
/// println!("{answer}");
/// # Ok(())
/// # }
/// ```
pub async fn query(prompt: impl Into<String>) -> Result<String, QueryError> {
    let outcome = SessionBuilder::new().ask(prompt).await?;
    Ok(outcome.answer().to_owned())
}

/// Why a question has no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// There is no session.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The question did not reach the CLI.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The session ended before there was an answer.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// The turn failed.
    #[error("the turn failed: {error}")]
    Failed {
        /// What went wrong.
        error: String,
        /// All that came of it.
        outcome: Box<Outcome>,
    },
    /// There is an answer, but not of the structure that was asked for.
    #[error("the answer does not have the structure that was asked for: {reason}")]
    NotStructured {
        /// What is wrong with it.
        reason: String,
        /// All that came of it.
        outcome: Box<Outcome>,
    },
}

impl SessionBuilder {
    /// Asks one question in a session of its own, which ends with the answer.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn ask(self, prompt: impl Into<String>) -> Result<Outcome, QueryError> {
        let mut session = self.connect().await?;
        let outcome = session.send(prompt.into()).await?.finish().await?;
        session.close().await;
        match outcome.error() {
            None => Ok(outcome),
            Some(error) => Err(QueryError::Failed { error, outcome: Box::new(outcome) }),
        }
    }

    /// Asks one question, and gives the answer as a type. The model is held to its schema.
    ///
    /// # Errors
    /// When there is no answer, or it has another shape.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), countersign::QueryError> {
    /// use countersign::SessionBuilder;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Person {
    ///     name: String,
    ///     born: u16,
    /// }
    ///
    /// let ada: Person = SessionBuilder::new().ask_for("Who was Ada Lovelace?").await?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "schema")]
    pub async fn ask_for<T>(self, prompt: impl Into<String>) -> Result<T, QueryError>
    where
        T: serde::de::DeserializeOwned + schemars::JsonSchema,
    {
        let outcome = self.output_schema(crate::schema::schema_of::<T>()).ask(prompt).await?;
        let reason = match outcome.structured() {
            Ok(Some(value)) => return Ok(value),
            Ok(None) => "the CLI gave no structured output".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(QueryError::NotStructured { reason, outcome: Box::new(outcome) })
    }

    /// Asks one question in a session of its own, and gives what happens as it happens. The last
    /// event is [`TurnEvent::Done`], with which the session ends; or an error, if the session ends
    /// before the turn does.
    ///
    /// # Errors
    /// When there is no session.
    pub async fn ask_streaming(
        self,
        prompt: impl Into<String>,
    ) -> Result<impl Stream<Item = Result<TurnEvent, TurnError>> + Send, QueryError> {
        let session = self.connect().await?;
        let turn = session.into_turn(prompt.into()).await?;
        Ok(futures_util::stream::unfold(Some(turn), |turn| async move {
            let mut turn = turn?;
            match turn.next().await {
                Some(event @ TurnEvent::Done(_)) => {
                    turn.into_session().close().await;
                    Some((Ok(event), None))
                }
                Some(event) => Some((Ok(event), Some(turn))),
                None => Some((Err(turn.finish().await.err()?), None)),
            }
        }))
    }
}

impl Session {
    /// All messages as a stream.
    pub fn into_messages(self) -> impl Stream<Item = crate::Message> + Send {
        futures_util::stream::unfold(self, |mut session| async move {
            session.next_message().await.map(|message| (message, session))
        })
    }
}
