//! The panel beside a session, and what can be done with a whole session.

use countersign_e2e::Key;
use serde_json::json;

use crate::flows::SCRIPT;
use crate::kit::{Page, test};

/// Opens a tab of the panel.
async fn tab(page: &Page<'_>, name: &str, there: &str) {
    if page.browser.run("return document.querySelector('.side').hidden").await == true {
        page.browser.click("main [data-right]").await;
    }
    page.browser.click(&format!("#tab-{name}")).await;
    page.until(&format!("document.querySelector({})", json!(format!("#tab {there}")))).await;
}

/// What is new comes into a tab, and what somebody has opened, filtered out or reads stays.
#[tokio::test]
async fn a_tab_goes_on_while_somebody_reads_it() {
    test("a_tab_goes_on_while_somebody_reads_it", SCRIPT, async |page| {
        let browser = page.browser;
        let session = page.begin("Just say hello.").await;
        page.says("Hello, whoever you are.").await;
        page.served.borrow().rest(&session);
        tab(page, "wire", ".wire li").await;
        page.write("#wire-filter", "assistant").await;
        let shown = "[...document.querySelectorAll('.wire li')].filter((line) => !line.hidden)";
        page.until(&format!("{shown}.every((line) => line.textContent.includes('assistant'))"))
            .await;
        let before = browser.run(&format!("return {shown}.length")).await;
        browser
            .run(&format!(
                "window.read = {shown}[0];
                 window.read.querySelector('summary').click();"
            ))
            .await;
        page.served.borrow().ok(&["send", &session, "Is there more?"]);
        page.until(&format!("{shown}.length > {before}")).await;
        page.until("window.read.isConnected && window.read.querySelector('details').open").await;
        let is_written = "document.querySelector('#wire-filter').value === 'assistant'";
        page.until(&format!(
            "{is_written} && {shown}.every((line) => line.textContent.includes('assistant'))"
        ))
        .await;

        // The plan: rounds come on top of those that are there, closed or open as they were left.
        let session = page.begin_with("Make a plan.", &["--mode", "plan"]).await;
        page.card("plan").await;
        page.served.borrow().asked(&session);
        tab(page, "plan", "section").await;
        let asked = page.served.borrow().ask(&session);
        page.served.borrow().ok(&["answer", &asked, "Test it as well.", "--plan", "keep"]);
        page.until("document.querySelectorAll('#tab section').length === 2").await;
        browser.click("#tab details summary").await;
        page.until("document.querySelector('#tab details').open").await;
        let asked = page.served.borrow().ask(&session);
        page.served.borrow().ok(&["answer", &asked, "--plan", "accept-edits"]);
        page.reads("#tab", "Plan approved").await;
        page.until("document.querySelector('#tab details').open").await;
    })
    .await;
}

/// A file of the tab Changes leads to where it was changed, also in what is folded.
#[tokio::test]
async fn what_was_changed_leads_to_the_call() {
    test("what_was_changed_leads_to_the_call", SCRIPT, async |page| {
        let session = page.begin("Write one file.").await;
        let asked = page.served.borrow().ask(&session);
        page.served.borrow().ok(&["approve", &asked]);
        page.says("The file is written.").await;
        page.until("document.querySelector('.call')").await;
        page.browser
            .run(
                "document.querySelectorAll('.call details').forEach((call) => (call.open = false))",
            )
            .await;
        tab(page, "changes", "table a").await;
        page.reads("#tab", "one.txt").await;
        page.browser.click("#tab table a").await;
        page.until("document.querySelector('.call details').open").await;
        page.reads(".call", "one line").await;
    })
    .await;
}

/// What is in the menu of a session, and its name.
#[tokio::test]
async fn a_session_is_named_forked_kept_and_deleted() {
    test("a_session_is_named_forked_kept_and_deleted", SCRIPT, async |page| {
        let browser = page.browser;
        let session = page.begin("Just say hello.").await;
        page.says("Hello, whoever you are.").await;
        page.served.borrow().rest(&session);
        page.rewrite("#title", "A greeting\n").await;
        page.has("#sessions .title", "A greeting").await;
        page.until("document.title.startsWith('A greeting')").await;
        assert_eq!(page.served.borrow().head(&session)["title"], "A greeting");

        let choose = async |what: &str| {
            browser.click("#menu summary").await;
            browser.click(&format!("#menu [data-session-do={what}]")).await;
        };
        // All of it, a line for each event.
        browser.click("#menu summary").await;
        let export = browser
            .run_async(
                "const done = arguments[arguments.length - 1];
                 const link = document.querySelector('#menu a[download]');
                 fetch(link.href).then((answer) => answer.text()).then((text) =>
                   done(text.trim().split('\\n').map((line) => JSON.parse(line).kind)));",
            )
            .await;
        let kinds = export.as_array().unwrap();
        assert_eq!(kinds[0], "session.created");
        assert!(kinds.contains(&json!("turn.ended")), "{export}");
        browser.press(&char::from(Key::Escape).to_string()).await;
        page.until("!document.querySelector('#menu details').open").await;

        choose("stop").await;
        page.has("#standing", "It has ended. A message lets it go on.").await;
        choose("resume").await;
        page.until("!document.querySelector('#standing [data-session-do=resume]')").await;

        choose("archive").await;
        page.has("#standing", "It is in the archive.").await;
        page.until(&format!("!document.querySelector('#row-{session}')")).await;
        browser.click("#standing [data-session-do=unarchive]").await;
        page.until(&format!("document.querySelector('#row-{session}')")).await;

        choose("fork").await;
        page.until(&format!("!location.pathname.endsWith('{session}')")).await;
        page.live().await;
        page.has("#transcript", "as a copy of another session").await;

        page.open_session(&session).await;
        browser.run("window.confirm = () => true").await;
        choose("delete").await;
        page.until("location.pathname === '/'").await;
        page.until(&format!("!document.querySelector('#row-{session}')")).await;
        assert_ne!(page.served.borrow().run(&["sessions", "show", &session]).code, Some(0));
    })
    .await;
}

/// The audit says what was decided, and shows one kind of it.
#[tokio::test]
async fn the_audit_says_what_was_decided() {
    test("the_audit_says_what_was_decided", SCRIPT, async |page| {
        let session = page.served.borrow().session("Write one file.");
        let asked = page.served.borrow().ask(&session);
        page.served.borrow().ok(&["deny", &asked, "Not this one."]);
        page.served.borrow().rest(&session);
        page.open("/audit").await;
        page.reads("td", "Write · Denied: “Not this one.”").await;
        page.reads("td", "session.created").await;
        page.reads("main", "Decisions, by day").await;
        page.browser
            .run(
                "document.querySelector('[name=kind]').value = 'approval.answered';
                 document.querySelector('form[action=\"/audit\"] button').click()",
            )
            .await;
        page.until("location.search.includes('approval.answered')").await;
        page.reads("td", "Denied").await;
        assert_eq!(page.browser.count("td details").await, 1);
        page.until("document.querySelector('[name=kind]').value === 'approval.answered'").await;
        // One that has no name here can be asked for by its address.
        page.open("/audit?kind=session.renamed").await;
        page.has("main", "Nothing was decided that fits.").await;
        page.until("document.querySelector('[name=kind]').value === 'session.renamed'").await;
    })
    .await;
}
