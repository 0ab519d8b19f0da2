//! The diagram of a tape.

use countersign_e2e::{Browser, Scheme, test};
use countersign_record::Channel;
use serde_json::json;

use crate::support::{Page, Tape, conversation};

/// The rows of frames that a diagram has, whether they are drawn or not.
async fn rows(browser: &Browser) -> u64 {
    let rows = browser.run("return document.querySelector('.cs-row')?.ariaSetSize ?? '0'").await;
    rows.as_str().unwrap().parse().unwrap()
}

async fn open(browser: &Browser, page: &Page, hash: &str) {
    browser.open(&format!("{}{hash}", page.address())).await;
    browser.until("document.querySelector('.cs-row')").await;
}

/// Nothing went wrong, and nothing was asked for but the page itself.
async fn was_quiet(browser: &Browser) {
    assert_eq!(browser.console().await, [] as [&str; 0]);
    let requests = browser.requests().await;
    assert!(requests.iter().all(|address| address.starts_with("file:///")), "{requests:?}");
    assert!(!requests.is_empty(), "the page itself was not seen");
}

#[tokio::test]
async fn a_page_opens_from_the_disk_without_a_request() {
    test("a_page_opens_from_the_disk_without_a_request", async |browser| {
        let page = Page::of(&[conversation().diagram()]);
        open(browser, &page, "").await;
        assert_eq!(browser.text("h2").await, "session.tape");
        assert_eq!(browser.text(".cs-badge").await, "exit code 0");
        assert!(browser.text(".cs-meta").await.contains("2.1.325"));
        // 2 initialize, 1 user, 8 deltas as one row, 1 assistant, 2 for the tool, 1 stderr,
        // 1 tool result, 1 result, 1 end.
        assert_eq!(rows(browser).await, 11);
        assert_eq!(browser.count("img, b b, iframe, link").await, 0);
        assert_eq!(browser.count(".cs-hid").await, 2, "the character that turns text around");
        was_quiet(browser).await;
    })
    .await;
}

#[tokio::test]
async fn what_the_policy_forbids_is_noticed() {
    test("what_the_policy_forbids_is_noticed", async |browser| {
        let page = Page::of(&[conversation().diagram()]);
        open(browser, &page, "").await;
        was_quiet(browser).await;
        // The test above would not see a request if none could ever be seen.
        browser.run("document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.1:9/'}))").await;
        browser.run("document.body.insertAdjacentHTML('beforeend', '<p style=\"color:red\" onclick=\"1\">')").await;
        let console = browser.console().await;
        assert!(console.iter().any(|line| line.contains("img-src") || line.contains("default-src")), "{console:?}");
        assert!(console.iter().any(|line| line.contains("style-src")), "{console:?}");
    })
    .await;
}

#[tokio::test]
async fn a_frame_opens_by_mouse_and_keyboard() {
    test("a_frame_opens_by_mouse_and_keyboard", async |browser| {
        let page = Page::of(&[conversation().diagram()]);
        open(browser, &page, "").await;
        browser.click("[aria-label*='can_use_tool: Write a.txt']").await;
        let body = browser.text(".cs-body").await;
        assert!(body.contains("\"file_path\": \"/home/user-1/project/a.txt\""), "{body}");
        assert_eq!(browser.count("[aria-expanded='true']").await, 1);
        browser.click(".cs-copy").await;
        browser.until("document.querySelector('.cs-copy').textContent === 'Copied'").await;
        // The same key closes it, and the arrows go to the next one.
        browser.run("document.querySelector(\"[aria-expanded='true']\").focus()").await;
        browser.press("\u{e007}").await;
        assert_eq!(browser.count(".cs-body").await, 0);
        browser.press("\u{e015}\u{e007}").await;
        let body = browser.text(".cs-body").await;
        assert!(body.contains("\"behavior\": \"allow\""), "{body}");
        let answer = browser.text(".cs-facts .cs-small").await;
        assert_eq!(answer, "Request #13, 1.50 s before");
        // The button leads to the other one, which is open then, too.
        browser.click(".cs-facts .cs-small").await;
        assert_eq!(browser.count(".cs-body").await, 2);
        let focus = browser.run("return document.activeElement.getAttribute('aria-label')").await;
        assert!(focus.as_str().unwrap().starts_with("number 13, "), "{focus}");
        was_quiet(browser).await;
    })
    .await;
}

#[tokio::test]
async fn a_request_and_its_answer_are_shown_together() {
    test("a_request_and_its_answer_are_shown_together", async |browser| {
        let page = Page::of(&[conversation().diagram()]);
        open(browser, &page, "").await;
        assert_eq!(browser.count(".cs-row.cs-hot").await, 0);
        browser.run("document.querySelector('[aria-label*=\"initialize\"]').focus()").await;
        browser.until("document.querySelectorAll('.cs-row.cs-hot').length === 2").await;
        assert_eq!(browser.count("rect.cs-busy.cs-hot").await, 1);
        assert_eq!(browser.text(".cs-row.cs-hot .cs-wait-chip").await, "400 ms");
    })
    .await;
}

#[tokio::test]
async fn filters_leave_out_what_does_not_fit() {
    test("filters_leave_out_what_does_not_fit", async |browser| {
        let page = Page::of(&[conversation().diagram()]);
        open(browser, &page, "").await;
        assert_eq!(browser.text(".cs-filter.cs-control b").await, "4");
        browser.click(".cs-filter.cs-control").await;
        assert_eq!(rows(browser).await, 7);
        assert_eq!(browser.count(".cs-row.cs-control").await, 0);
        assert_eq!(browser.text(".cs-status").await, "14 of 18 frames");
        browser.click(".cs-filter.cs-control").await;
        assert_eq!(rows(browser).await, 11);

        browser.press("/").await;
        browser.press("TOOLU_1").await;
        browser
            .until("document.querySelector('.cs-status').textContent === '3 of 18 frames'")
            .await;
        assert_eq!(rows(browser).await, 3);
        browser.press("\u{e00c}").await;
        browser.until("document.querySelector('.cs-status').textContent === '18 frames'").await;

        // What was folded opens, and can be left unfolded.
        browser.click(".cs-run .cs-bar").await;
        assert_eq!(rows(browser).await, 19);
        browser.click("[aria-label='folding'] button").await;
        assert_eq!(rows(browser).await, 18);
        was_quiet(browser).await;
    })
    .await;
}

/// How far apart on the page the request for the tool and its answer are.
async fn distance(browser: &Browser) -> f64 {
    let script = "const top = (kind) => document.querySelector(kind).getBoundingClientRect().top;
        return top('[aria-label*=\"client to CLI, can_use_tool\"]') - top('[aria-label*=\"can_use_tool: Write\"]')";
    browser.run(script).await.as_f64().unwrap()
}

#[tokio::test]
async fn zoom_changes_the_scale() {
    test("zoom_changes_the_scale", async |browser| {
        let page = Page::of(&[conversation().diagram()]);
        browser.resize(1280, 3000).await;
        open(browser, &page, "").await;
        let at_first = distance(browser).await;
        // 1.5 of 2.6 seconds: the pause is most of the axis, and so of the page.
        assert!(at_first > 150.0, "{at_first}");
        browser.press("+").await;
        let nearer = distance(browser).await;
        assert!(nearer > 1.3 * at_first, "{at_first} {nearer}");
        browser.press("0").await;
        assert!((distance(browser).await - at_first).abs() < 1.0);
        browser.click("[aria-label='zoom out']").await;
        assert!(distance(browser).await < at_first);
        browser.press("0").await;
        let wheel = "document.querySelector('.cs-canvas').dispatchEvent(new WheelEvent('wheel',
            {deltaY: -50, ctrlKey: true, clientY: 500, bubbles: true, cancelable: true}))";
        browser.run(wheel).await;
        assert!(distance(browser).await > at_first);

        // Evenly, the answer stands below the request, whatever the time; with a mark of the pause.
        browser.press("s").await;
        let even = distance(browser).await;
        assert!((30.0..60.0).contains(&even), "{even}");
        assert!(browser.text(".cs-pause").await.contains("ms"));
        was_quiet(browser).await;
    })
    .await;
}

/// Whether one label lies on another.
const OVERLAP: &str = "
    const boxes = [...document.querySelectorAll('.cs-label')].map((label) => label.getBoundingClientRect());
    boxes.sort((a, b) => a.top - b.top);
    return boxes.some((box, at) => at > 0 && box.top < boxes[at - 1].bottom - 1)";

#[tokio::test]
async fn labels_do_not_lie_on_each_other() {
    test("labels_do_not_lie_on_each_other", async |browser| {
        // Everything at once, then nothing for long.
        let page =
            Page::of(&[conversation().deltas("a b c d").after(60_000_000).ended(1).diagram()]);
        open(browser, &page, "").await;
        browser.click("[aria-label='folding'] button").await;
        for _ in 0..4 {
            assert_eq!(browser.run(OVERLAP).await, json!(false));
            browser.press("+").await;
        }
        browser.press("0---").await;
        assert_eq!(browser.run(OVERLAP).await, json!(false));
    })
    .await;
}

#[tokio::test]
async fn a_link_opens_its_frame() {
    test("a_link_opens_its_frame", async |browser| {
        let page = Page::of(&[conversation().diagram()]);
        // A delta, which is folded away without the link.
        open(browser, &page, "#frame-7").await;
        browser.until("document.querySelector('.cs-body')").await;
        assert_eq!(browser.count(".cs-body").await, 1);
        assert!(browser.text(".cs-body").await.contains("\"text_delta\""));
        assert_eq!(browser.text(".cs-link").await, "#7");
        // A link to what there is not does nothing.
        browser.run("location.hash = '#frame-999'").await;
        browser.run("location.hash = '#frame-1'").await;
        browser.until("document.querySelectorAll('.cs-body').length === 2").await;
        was_quiet(browser).await;
    })
    .await;
}

#[tokio::test]
async fn light_and_dark_are_what_the_person_prefers() {
    test("light_and_dark_are_what_the_person_prefers", async |browser| {
        let page = Page::of(&[conversation().diagram()]);
        let mut grounds = Vec::new();
        for (scheme, name) in [(Scheme::Light, "light"), (Scheme::Dark, "dark")] {
            for (width, height, size) in [(1280, 1000, "wide"), (390, 844, "narrow")] {
                browser.prefer(scheme).await;
                browser.resize(width, height).await;
                open(browser, &page, "#frame-13").await;
                browser.until("document.querySelector('.cs-hot .cs-body')").await;
                browser.run("scrollTo(0, 0)").await;
                browser.screenshot(&format!("{size}-{name}")).await;
                let wide =
                    browser.run("return document.documentElement.scrollWidth > innerWidth").await;
                assert_eq!(wide, json!(false), "nothing sticks out at the side, {size}");
                let poor = browser.run(CONTRAST).await;
                assert_eq!(poor, json!([]), "{size} {name}");
            }
            grounds
                .push(browser.run("return getComputedStyle(document.body).backgroundColor").await);
        }
        assert_ne!(grounds.first(), grounds.last());
    })
    .await;
}

/// The texts that have a contrast of less than 4.5 to what they stand on.
const CONTRAST: &str = "
    const rgba = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
      .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
    const ground = (element) => {
      for (let e = element; e; e = e.parentElement) {
        const colour = rgba(getComputedStyle(e).backgroundColor);
        if (colour.length === 3 || colour[3] === 1) return colour;
      }
      return [255, 255, 255];
    };
    const poor = [];
    for (const element of document.querySelectorAll('.cs-tape *')) {
      if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
      const style = getComputedStyle(element);
      const drawn = element.namespaceURI.endsWith('svg') ? style.fill : style.color;
      const pair = [light(rgba(drawn)), light(ground(element))].sort((a, b) => b - a);
      const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
      if (contrast < 4.5 && element.tagName !== 'SCRIPT') poor.push([element.className.baseVal ?? element.className, contrast]);
    }
    return poor";

#[tokio::test]
async fn what_cannot_be_read_is_shown_all_the_same() {
    test("what_cannot_be_read_is_shown_all_the_same", async |browser| {
        // Half a character, a line that turns around, bytes that are no text, and a line that is cut.
        let long = format!("{{\"type\":\"user\",\"message\":\"{}\"}}", "a\\nb".repeat(50_000));
        let tape = Tape::new()
            .after(1_000)
            .line(Channel::Out, r#"{"type":"user","message":{"role":"user","content":"\ud800"}}"#)
            .line(Channel::Err, "<b>\u{202e}txt.exe\u{1b}[31m</b>")
            .bytes(b"\xff\xfe<i>\0")
            .line(Channel::In, &long);
        let page = Page::of(&[tape.diagram()]);
        open(browser, &page, "").await;
        let bodies = async |n: u32| {
            browser.run(&format!("document.querySelectorAll('.cs-bar')[{n}].click()")).await;
            let text = browser.text(".cs-body").await;
            browser.run(&format!("document.querySelectorAll('.cs-bar')[{n}].click()")).await;
            text
        };
        assert!(bodies(0).await.contains(r#""content": "\ud800""#));
        assert_eq!(bodies(1).await, "<b>\\u202etxt.exe\\u001b[31m</b>");
        let dump = bodies(2).await;
        assert!(dump.contains("ff fe 3c 69 3e 00"), "{dump}");
        assert!(bodies(3).await.starts_with("{\n  \"type\": \"user\",\n  \"message\": \"a\\n\n"));
        assert_eq!(browser.count("main b b, main i i").await, 0);
        was_quiet(browser).await;
    })
    .await;
}

#[tokio::test]
async fn times_that_cannot_be_are_drawn() {
    test("times_that_cannot_be_are_drawn", async |browser| {
        // At the end of time, then back at its beginning.
        let late = conversation().at(u64::MAX).line(Channel::Err, "late");
        let back = late.at(0).line(Channel::Err, "early").ended(0);
        // And nothing but one moment.
        let moment = Tape::new().line(Channel::Err, "now");
        for (tape, expected) in [(back, 14), (moment, 1), (Tape::new(), 0)] {
            let page = Page::of(&[tape.diagram()]);
            browser.open(&page.address()).await;
            browser.until("document.querySelector('.cs-canvas')").await;
            assert_eq!(rows(browser).await, expected);
            browser.press("+s-s0").await;
            assert_eq!(browser.run(OVERLAP).await, json!(false));
            was_quiet(browser).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_long_tape_is_drawn_where_it_is_looked_at() {
    test("a_long_tape_is_drawn_where_it_is_looked_at", async |browser| {
        let mut tape = Tape::new();
        for n in 0..20_000 {
            let frame =
                json!({ "type": "system", "subtype": "status", "status": format!("state {n}") });
            tape = tape.after(700).says(&frame);
        }
        let page = Page::of(&[tape.ended(0).diagram()]);
        open(browser, &page, "").await;
        assert_eq!(rows(browser).await, 20_001);
        assert!(browser.count(".cs-row").await < 100);
        browser.run("scrollTo(0, document.body.scrollHeight)").await;
        browser.until("document.querySelector('.cs-end')").await;
        assert!(browser.count(".cs-row").await < 100);
        browser.run("location.hash = '#frame-10000'").await;
        browser.until("document.activeElement.ariaLabel?.startsWith('number 10000,')").await;
        was_quiet(browser).await;
    })
    .await;
}

#[tokio::test]
async fn many_diagrams_are_drawn_when_they_are_opened() {
    test("many_diagrams_are_drawn_when_they_are_opened", async |browser| {
        let tape = conversation();
        let diagrams: Vec<_> = (0..60).map(|_| tape.diagram()).collect();
        let page = Page::of(&diagrams);
        browser.open(&page.address()).await;
        assert_eq!(browser.count("details.cs-fold").await, 60);
        assert_eq!(browser.count(".cs-canvas").await, 0);
        browser.click("#tape-3, details.cs-fold:nth-of-type(3) > summary").await;
        browser.until("document.querySelector('.cs-row')").await;
        assert_eq!(browser.count(".cs-canvas").await, 1);
        browser.run("location.hash = '#tape-50-frame-13'").await;
        browser.until("document.querySelector('#tape-50 .cs-body')").await;
        let in_sight = "const { top, bottom } = document.activeElement.getBoundingClientRect();
            return top > 0 && bottom < innerHeight && document.activeElement.ariaLabel";
        let focus = browser.run(in_sight).await;
        assert!(focus.as_str().is_some_and(|name| name.starts_with("number 13,")), "{focus}");
        assert_eq!(browser.count(".cs-body").await, 1);
        was_quiet(browser).await;
    })
    .await;
}

#[tokio::test]
async fn all_of_it_is_printed() {
    test("all_of_it_is_printed", async |browser| {
        let mut tape = Tape::new();
        for n in 0..300 {
            let frame =
                json!({ "type": "system", "subtype": "status", "status": format!("state {n}") });
            tape = tape.after(700).says(&frame);
        }
        let page = Page::of(&[tape.diagram()]);
        open(browser, &page, "").await;
        assert!(browser.count(".cs-row").await < 100);
        browser.run("dispatchEvent(new Event('beforeprint'))").await;
        assert_eq!(browser.count(".cs-row").await, 300);
        assert_eq!(browser.count(".cs-axis").await, 0, "on paper, rows are spaced evenly");
        browser.run("dispatchEvent(new Event('afterprint'))").await;
        assert!(browser.count(".cs-row").await < 100);
    })
    .await;
}
