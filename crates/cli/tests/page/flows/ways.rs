//! Other ways to use the page: with the keyboard alone, on a phone.

use std::time::Duration;

use countersign_e2e::Key;
use serde_json::json;

use crate::kit::Page;

async fn press(page: &Page<'_>, key: Key) {
    page.browser.press(&char::from(key).to_string()).await;
}

/// Goes on with the tab key until this has the focus.
async fn tab_to(page: &Page<'_>, css: &str) {
    for _ in 0..80 {
        press(page, Key::Tab).await;
        let script = format!("return document.activeElement.matches({})", json!(css));
        if page.browser.run(&script).await == true {
            return;
        }
    }
    panic!("the tab key does not come to {css}");
}

pub(crate) async fn with_the_keyboard_alone(page: &Page<'_>) {
    let browser = page.browser;
    // Help, and back.
    browser.press("?").await;
    page.until("document.querySelector('#help').open").await;
    press(page, Key::Escape).await;
    page.until("!document.querySelector('#help').open").await;
    // A session.
    browser.press("gn").await;
    page.until("location.pathname === '/new'").await;
    tab_to(page, "[name=prompt]").await;
    browser.press("Write one file.").await;
    tab_to(page, "#new-session button.primary").await;
    press(page, Key::Enter).await;
    page.until("location.pathname.startsWith('/sessions/')").await;
    // A key that comes at once decides nothing; nor does one while somebody writes.
    page.until("document.querySelector('.card')").await;
    let appears = "document.querySelector('.card').dataset.since = performance.now()";
    assert!(!page.key_does(appears, "body", &json!({ "key": "a" })).await);
    page.card("tool").await;
    tab_to(page, "#message").await;
    browser.press("a lax dad").await;
    assert_eq!(browser.count(".card").await, 1);
    assert_eq!(browser.run("return document.querySelector('#message').value").await, "a lax dad");
    // To the card, its parts, and a denial with a message.
    tab_to(page, "a.skip").await;
    browser.press("j").await;
    page.until("document.activeElement.matches('.card summary')").await;
    // For a while after somebody has written, keys decide nothing.
    let writes = "document.querySelector('#message')
        .dispatchEvent(new KeyboardEvent('keydown', { key: 'x', bubbles: true }))";
    assert!(!page.key_does(writes, "body", &json!({ "key": "e" })).await);
    let edits = "return document.activeElement.matches('.card [name=input]')";
    for attempt in 0.. {
        browser.press("e").await;
        if browser.run(edits).await == true {
            break;
        }
        assert!(attempt < 100, "the key never edits");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    press(page, Key::Escape).await;
    page.until("document.activeElement.matches('.card summary')").await;
    browser.press("d").await;
    page.until("document.activeElement.matches('.card [name=message]')").await;
    browser.press("Write it elsewhere.").await;
    let chord = format!("{}{}", char::from(Key::Control), char::from(Key::Enter));
    browser.chord(&chord).await;
    page.no_card().await;
    page.says("I was told: ").await;
    // What comes next has the focus.
    page.until("document.activeElement.matches('#message')").await;
    // The panel and its tabs.
    tab_to(page, "main [data-right]").await;
    press(page, Key::Enter).await;
    page.until("document.activeElement.matches('[role=tab][aria-selected=true]')").await;
    press(page, Key::Right).await;
    page.until("document.activeElement.id === 'tab-changes'").await;
    page.has("#tab", "Nothing changed").await;
    // The list on the left, and back to the inbox.
    tab_to(page, "a.skip").await;
    browser.press("/").await;
    page.until("document.activeElement.id === 'filter'").await;
    browser.press("nothing like it").await;
    page.until("document.querySelector('#sessions li').hidden").await;
    press(page, Key::Escape).await;
    page.until("!document.querySelector('#sessions li').hidden").await;
    browser.press("gi").await;
    page.until("location.pathname === '/'").await;
    browser.run("localStorage.clear()").await;
}

pub(crate) async fn on_a_phone(page: &Page<'_>) {
    let browser = page.browser;
    browser.be_a_phone(390, 844).await;
    page.begin("Write one file.").await;
    page.card("tool").await;
    // The page is as wide as the phone, and knows that it is touched.
    let phone = "return [innerWidth, matchMedia('(pointer: coarse)').matches]";
    assert_eq!(browser.run(phone).await, json!([390, true]));
    page.fits("the session").await;
    // Fingers are broad.
    let small = "return [...document.querySelectorAll('.card .actions button')]
        .filter((button) => button.getBoundingClientRect().height < 44).length";
    assert_eq!(browser.run(small).await, 0);
    page.decide("allow").await;
    page.no_card().await;
    page.says("The file is written.").await;
    // The keyboard of a phone has one key for a new line, and no other: what is said is sent with the
    // button.
    page.write("#message", "Just say hello.").await;
    press(page, Key::Enter).await;
    browser.press("Please.").await;
    page.until("document.querySelector('#message').value === 'Just say hello.\\nPlease.'").await;
    assert_eq!(browser.count(".said").await, 1);
    browser.click("#composer button.primary").await;
    page.until("document.querySelector('#message').value === ''").await;
    page.says("Hello, whoever you are.").await;
    assert_eq!(browser.count(".said").await, 2);
    // The list, the menu and the panel are a touch away.
    assert_eq!(
        browser.run("return document.querySelector('.left').offsetParent === null").await,
        true
    );
    browser.click("main [data-left]").await;
    page.until("document.querySelector('.left').getBoundingClientRect().width === innerWidth")
        .await;
    page.fits("the list").await;
    browser.click(".left [data-left]").await;
    browser.click("details.menu summary").await;
    page.until("document.querySelector('[data-session-do=fork]').getBoundingClientRect().right <= innerWidth").await;
    browser.click("details.menu summary").await;
    browser.click("main [data-right]").await;
    page.until("document.querySelector('.side').getBoundingClientRect().width === innerWidth")
        .await;
    browser.click("#tab-changes").await;
    page.has("#tab", "one.txt").await;
    page.fits("the panel").await;
    browser.click(".side [data-right]").await;
    page.until("document.querySelector('.side').hidden").await;
    browser.run("localStorage.clear()").await;
    page.is_the_same_when_loaded().await;
    browser.resize(1280, 1000).await;
}
