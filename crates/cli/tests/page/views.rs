//! Every view: fit for everybody, in both themes, wide and on a phone.

use countersign_e2e::{Scheme, axe};
use serde_json::{Value, json};

use crate::forms::{TOOL, with_a_form};
use crate::kit::{MISSING, NOT_LET_IN, Page, test_on};

const RICH: &str = include_str!("rich.toml");

/// What the tools of the session are allowed, so that it comes to the call that it asks about.
const ALLOWED: [&str; 12] = [
    "--allowed-tools",
    "Bash(python3:*)",
    "--allowed-tools",
    "Bash(wc:*)",
    "--allowed-tools",
    "Edit",
    "--allowed-tools",
    "WebFetch",
    "--allowed-tools",
    "mcp__tracker__comment",
    "--title",
    "A faster importer",
];

/// The sessions that are looked at.
struct Sessions {
    /// It has called all kinds of tools, and asks about one more.
    works: String,
    /// It has a plan.
    plans: String,
    /// It has questions.
    asks: String,
    /// It wants to plan first.
    thinks: String,
    /// It keeps a list of what it has to do.
    lists: String,
    /// It has a form.
    fills: String,
    /// It is in the middle of a text, and a message waits for its end.
    talks: String,
    /// It has ended, after two turns.
    ended: String,
    /// Its CLI could not be started.
    failed: String,
}

/// What people see first: sessions of all kinds, and everything that they can be asked.
fn stage(page: &Page<'_>) -> Sessions {
    let served = page.served.borrow();
    std::fs::write(
        served.work().join("importer.py"),
        "import csv\n\n\ndef load(path):\n    with open(path) as file:\n        rows = list(csv.reader(file))\n    return [parse(row) for row in rows]\n",
    )
    .unwrap();
    let (claude, elsewhere) = (served.path("claude"), served.path("elsewhere"));
    std::fs::rename(&claude, &elsewhere).unwrap();
    let failed = served.session("Begin.");
    served.rest(&failed);
    std::fs::rename(&elsewhere, &claude).unwrap();

    let works = served.session_with("Make the importer faster.", &ALLOWED);
    served.ask(&works);
    let [plans, asks, thinks, fills] = [
        ("Plan the release.", &["--mode", "plan", "--title", "The release"][..]),
        ("Ask how to name it.", &["--title", "A name for the option"]),
        ("Think about the database.", &["--title", "The database"]),
        ("Send it.", &["--allowed-tools", TOOL, "--title", "A form"]),
    ]
    .map(|(prompt, arguments)| {
        let other = served.session_with(prompt, arguments);
        served.ask(&other);
        other
    });
    let ended = served.session_with("Translate the messages.", &["--title", "Translations"]);
    served.rest(&ended);
    served.ok(&["send", &ended, "Translate the messages of the server, too."]);
    served.rest(&ended);
    served.ok(&["sessions", "stop", &ended]);
    let talks = served.session_with("Talk until I stop you.", &["--title", "A long talk"]);
    served.ok(&["send", &talks, "And then say it in other words."]);
    // The newest version keeps no list by itself.
    let plain = served.path("plain");
    let newest = std::fs::read_to_string(&plain).unwrap();
    std::fs::write(&plain, newest.replace(" sim ", " sim --as 2.1.197 ")).unwrap();
    // It is looked at again which version it is.
    std::fs::write(&claude, std::fs::read_to_string(&claude).unwrap()).unwrap();
    let tasks =
        ["--allowed-tools", "TaskCreate", "--allowed-tools", "TaskUpdate", "--title", "A list"];
    let lists = served.session_with("Keep a list.", &tasks);
    served.rest(&lists);
    Sessions { works, plans, asks, thinks, lists, fills, talks, ended, failed }
}

/// Opens what is closed: the parts of cards, calls, lines, what an option is about.
const OPENED: &str = "
    for (const part of document.querySelectorAll('details:not(.menu)')) part.open = true;
    document.querySelector('.card [data-preview]')?.click();";

/// Opens what people write in, too: the input or the plan, why not, and what is to change.
const WRITTEN: &str = "
    for (const card of document.querySelectorAll('.card')) {
      const isHidden = (part) => card.querySelector(part)?.hidden;
      if (isHidden('.edit')) card.querySelector('[data-do=edit]').click();
      if (isHidden('.refuse')) card.querySelector(':is([data-do=deny], [data-do=reply])').click();
      card.querySelector('[value=keep_planning]')?.click();
    }
    if (document.querySelector('.card :is(.edit, .refuse, .feedback)[hidden]')) throw 'a part is hidden';";

/// A view: its name, its address, what is done on it by a script, and what is there then.
type View<'a> = (&'static str, &'a str, String, &'static str);

fn views<'a>(at: &'a [String; 9]) -> Vec<View<'a>> {
    let [works, plans, asks, thinks, lists, fills, talks, ended, failed] = at;
    let written = format!("{OPENED} {WRITTEN}");
    let opened = OPENED.to_owned();
    let tab = |name: &str| {
        format!(
            "document.querySelector('main [data-right]').click();
             document.querySelector('#tab-{name}').click();"
        )
    };
    let press = |css: &str| format!("document.querySelector('{css}').click();");
    vec![
        ("inbox", "/", String::new(), ".card-tool[open]"),
        ("inbox-opened", "/", opened.clone(), ".card-question[open] .preview:not([hidden])"),
        ("inbox-written", "/", written.clone(), ".card-enter_plan[open] .refuse:not([hidden])"),
        ("session", works, String::new(), ".card-tool[open]"),
        ("session-opened", works, opened.clone(), ".call details[open]"),
        ("session-written", works, written.clone(), ".card-tool .edit:not([hidden])"),
        ("session-plan", plans, opened.clone(), ".card-plan .plan"),
        ("session-plan-written", plans, written.clone(), ".feedback:not([hidden])"),
        ("session-question", asks, written.clone(), ".preview:not([hidden])"),
        ("session-enter-plan", thinks, written, ".card-enter_plan"),
        ("session-todos", lists, opened.clone(), ".call details[open]"),
        ("session-form", fills, opened.clone(), ".card-elicitation [data-field]"),
        ("session-queue", talks, String::new(), "#queue li"),
        ("session-queue-edited", talks, press("[data-queue=edit]"), "#queue textarea"),
        ("session-ended", ended, String::new(), "#standing button"),
        ("session-failed", failed, String::new(), "#standing .problem"),
        ("session-menu", works, press("details.menu summary"), "details.menu[open]"),
        ("plan", plans, tab("plan"), "#tab .plan li"),
        ("no-plan", ended, tab("plan"), "#tab .empty"),
        ("changes", works, tab("changes"), "#tab .plus"),
        ("todos", lists, tab("todos"), "#tab .todos .now"),
        ("usage", ended, tab("usage"), "#tab svg.chart .trend"),
        ("details", works, tab("details"), "#tab table"),
        ("wire", works, tab("wire"), "#tab .wire li"),
        ("list", works, "document.querySelector('main [data-left]').click()".to_owned(), ".left"),
        ("new", "/new", opened.clone(), "[name=allowed]"),
        ("search", "/search?q=importer", String::new(), "main a[href^='/sessions/']"),
        ("nothing-found", "/search?q=nowhere", String::new(), "main .empty"),
        ("settings", "/settings", String::new(), "#new-token"),
        ("audit", "/audit", opened, "main"),
        ("help", "/", press("[data-help]"), "#help[open]"),
        ("missing", "/no-such-page", String::new(), "h1"),
    ]
}

/// What on the page is seriously wrong for somebody who uses it in another way.
async fn barriers(page: &Page<'_>, view: &str) -> Vec<Value> {
    let found = page.browser.run_async(&format!(
        "{}; const done = arguments[arguments.length - 1];
         axe.run(document, {{ resultTypes: ['violations'] }}).then(({{ violations }}) => done(violations));",
        axe()
    ))
    .await;
    found
        .as_array()
        .unwrap()
        .iter()
        .filter(|found| matches!(found["impact"].as_str(), Some("serious" | "critical")))
        .map(|found| {
            let nodes: Vec<_> = found["nodes"]
                .as_array()
                .unwrap()
                .iter()
                .take(4)
                .map(|node| json!([node["html"], node["failureSummary"]]))
                .collect();
            json!([view, found["id"], nodes])
        })
        .collect()
}

/// Looks at every view, as somebody with this screen does.
async fn all_are_fit(page: &Page<'_>, screen: &str) {
    let all = stage(page);
    let at = [
        all.works, all.plans, all.asks, all.thinks, all.lists, all.fills, all.talks, all.ended,
        all.failed,
    ]
    .map(|session| format!("/sessions/{session}"));
    let is_phone = screen.starts_with("phone");
    let mut found = Vec::new();
    for (view, address, script, there) in views(&at) {
        // Where there is room, the list is there anyway.
        if view == "list" && !is_phone {
            continue;
        }
        page.open(address).await;
        if view != "missing" {
            page.live().await;
        }
        page.browser.run(&script).await;
        page.until(&format!("document.querySelector({})?.checkVisibility()", Value::from(there)))
            .await;
        page.until("!document.querySelector('#tab')?.ariaBusy").await;
        // What is in the panel can be opened as well.
        page.browser
            .run("for (const part of document.querySelectorAll('#tab details')) part.open = true")
            .await;
        let name = format!("{view}-{screen}");
        page.browser.screenshot(&name).await;
        found.extend(barriers(page, &name).await);
        page.fits(&name).await;
        page.browser.run("localStorage.clear(); sessionStorage.clear()").await;
    }
    page.heard_no_more_than(&[MISSING]).await;
    // Who is signed out sees one view, and no other.
    page.open("/settings").await;
    page.browser.click("#logout").await;
    page.until(
        "location.pathname === '/login' && document.querySelector('#sign-in')?.checkVisibility()",
    )
    .await;
    let name = format!("login-{screen}");
    page.browser.screenshot(&name).await;
    found.extend(barriers(page, &name).await);
    page.fits(&name).await;
    page.heard_no_more_than(&[NOT_LET_IN]).await;
    assert!(found.is_empty(), "{}", serde_json::to_string_pretty(&found).unwrap());
}

#[tokio::test]
async fn every_view_is_fit_for_everybody() {
    test_on("every_view_is_fit_for_everybody", with_a_form(RICH), async |page| {
        page.browser.prefer(Scheme::Light).await;
        all_are_fit(page, "wide-light").await;
    })
    .await;
}

#[tokio::test]
async fn every_view_is_fit_in_the_dark() {
    test_on("every_view_is_fit_in_the_dark", with_a_form(RICH), async |page| {
        page.browser.prefer(Scheme::Dark).await;
        all_are_fit(page, "wide-dark").await;
    })
    .await;
}

#[tokio::test]
async fn every_view_is_fit_on_a_phone() {
    test_on("every_view_is_fit_on_a_phone", with_a_form(RICH), async |page| {
        page.browser.prefer(Scheme::Light).await;
        page.browser.be_a_phone(390, 844).await;
        all_are_fit(page, "phone-light").await;
        assert_eq!(page.browser.run("return innerWidth").await, 390);
    })
    .await;
}

#[tokio::test]
async fn every_view_is_fit_on_a_phone_in_the_dark() {
    test_on("every_view_is_fit_on_a_phone_in_the_dark", with_a_form(RICH), async |page| {
        page.browser.prefer(Scheme::Dark).await;
        page.browser.be_a_phone(390, 844).await;
        all_are_fit(page, "phone-dark").await;
    })
    .await;
}
