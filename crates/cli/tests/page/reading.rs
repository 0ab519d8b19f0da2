//! Long sessions, and people who read in the middle of them.

use std::fmt::Write as _;

use serde_json::json;

use crate::flows::{LONG, SCRIPT};
use crate::kit::test;

/// A model that says very much, a block after the other.
fn much(blocks: usize) -> String {
    let mut script =
        format!("{SCRIPT}\n[[answer]]\nwhen = {{ text = \"Say much\" }}\nblocks = [\n");
    for number in 0..blocks {
        writeln!(
            script,
            "    {{ text = \"This is block number {number}, and it has some words.\" }},"
        )
        .unwrap();
    }
    script.push_str("]\n");
    script
}

/// Where the text of a block is on the screen.
fn place_of(number: usize) -> String {
    format!(
        "[...document.querySelectorAll('.prose.model')]
            .find((e) => e.textContent.includes('number {number},'))?.getBoundingClientRect().top"
    )
}

#[tokio::test]
async fn older_parts_come_when_somebody_looks_for_them() {
    let script = much(800);
    test("older_parts_come_when_somebody_looks_for_them", &script, async |page| {
        let browser = page.browser;
        let session = page.served.borrow().session("Say much.");
        page.served.borrow().rest(&session);
        page.open_session(&session).await;
        // The end, and not all of it.
        page.says("number 799,").await;
        let first = browser.count(".prose.model").await;
        assert!(first < 400, "{first}");
        page.until("document.querySelector('.scroll').scrollTop > 0").await;
        // Whoever scrolls up reads on where they were: what comes before does not push it away.
        let shown = browser
            .run("return Number(document.querySelector('.prose.model').textContent.match(/number (\\d+)/)[1])")
            .await;
        let shown = usize::try_from(shown.as_u64().unwrap()).unwrap();
        let before = format!("{} !== undefined", place_of(shown - 1));
        browser.run("document.querySelector('.scroll').scrollTop = 500").await;
        // What comes into view gets its real height with the next frames.
        let settled = format!(
            "((now) => {{
               window.still = window.place === now ? (window.still ?? 0) + 1 : 0;
               window.place = now;
               return window.still > 5;
             }})({})",
            place_of(shown + 3)
        );
        page.until(&settled).await;
        let place = browser.run(&format!("return {}", place_of(shown + 3))).await.as_f64().unwrap();
        browser.run("document.querySelector('#older').click()").await;
        page.until(&before).await;
        browser.run("window.still = 0").await;
        page.until(&settled).await;
        let after = browser.run(&format!("return {}", place_of(shown + 3))).await.as_f64().unwrap();
        assert!((place - after).abs() < 2.0, "{place} {after}");
        // To the very beginning.
        while browser.run("return document.querySelector('#older').hidden").await == false {
            browser.run("document.querySelector('.scroll').scrollTop = 0").await;
            page.until("!document.querySelector('#older').disabled").await;
        }
        let numbers = browser
            .run(
                "return [...document.querySelectorAll('.prose.model')]
                    .map((e) => Number(e.textContent.match(/number (\\d+)/)[1]))",
            )
            .await;
        assert_eq!(numbers, json!((0..800).collect::<Vec<_>>()));
        page.says("Started by").await;
    })
    .await;
}

#[tokio::test]
async fn what_is_new_does_not_move_what_somebody_reads() {
    let script = much(60);
    test("what_is_new_does_not_move_what_somebody_reads", &script, async |page| {
        let browser = page.browser;
        let session = page.served.borrow().session("Say much.");
        page.served.borrow().rest(&session);
        page.open_session(&session).await;
        page.says("number 59,").await;
        browser.run("document.querySelector('.scroll').scrollTop = 100").await;
        page.until("document.querySelector('.scroll').scrollTop === 100").await;
        page.served.borrow().ok(&["send", &session, "Talk for long."]);
        page.until("document.querySelector('#live') && !document.querySelector('#newer').hidden")
            .await;
        assert_eq!(browser.run("return document.querySelector('.scroll').scrollTop").await, 100);
        // To the end, and from there on with it.
        browser.click("#newer").await;
        let is_at_end = "(({ scrollHeight, scrollTop, clientHeight }) =>
            scrollHeight - scrollTop - clientHeight < 5)(document.querySelector('.scroll'))";
        page.until(is_at_end).await;
        page.has("#live", "twenty.").await;
        page.until(is_at_end).await;
        page.until("!document.querySelector('#live')").await;
        page.until(is_at_end).await;
        // All of it has come, and once.
        let last = "const said = [...document.querySelectorAll('.prose.model')].at(-1);
            return [...said.querySelectorAll('p')].map((part) => part.innerText).join(' ')";
        let whole = browser.run(last).await;
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(whole.as_str().unwrap()), words(LONG));
        page.is_the_same_when_loaded().await;
    })
    .await;
}
