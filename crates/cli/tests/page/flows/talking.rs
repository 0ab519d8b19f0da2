//! What is said: as it comes, and before it is sent.

use fantoccini::key::Key;

use crate::kit::Page;

/// A picture of one pixel.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

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
    page.says("There is nothing more to say.").await;
    page.until("!document.querySelector('[data-session-do=interrupt]')").await;
    page.is_the_same_when_loaded().await;
}

pub(crate) async fn reloaded_in_the_middle(page: &Page<'_>) {
    page.begin("Talk for long.").await;
    page.has("#live", "five").await;
    page.browser.run("location.reload()").await;
    page.live().await;
    // It goes on from its beginning, and nothing is missing or there twice.
    page.until("document.querySelector('#live') && /^One two three/.test(document.querySelector('#live').innerText.trim())")
        .await;
    page.has("#live", "fifteen").await;
    let live = page.browser.run("return document.querySelector('#live').innerText").await;
    let words: Vec<&str> = live.as_str().unwrap().split_whitespace().collect();
    let all: Vec<&str> = LONG.split_whitespace().collect();
    assert_eq!(words, all[..words.len()], "{live}");
    page.until("!document.querySelector('#live')").await;
    let whole = page.browser.run("return document.querySelector('.prose.model').innerText").await;
    assert_eq!(whole.as_str().unwrap().split_whitespace().collect::<Vec<_>>(), all);
    page.is_the_same_when_loaded().await;
}

/// What is said for long, as the script has it.
const LONG: &str = "One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
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
