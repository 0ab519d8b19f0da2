//! Questions of the model.

use crate::kit::Page;

pub(crate) async fn questions_answered(page: &Page<'_>) {
    page.begin("Ask me something.").await;
    page.card("question").await;
    // Nothing is answered by itself.
    page.decide("answer").await;
    page.has(".card .problem", "has no answer yet").await;
    page.until("document.querySelector('.card .preview').hidden").await;
    page.browser.click(".card input[value='A list']").await;
    page.has(".card .preview:not([hidden])", "one two").await;
    page.browser.click(".card input[value=Small]").await;
    page.browser.click(".card input[value=Large]").await;
    page.write(".card [data-several] [data-text]", "Enormous").await;
    page.write(".card [data-several] [data-note]", "as you like").await;
    page.decide("answer").await;
    page.no_card().await;
    page.says("I heard: ").await;
    for text in ["A list", "Small", "Large", "Enormous"] {
        page.has("#transcript .prose.model", text).await;
    }
    page.until("document.querySelector('#transcript .stage.ran')").await;
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
