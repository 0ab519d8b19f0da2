//! Plans: each way to go on with one.

use crate::kit::Page;

async fn planned(page: &Page<'_>) -> String {
    let session = page.begin_with("Make a plan.", &["--mode", "plan"]).await;
    page.card("plan").await;
    page.has(".card .plan li", "Write it down.").await;
    session
}

async fn choose(page: &Page<'_>, way: &str) {
    page.browser.click(&format!(".card [name=choice][value={way}]")).await;
}

pub(crate) async fn plan_with_edits_accepted(page: &Page<'_>) {
    planned(page).await;
    choose(page, "accept_edits").await;
    page.decide("plan").await;
    page.says("The plan is carried out.").await;
    page.until("document.querySelector('#mode').value === 'acceptEdits'").await;
    assert_eq!(page.file("planned.txt").as_deref(), Some("planned\n"));
    page.says("Plan approved, edits need no approval").await;
    page.is_the_same_when_loaded().await;
}

pub(crate) async fn plan_with_each_edit_approved(page: &Page<'_>) {
    planned(page).await;
    // It is what is chosen unless somebody chooses something else: each edit is asked for.
    page.until("document.querySelector('[value=approve_manually]').checked").await;
    page.decide("plan").await;
    page.card("tool").await;
    page.has(".card h2", "Write planned.txt").await;
    page.decide("allow").await;
    page.says("The plan is carried out.").await;
    page.is_the_same_when_loaded().await;
}

pub(crate) async fn plan_with_a_clear_context(page: &Page<'_>) {
    let first = planned(page).await;
    choose(page, "clear_context").await;
    page.decide("plan").await;
    // It is carried out in another session, whose page opens.
    page.until(&format!(
        "location.pathname.startsWith('/sessions/') && !location.pathname.includes('{first}')"
    ))
    .await;
    page.live().await;
    page.says("to carry out a plan, with a clear context").await;
    page.says("It is done afresh.").await;
    assert_eq!(page.file("fresh.txt").as_deref(), Some("fresh\n"));
    page.is_the_same_when_loaded().await;
}

pub(crate) async fn plan_sent_back(page: &Page<'_>) {
    planned(page).await;
    choose(page, "keep_planning").await;
    page.write(".card [name=feedback]", "Test it as well.").await;
    // What is chosen and written is not lost when the page is loaded anew.
    page.reload().await;
    page.card("plan").await;
    page.until("document.querySelector('.card [value=keep_planning]').checked").await;
    page.until(
        "document.querySelector('.card .feedback:not([hidden]) textarea')?.value === 'Test it as well.'",
    )
    .await;
    page.reads(".card [data-do=plan]", "Send back").await;
    page.decide("plan").await;
    // The model comes back with another plan only if it was told why.
    page.has(".card h2", "round 2").await;
    page.card("plan").await;
    page.has(".card .plan li", "Test it.").await;
    // What changed, and what it was before.
    page.has(".card .diff .ins", "Test it.").await;
    page.has(".card details", "Round 1").await;
    page.browser.click("[data-right]").await;
    page.browser.click("#tab-plan").await;
    page.has("#tab h2", "Round 1").await;
    page.has("#tab", "Test it as well.").await;
    page.browser.run("localStorage.clear()").await;
    page.decide("deny-stop").await;
    page.no_card().await;
    page.is_the_same_when_loaded().await;
}

pub(crate) async fn plan_sent_back_with_edits(page: &Page<'_>) {
    planned(page).await;
    choose(page, "keep_planning").await;
    page.write(".card [name=feedback]", "Think of who reads it.").await;
    page.decide("edit").await;
    page.rewrite(".card [name=plan]", "# Plan\n\n1. Write it down.\n2. Read it aloud.").await;
    page.reads(".card [data-do=plan]", "Send back with the edited plan").await;
    page.decide("plan").await;
    // The model has both: what was said, and the plan in other words.
    page.has(".card h2", "round 2").await;
    page.card("plan").await;
    page.has(".card .plan li", "Read it aloud to others.").await;
    page.decide("deny-stop").await;
    page.no_card().await;
    page.is_the_same_when_loaded().await;
}

pub(crate) async fn plan_edited(page: &Page<'_>) {
    planned(page).await;
    page.decide("edit").await;
    page.rewrite(".card [name=plan]", "# Plan\n\n1. Write it down.\n2. Say so.").await;
    page.reads(".card [data-do=plan]", "Go on with the edited plan").await;
    choose(page, "accept_edits").await;
    page.decide("plan").await;
    page.says("Plan edited and approved").await;
    page.says("The plan is carried out.").await;
    // This file is written only by a model that was told the edited plan.
    assert_eq!(page.file("edited.txt").as_deref(), Some("as it was edited\n"));
    assert_eq!(page.file("planned.txt"), None);
    page.browser.click("[data-right]").await;
    page.browser.click("#tab-plan").await;
    page.has("#tab details", "What was edited before it was approved").await;
    page.has("#tab .diff .ins", "Say so.").await;
    page.browser.run("localStorage.clear()").await;
    page.is_the_same_when_loaded().await;
}
