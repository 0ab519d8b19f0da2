//! Calls that people are asked about.

use serde_json::json;

use crate::kit::Page;

pub(crate) async fn a_session_is_started_with_the_form(page: &Page<'_>) {
    let browser = page.browser;
    browser.click("nav.main a[href='/new']").await;
    page.write("[name=prompt]", "Just say hello.").await;
    browser.click("#new-session details summary").await;
    page.write("[name=title]", "A greeting").await;
    page.write("[name=allowed]", "Bash(git log --format=%h,%s), Read").await;
    browser.click("#new-session button.primary").await;
    page.until("location.pathname.startsWith('/sessions/')").await;
    page.live().await;
    // A comma within brackets is part of the rule.
    let session = browser.run("return document.body.dataset.session").await;
    let head = page.served.borrow().head(session.as_str().unwrap());
    let rules = json!(["Bash(git log --format=%h,%s)", "Read"]);
    assert_eq!(head["options"]["allowed_tools"], rules, "{head}");
    page.says("Hello, whoever you are.").await;
    assert_eq!(browser.run("return document.querySelector('#title').value").await, "A greeting");
    page.has("#sessions .row[aria-current]", "A greeting").await;
    page.is_the_same_when_loaded().await;
}

pub(crate) async fn allowed_once(page: &Page<'_>) {
    page.begin("Write one file.").await;
    page.card("tool").await;
    page.has(".card .diff .ins", "one line").await;
    page.has(".card h2", "Write one.txt").await;
    assert_eq!(page.file("one.txt"), None);
    page.decide("allow").await;
    page.no_card().await;
    page.has(".closed", "Allowed once").await;
    page.says("The file is written.").await;
    assert_eq!(page.file("one.txt").as_deref(), Some("one line\n"));
    page.is_the_same_when_loaded().await;
}

/// Whose call it is is said in words, and the call stands in the agent's thread.
pub(crate) async fn an_agent_asks(page: &Page<'_>) {
    page.begin("Delegate it.").await;
    page.card("tool").await;
    page.has(".card summary", "by the agent general-purpose: Write the file").await;
    page.until("document.querySelector('.call .thread .call')").await;
    page.decide("allow").await;
    page.says("The agent has written it.").await;
    assert_eq!(page.file("delegated.txt").as_deref(), Some("by an agent\n"));
    page.is_the_same_when_loaded().await;
}

pub(crate) async fn allowed_with_a_rule(page: &Page<'_>) {
    page.begin("Touch it twice.").await;
    page.card("tool").await;
    page.has(".card .input", "touch first.txt").await;
    page.has(".card .rule", "Bash(touch").await;
    page.browser.run("document.querySelector('.card [name^=destination]').value = 'session'").await;
    page.decide("allow-rule").await;
    // The second one is asked about no more.
    page.says("It was touched twice.").await;
    page.has("#transcript .note", "In force from now on").await;
    assert!(page.file("first.txt").is_some());
    page.browser.click("[data-right]").await;
    page.browser.click("#tab-details").await;
    page.has("#tab table", "Bash(touch").await;
    page.has("#tab table", "for this session, with an answer").await;
    page.browser.run("localStorage.clear()").await;
    page.is_the_same_when_loaded().await;
}

pub(crate) async fn edited_and_allowed(page: &Page<'_>) {
    page.begin("Write the wrong thing.").await;
    page.card("tool").await;
    page.decide("edit").await;
    page.rewrite(".card [name=input]", "the right thing").await;
    page.reads(".card [data-do=allow]", "Allow as edited").await;
    page.decide("allow").await;
    page.says("The file is written.").await;
    assert_eq!(page.file("thing.txt").as_deref(), Some("the right thing"));
    page.has("#transcript .call .word", "allowed with another input").await;
    page.is_the_same_when_loaded().await;
}

pub(crate) async fn denied_with_a_message(page: &Page<'_>) {
    page.begin("Write another file.").await;
    page.card("tool").await;
    page.decide("deny").await;
    page.browser.press("Not here, please.").await;
    page.reads(".card [data-do=deny]", "Deny with this message").await;
    // What is written and not sent is not lost when the page is loaded anew.
    page.reload().await;
    page.card("tool").await;
    page.until(
        "document.querySelector('.card .refuse:not([hidden]) textarea')?.value === 'Not here, please.'",
    )
    .await;
    page.reads(".card [data-do=deny]", "Deny with this message").await;
    page.decide("deny").await;
    page.no_card().await;
    page.says("I was told: ").await;
    page.has("#transcript .prose.model", "Not here, please.").await;
    assert_eq!(page.file("another.txt"), None);
    page.is_the_same_when_loaded().await;
}

pub(crate) async fn denied_and_stopped(page: &Page<'_>) {
    page.begin("Write another file.").await;
    page.card("tool").await;
    page.decide("deny-stop").await;
    page.no_card().await;
    page.says("Denied and stopped").await;
    // The turn has ended with it: the model was not asked again, and has said nothing to it.
    page.says("The turn was interrupted").await;
    page.until("!document.querySelector('[data-session-do=interrupt]')").await;
    let text = page.browser.text("#transcript").await;
    assert!(!text.contains("I was told"), "{text}");
    assert_eq!(page.file("another.txt"), None);
    page.is_the_same_when_loaded().await;
}
