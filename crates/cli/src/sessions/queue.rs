//! `sessions queue`: messages that wait for the end of the turn.

use clap::Subcommand;
use countersign_server::client::Client;
use countersign_server::id::SessionId;
use countersign_server::service::Noted;
use countersign_server::session::MessageContent;
use countersign_server::store::StoredMessage;

use crate::failure::Failure;
use crate::output::Output;
use crate::remote::told::told;
use crate::remote::{file, named, next};
use crate::words::{one_line, short};

/// The messages that wait for the end of the turn: list, change, remove, order
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    List(List),
    Edit(Edit),
    Remove(Remove),
    Order(Order),
}

/// List the messages that wait, in their order
#[derive(Debug, clap::Args)]
pub(super) struct List {
    /// The session: its id, the beginning or the end of it, or `latest`
    session: String,
}

/// Change a message that waits
#[derive(Debug, clap::Args)]
pub(super) struct Edit {
    /// The session: its id, the beginning or the end of it, or `latest`
    session: String,
    /// The message: its number in the queue, or its id
    message: String,
    /// What it says now; - reads it from standard input
    text: String,
}

/// Take a message back that waits
#[derive(Debug, clap::Args)]
pub(super) struct Remove {
    /// The session: its id, the beginning or the end of it, or `latest`
    session: String,
    /// The message: its number in the queue, or its id
    message: String,
}

/// Put the messages that wait into another order
#[derive(Debug, clap::Args)]
pub(super) struct Order {
    /// The session: its id, the beginning or the end of it, or `latest`
    session: String,
    /// The messages that come first, by their numbers or ids; the others follow as they were
    #[arg(required = true, value_name = "MESSAGE")]
    messages: Vec<String>,
}

impl Command {
    pub(super) async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        match self {
            Self::List(args) => args.run(client, output).await,
            Self::Edit(args) => args.run(client, output).await,
            Self::Remove(args) => args.run(client, output).await,
            Self::Order(args) => args.run(client, output).await,
        }
    }
}

async fn queue(client: &Client, session: &str) -> Result<(SessionId, Vec<StoredMessage>), Failure> {
    let id = named::session(client, session).await?.head.id;
    Ok((id, client.messages(id).await.map_err(told)?))
}

fn noted(noted: &Noted, words: &str, output: &mut Output) -> Result<(), Failure> {
    if output.is_json() {
        return output.json(noted);
    }
    next(words, output);
    Ok(())
}

impl List {
    async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        const LENGTH: usize = 80;
        let (id, queue) = queue(client, &self.session).await?;
        for (number, message) in queue.iter().enumerate() {
            if output.is_json() {
                output.json(message)?;
                continue;
            }
            let text = one_line(&message.content.text, LENGTH);
            let by = one_line(message.by.name(), LENGTH);
            let message = short(message.id.uuid());
            output.line(format_args!("{:>2}  {message}  {text}  ({by})", number + 1))?;
        }
        output.flush()?;
        let id = short(id.uuid());
        let hint = match queue.is_empty() {
            true => "nothing waits".to_owned(),
            false => format!("take one back: countersign sessions queue remove {id} 1"),
        };
        next(&hint, output);
        Ok(())
    }
}

impl Edit {
    async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let (id, queue) = queue(client, &self.session).await?;
        let message = named::message(&queue, &self.message)?;
        let images = queue.into_iter().find(|queued| queued.id == message);
        let images = images.map(|queued| queued.content.images).unwrap_or_default();
        let content = MessageContent { text: file::words(&self.text)?, images };
        let done = client.edit_message(id, message, content).await.map_err(told)?;
        noted(&done, "the message is changed", output)
    }
}

impl Remove {
    async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let (id, queue) = queue(client, &self.session).await?;
        let message = named::message(&queue, &self.message)?;
        let done = client.remove_message(id, message).await.map_err(told)?;
        noted(&done, "the message is taken back", output)
    }
}

impl Order {
    async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let (id, queue) = queue(client, &self.session).await?;
        let mut order = Vec::with_capacity(queue.len());
        for text in &self.messages {
            order.push(named::message(&queue, text)?);
        }
        let others = queue.iter().map(|message| message.id).filter(|id| !order.contains(id));
        let others: Vec<_> = others.collect();
        order.extend(others);
        let done = client.order_messages(id, order).await.map_err(told)?;
        noted(&done, "the messages are in another order", output)
    }
}
