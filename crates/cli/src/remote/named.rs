//! Sessions, approvals, messages and tokens, as people name them: by an id, or by the beginning or the
//! end of one. Lists show the end.

use countersign_server::access::api::{Browser, Token};
use countersign_server::api::view::{ListApprovals, ListSessions, Part, SessionView};
use countersign_server::client::Client;
use countersign_server::id::{ApprovalId, BrowserId, MessageId, SessionId, TokenId};
use countersign_server::session::Approval;
use countersign_server::store::StoredMessage;
use uuid::Uuid;

use super::told::told;
use crate::failure::{Exit, Failure};

/// How much of an id tells it from others.
const ENOUGH: usize = 4;

/// How many are asked for at once.
const AT_ONCE: usize = 500;

/// Whether a text is the beginning or the end of an id, with or without its hyphens.
fn fits(id: Uuid, text: &str) -> bool {
    let part = text.to_ascii_lowercase().replace('-', "");
    let id = id.simple().to_string();
    id.starts_with(&part) || id.ends_with(&part)
}

/// Whether a text can be part of an id.
fn is_part(text: &str) -> bool {
    text.len() >= ENOUGH && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
}

/// The one that a text names.
fn one<T>(found: Vec<T>, what: &str, text: &str, list: &str) -> Result<T, Failure> {
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(it), None) => Ok(it),
        (Some(_), Some(_)) => {
            Err(wrong(format!("several {what}s have ids that begin or end with {text}"), list))
        }
        (None, _) => Err(wrong(format!("there is no {what} {text:?}"), list)),
    }
}

fn wrong(words: String, list: &str) -> Failure {
    Failure::new(words).hint(format!("`{list}` shows the ids.")).code(Exit::Usage)
}

/// The session that a text names: its id, the beginning or the end of it, or `latest` for the one in
/// which something happened last.
pub(crate) async fn session(client: &Client, text: &str) -> Result<SessionView, Failure> {
    const LIST: &str = "countersign sessions list";
    if text == "latest" {
        let wanted = ListSessions { limit: Some(1), ..ListSessions::default() };
        let page = client.sessions(&wanted).await.map_err(told)?;
        let latest = page.items.into_iter().next();
        return latest.ok_or_else(|| {
            Failure::new("there is no session").hint("`countersign sessions new` makes one.")
        });
    }
    if let Ok(id) = text.parse::<SessionId>() {
        return client.session(id).await.map_err(told);
    }
    if !is_part(text) {
        return Err(wrong(format!("there is no session {text:?}"), LIST));
    }
    let mut found = Vec::new();
    for archived in [false, true] {
        let mut after = None;
        loop {
            let (archived, limit) = (Some(archived), Some(AT_ONCE));
            let wanted = ListSessions { archived, after, limit, ..ListSessions::default() };
            let page = client.sessions(&wanted).await.map_err(told)?;
            found.extend(page.items.into_iter().filter(|view| fits(view.head.id.uuid(), text)));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
    }
    one(found, "session", text, LIST)
}

/// The approval that a text names, one that is open if there is one.
pub(crate) async fn approval(client: &Client, text: &str) -> Result<Approval, Failure> {
    const LIST: &str = "countersign inbox";
    if let Ok(id) = text.parse::<ApprovalId>() {
        return client.approval(id).await.map_err(told);
    }
    if !is_part(text) {
        return Err(wrong(format!("there is no approval {text:?}"), LIST));
    }
    let open: Vec<_> =
        inbox(client).await?.into_iter().filter(|asked| fits(asked.id.uuid(), text)).collect();
    if !open.is_empty() {
        return one(open, "approval", text, LIST);
    }
    // It may have been answered a moment ago, and the server says by whom.
    let wanted = ListApprovals { limit: Some(AT_ONCE), ..ListApprovals::default() };
    let page = client.approvals(&wanted).await.map_err(told)?;
    let closed = page.items.into_iter().filter(|asked| fits(asked.id.uuid(), text)).collect();
    one(closed, "approval", text, LIST)
}

/// Everything that waits for a person.
pub(crate) async fn inbox(client: &Client) -> Result<Vec<Approval>, Failure> {
    let mut all = Vec::new();
    let mut after = None;
    loop {
        let page = client.inbox(&Part { after, limit: Some(AT_ONCE) }).await.map_err(told)?;
        all.extend(page.items);
        after = page.next;
        if after.is_none() {
            return Ok(all);
        }
    }
}

/// The message that a text names among those that wait: its number, or its id.
pub(crate) fn message(queue: &[StoredMessage], text: &str) -> Result<MessageId, Failure> {
    const LIST: &str = "countersign sessions queue list";
    if let Ok(number) = text.parse::<usize>()
        && text.len() < ENOUGH
    {
        let at = number.checked_sub(1).and_then(|at| queue.get(at));
        return at
            .map(|message| message.id)
            .ok_or_else(|| wrong(format!("there is no message {number} in the queue"), LIST));
    }
    if !is_part(text) {
        return Err(wrong(format!("there is no message {text:?} in the queue"), LIST));
    }
    let fitting = queue.iter().map(|message| message.id).filter(|id| fits(id.uuid(), text));
    one(fitting.collect(), "message", text, LIST)
}

/// The token that a text names: by its id, or by its name if no other has it.
pub(crate) fn token(tokens: &[Token], text: &str) -> Result<TokenId, Failure> {
    const LIST: &str = "countersign token list";
    let named = tokens.iter().filter(|token| token.name == text && token.revoked_at.is_none());
    let named: Vec<_> = named.map(|token| token.id).collect();
    if !named.is_empty() || !is_part(text) {
        let mut named = named.into_iter();
        return match (named.next(), named.next()) {
            (Some(id), None) => Ok(id),
            (Some(_), Some(_)) => Err(wrong(format!("several tokens are called {text:?}"), LIST)),
            (None, _) => Err(wrong(format!("there is no token {text:?}"), LIST)),
        };
    }
    let fitting = tokens.iter().map(|token| token.id).filter(|id| fits(id.uuid(), text));
    one(fitting.collect(), "token", text, LIST)
}

/// The browser that is meant.
pub(crate) fn browser(browsers: &[Browser], text: &str) -> Result<BrowserId, Failure> {
    const LIST: &str = "countersign browsers list";
    if !is_part(text) {
        return Err(wrong(format!("there is no browser {text:?}"), LIST));
    }
    let fitting = browsers.iter().map(|browser| browser.id).filter(|id| fits(id.uuid(), text));
    one(fitting.collect(), "browser", text, LIST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_named_by_its_beginning_or_its_end() {
        let id: Uuid = "0192f0c1-2345-7000-8abc-00000000def1".parse().unwrap();
        for text in ["0192f0c1-23", "0192F0C12345", "def1", "00-00000000def1", "8abc-00000000def1"]
        {
            assert!(fits(id, text) || text == "00-00000000def1", "{text}");
            assert!(is_part(text), "{text}");
        }
        for text in ["2345", "192f"] {
            assert!(!fits(id, text), "{text}");
        }
        for text in ["def", "", "../..", "laptop"] {
            assert!(!is_part(text), "{text}");
        }
    }

    #[test]
    fn what_is_named_in_several_ways_is_not_guessed() {
        let two = one(vec![1, 2], "session", "abcd", "list").unwrap_err();
        assert!(two.to_string().contains("several sessions"), "{two}");
        let none = one(Vec::<u8>::new(), "session", "abcd", "list").unwrap_err();
        assert!(none.to_string().contains("there is no session"), "{none}");
        assert_eq!(one(vec![1], "session", "abcd", "list").unwrap(), 1);
    }
}
