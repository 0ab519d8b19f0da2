//! Questions of the model.

use crate::kit::Page;

pub(crate) async fn questions_answered(page: &Page<'_>) {
    page.begin("Ask me something.").await;
    page.card("question").await;
    // Nothing is answered by itself.
    page.decide("answer").await;
    page.has(".card .problem", "has no answer yet").await;
    // What is chosen is shown, and nothing else.
    const SHOWN: &str =
        "[...document.querySelectorAll('.card .preview')].filter((e) => e.checkVisibility())";
    page.until(&format!("{SHOWN}.length === 0")).await;
    page.browser.click(".card input[value='A table']").await;
    page.until(&format!("{SHOWN}.length === 1 && {SHOWN}[0].querySelector('td')")).await;
    page.browser.click(".card input[value='A list']").await;
    page.until(&format!("{SHOWN}.length === 1 && {SHOWN}[0].querySelector('li')")).await;
    page.browser.click(".card input[value=Small]").await;
    page.browser.click(".card input[value=Large]").await;
    page.write(".card [data-several] [data-text]", "Enormous").await;
    page.write(".card [data-several] [data-note]", "as you like").await;
    page.decide("answer").await;
    page.no_card().await;
    // The model says that only if everything has come to it: the choices, the own answer, and the note.
    page.says("I heard all of it: ").await;
    page.until("document.querySelector('#transcript .stage.ran')").await;
    page.is_the_same_when_loaded().await;
}

pub(crate) async fn questions_replied_to(page: &Page<'_>) {
    page.begin("Ask me something.").await;
    page.card("question").await;
    page.decide("reply").await;
    // Nothing is no reply.
    page.reads(".card [data-do=reply]", "Send this reply").await;
    page.decide("reply").await;
    page.has(".card .problem", "Write something first").await;
    page.write(".card .refuse textarea", "Ask the designer about it.").await;
    page.decide("reply").await;
    page.no_card().await;
    page.says("I will ask the designer.").await;
    page.is_the_same_when_loaded().await;
}

pub(crate) async fn questions_skipped(page: &Page<'_>) {
    page.begin("Ask me something.").await;
    page.card("question").await;
    page.decide("skip").await;
    page.no_card().await;
    page.says("Skipped by").await;
    page.is_the_same_when_loaded().await;
}
