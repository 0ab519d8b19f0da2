//! What is said: as it comes, and before it is sent.

use countersign_e2e::Key;

use crate::kit::Page;

/// A picture of one pixel.
pub(crate) const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/// A session whose model is in the middle of something.
async fn talks(page: &Page<'_>) {
    page.begin("Talk until I stop you.").await;
    page.has("#live", "five").await;
}

async fn say(page: &Page<'_>, text: &str) {
    page.write("#message", text).await;
    page.browser.press(&char::from(Key::Enter).to_string()).await;
    page.until("document.querySelector('#message').value === ''").await;
}

pub(crate) async fn interrupted(page: &Page<'_>) {
    talks(page).await;
    page.browser.click("[data-session-do=interrupt]").await;
    page.says("The turn was interrupted").await;
    page.until("!document.querySelector('[data-session-do=interrupt]')").await;
    page.until("!document.querySelector('#live')").await;
    page.is_the_same_when_loaded().await;
}

pub(crate) async fn waiting_messages_are_changed(page: &Page<'_>) {
    talks(page).await;
    for text in ["Number one", "Number two", "Number three"] {
        say(page, text).await;
        page.has("#queue li", text).await;
    }
    // The second goes, the third comes first, and the first is another one.
    page.browser.click("#queue li:nth-child(2) [data-queue=remove]").await;
    page.until("document.querySelectorAll('#queue li').length === 2").await;
    page.browser.click("#queue li:nth-child(2) [data-queue=up]").await;
    page.has("#queue li:first-child", "Number three").await;
    page.browser.click("#queue li:nth-child(2) [data-queue=edit]").await;
    page.rewrite("#queue .editing textarea", "Number one again").await;
    page.browser.click("#queue .editing button").await;
    page.has("#queue li:nth-child(2)", "Number one again").await;
    page.browser.click("[data-session-do=interrupt]").await;
    page.until("document.querySelectorAll('.said').length === 3").await;
    page.until("document.querySelectorAll('#queue li').length === 0").await;
    let said = page
        .browser
        .run("return [...document.querySelectorAll('.said .prose')].map((e) => e.innerText.trim())")
        .await;
    assert_eq!(
        said,
        serde_json::json!(["Talk until I stop you.", "Number three", "Number one again"])
    );
    // The model has it in its new words.
    page.says("The changed one has come.").await;
    page.until("!document.querySelector('[data-session-do=interrupt]')").await;
    page.is_the_same_when_loaded().await;
}

pub(crate) async fn commands_are_suggested(page: &Page<'_>) {
    const CHOSEN: &str = "document.querySelector('#commands [aria-selected=true]')?.dataset.name";
    const NAMES: &str = "[...document.querySelectorAll('#commands li')].map((e) => e.dataset.name)";
    page.begin("Just say hello.").await;
    page.says("Hello, whoever you are.").await;
    page.write("#message", "/co").await;
    page.until(&format!("{NAMES}.length > 1 && {NAMES}.every((n) => n.startsWith('co'))")).await;
    // The keys are about the list, and the screen reader is told where it is.
    let first = page.browser.run(&format!("return {CHOSEN}")).await;
    page.browser.press(&char::from(Key::Down).to_string()).await;
    page.until(&format!("{CHOSEN} === {NAMES}[1]")).await;
    let active = page.browser.run(
        "return document.getElementById(document.querySelector('#message').getAttribute('aria-activedescendant')).dataset.name",
    );
    assert_ne!(active.await, first);
    page.write("#message", "mpac").await;
    page.until(&format!("JSON.stringify({NAMES}) === '[\"compact\"]'")).await;
    page.browser.press(&char::from(Key::Tab).to_string()).await;
    page.until("document.querySelector('#message').value === '/compact '").await;
    page.until("document.querySelector('#commands').hidden").await;
    // What is no command has no list, and one that is not wanted goes.
    page.rewrite("#message", "/").await;
    page.until("!document.querySelector('#commands').hidden").await;
    page.browser.press(&char::from(Key::Escape).to_string()).await;
    page.until("document.querySelector('#commands').hidden").await;
    page.rewrite("#message", "either/or").await;
    page.until("document.querySelector('#commands').hidden").await;
    page.rewrite("#message", "").await;
}

pub(crate) async fn reloaded_in_the_middle(page: &Page<'_>) {
    const WORDS: &str =
        "(document.querySelector('#live')?.innerText ?? '').split(/\\s+/).filter(Boolean)";
    page.begin("Count until I stop you.").await;
    page.has("#live", "4 5").await;
    page.reload().await;
    // It goes on from its beginning, and nothing is missing or there twice.
    page.until(&format!("{WORDS}.length >= 5")).await;
    let seen = page.browser.run(&format!("return {WORDS}.length")).await;
    page.until(&format!("{WORDS}.length > {seen} + 5")).await;
    let live = page.browser.run(&format!("return {WORDS}")).await;
    let words = live.as_array().unwrap();
    let counted: Vec<_> = (1..=words.len()).map(|number| number.to_string()).collect();
    assert_eq!(live, serde_json::json!(counted));
    page.browser.click("[data-session-do=interrupt]").await;
    page.says("The turn was interrupted").await;
    page.until("!document.querySelector('#live')").await;
    page.is_the_same_when_loaded().await;
}

/// What is said for long, as the script has it.
pub(crate) const LONG: &str = "\
    One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
    sixteen seventeen eighteen nineteen twenty. Twenty-one twenty-two twenty-three twenty-four \
    twenty-five twenty-six twenty-seven twenty-eight twenty-nine thirty thirty-one thirty-two \
    thirty-three thirty-four thirty-five thirty-six thirty-seven thirty-eight thirty-nine forty \
    forty-one forty-two forty-three forty-four forty-five forty-six forty-seven forty-eight \
    forty-nine fifty. That was all.";

pub(crate) async fn a_picture_is_sent(page: &Page<'_>) {
    page.begin("Just say hello.").await;
    page.says("Hello, whoever you are.").await;
    page.browser
        .run(&format!(
            "const bytes = Uint8Array.from(atob('{PICTURE}'), (c) => c.charCodeAt(0));
             const files = new DataTransfer();
             files.items.add(new File([bytes], 'one.png', {{ type: 'image/png' }}));
             const input = document.querySelector('#attach');
             input.files = files.files;
             input.dispatchEvent(new Event('change', {{ bubbles: true }}));"
        ))
        .await;
    page.until("document.querySelector('#attached img')").await;
    say(page, "Look at this.").await;
    page.until("!document.querySelector('#attached img')").await;
    page.until("document.querySelector('.said img')?.naturalWidth === 1").await;
    page.says("There is nothing more to say.").await;
    page.until("!document.querySelector('[data-session-do=interrupt]')").await;
    page.is_the_same_when_loaded().await;
}
