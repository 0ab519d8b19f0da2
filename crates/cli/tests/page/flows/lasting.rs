//! What happens to others and to the server while a page is open.

use crate::kit::{Page, UNREACHABLE};

pub(crate) async fn closed_on_a_second_page(page: &Page<'_>) {
    let session = page.begin("Write one file.").await;
    page.card("tool").await;
    page.second("closed_on_a_second_page-second", async |second| {
        // In the inbox.
        second.card("tool").await;
        second.has(".card .of a", "Write one file.").await;
        second.has("title", "(1)").await;
        // Somebody is in the middle of a message when another one answers.
        page.decide("deny").await;
        page.browser.press("Not h").await;
        second.decide("allow").await;
        page.no_card().await;
        page.has(".closed", "Allowed once by").await;
        // What they have written is not lost.
        page.has(".closed pre", "Not h").await;
        page.browser.press("ere").await;
        second.no_card().await;
        second.until("!document.querySelector('#nothing').hidden").await;
        second.until("!document.title.startsWith('(')").await;
    })
    .await;
    page.says("The file is written.").await;
    page.open_session(&session).await;
    page.is_the_same_when_loaded().await;
}

pub(crate) async fn killed_and_restarted(page: &Page<'_>) {
    page.begin("Write one file.").await;
    page.card("tool").await;
    page.served.borrow_mut().kill();
    page.has("#banner", "Not live").await;
    // An answer that cannot be sent is not lost.
    page.decide("allow").await;
    page.has(".card .problem", "Not sent yet").await;
    page.write("#message", "And one thing more.").await;
    page.served.borrow_mut().start(&[], &[]);
    page.no_card().await;
    page.says("The file is written.").await;
    page.live().await;
    page.until("document.querySelector('#banner').textContent === ''").await;
    assert_eq!(page.file("one.txt").as_deref(), Some("one line\n"));
    // What was being written is still there, also after a reload.
    let draft = "document.querySelector('#message').value === 'And one thing more.'";
    page.until(draft).await;
    page.is_the_same_when_loaded().await;
    page.until(draft).await;
    page.heard_no_more_than(&[UNREACHABLE]).await;
}

pub(crate) async fn parked_and_answered(page: &Page<'_>) {
    page.begin("Write a parked file.").await;
    page.card("tool").await;
    page.served.borrow_mut().stop();
    page.has("#banner", "Not live").await;
    page.served.borrow_mut().start(&[], &[]);
    page.live().await;
    answered_while_parked(page).await;
    assert_eq!(page.file("parked.txt").as_deref(), Some("parked\n"));
    page.is_the_same_when_loaded().await;
    page.heard_no_more_than(&[UNREACHABLE]).await;
}

/// Says on the page that the session is parked, and lets the answer bring it back.
pub(crate) async fn answered_while_parked(page: &Page<'_>) {
    page.has("#standing", "Parked").await;
    page.has(".card .parked", "The session is parked; it resumes with your answer.").await;
    page.has("#sessions .row", "waits for you, parked").await;
    page.decide("allow").await;
    page.no_card().await;
    page.says("The file is written.").await;
    page.until("document.querySelector('#standing').textContent === ''").await;
}
