//! What somebody says.

use super::agree::agrees;
use super::sample::{person, said};
use super::tester::{Reason, Tester, same, some};
use crate::id::{MessageId, SessionId};
use crate::session::{
    Image, MessageContent, MessageEdited, MessageRemoved, MessageReturned, MessageSent,
    MessagesOrdered,
};

pub(super) async fn kept(tester: &Tester) -> Result<(), Reason> {
    let (session, message) = (tester.create("said").await?, MessageId::new());
    same("one that is not there", &None, &tester.store.message(message).await?)?;
    tester.happen(session, vec![said(message, "First")]).await?;
    let first = some("the message", tester.store.message(message).await?)?;
    let place = (message, session, tester.time.last());
    same("the message", &place, &(first.id, first.session, first.at))?;
    same("what it says", "First", &*first.content.text)?;
    let images = vec![Image { media_type: "image/png".into(), data: "iVBORw0KGgo=".into() }];
    let content = MessageContent { text: "Second".into(), images };
    let by = person();
    let edited = MessageEdited { message, content: content.clone(), by: by.clone() };
    tester.happen(session, vec![edited.into()]).await?;
    let second = some("the message", tester.store.message(message).await?)?;
    same("what it says now", &content, &second.content)?;
    same("who changed it", &by, &second.by)?;
    tester.happen(session, vec![MessageRemoved { message, by }.into()]).await?;
    let removed = tester.store.message(message).await?;
    same("after it was taken back", &Some(second), &removed)?;
    agrees(&*tester.store, session).await
}

pub(super) async fn queue(tester: &Tester) -> Result<(), Reason> {
    let running = tester.running().await?;
    let session = running.session;
    let waiting = async |what: &'static str, expected: &[MessageId]| {
        let queued = tester.store.queued_messages(session).await?;
        let queued: Vec<_> = queued.iter().map(|message| message.id).collect();
        same(what, expected, &*queued)
    };
    waiting("at first", &[]).await?;
    let [a, b, c]: [MessageId; 3] = std::array::from_fn(|_| MessageId::new());
    tester.happen(session, vec![said(a, "a"), said(b, "b"), said(c, "c")]).await?;
    waiting("as they came", &[a, b, c]).await?;
    let order = MessagesOrdered { order: vec![c, a, b], by: person() };
    tester.happen(session, vec![order.into()]).await?;
    waiting("in another order", &[c, a, b]).await?;
    let turn = running.turn;
    tester.happen(session, vec![MessageSent { message: c, turn }.into()]).await?;
    waiting("after one was sent", &[a, b]).await?;
    tester.happen(session, vec![MessageReturned { message: c }.into()]).await?;
    waiting("after it came back", &[c, a, b]).await?;
    let none = tester.store.queued_messages(SessionId::new()).await?;
    same("of no session", &0, &none.len())
}
