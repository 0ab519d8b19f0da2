//! Every view: fit for everybody, in both themes, wide and on a phone.

use countersign_e2e::{Scheme, axe};
use serde_json::{Value, json};

use crate::kit::{Page, test};

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

/// What people see first: sessions of all kinds, and everything that they can be asked.
async fn stage(page: &Page<'_>) -> String {
    let served = page.served.borrow();
    std::fs::write(
        served.work().join("importer.py"),
        "import csv\n\n\ndef load(path):\n    with open(path) as file:\n        rows = list(csv.reader(file))\n    return [parse(row) for row in rows]\n",
    )
    .unwrap();
    let session = served.session_with("Make the importer faster.", &ALLOWED);
    served.ask(&session);
    for (prompt, arguments) in [
        ("Plan the release.", &["--mode", "plan", "--title", "The release"][..]),
        ("Ask how to name it.", &["--title", "A name for the option"]),
        ("Translate the messages.", &["--title", "Translations"]),
    ] {
        let other = served.session_with(prompt, arguments);
        served.rest(&other);
    }
    session
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

#[tokio::test]
async fn every_view_is_fit_for_everybody() {
    test("every_view_is_fit_for_everybody", RICH, async |page| {
        let session = stage(page).await;
        let at = format!("/sessions/{session}");
        let mut found = Vec::new();
        let views = [
            ("inbox", "/", ""),
            ("session", &*at, ""),
            ("plan", &*at, "plan"),
            ("changes", &*at, "changes"),
            ("todos", &*at, "todos"),
            ("usage", &*at, "usage"),
            ("details", &*at, "details"),
            ("wire", &*at, "wire"),
            ("new", "/new", ""),
            ("search", "/search?q=importer", ""),
            ("nothing-found", "/search?q=nowhere", ""),
            ("settings", "/settings", ""),
            ("audit", "/audit", ""),
            ("missing", "/no-such-page", ""),
        ];
        for (scheme, theme) in [(Scheme::Light, "light"), (Scheme::Dark, "dark")] {
            page.browser.prefer(scheme).await;
            for (width, height, size) in [(1280, 900, "wide"), (390, 844, "phone")] {
                page.browser.resize(width, height).await;
                for (view, address, tab) in views {
                    page.open(address).await;
                    if view != "missing" {
                        page.live().await;
                    }
                    if !tab.is_empty() {
                        page.browser.click("main [data-right]").await;
                        page.browser.click(&format!("#tab-{tab}")).await;
                        page.until("!document.querySelector('#tab').ariaBusy && document.querySelector('#tab').children.length").await;
                    }
                    let name = format!("{view}-{size}-{theme}");
                    page.browser.screenshot(&name).await;
                    found.extend(barriers(page, &name).await);
                    let fits = "return document.documentElement.scrollWidth <= innerWidth";
                    assert_eq!(page.browser.run(fits).await, true, "{name} is too wide");
                    page.browser.run("localStorage.clear()").await;
                }
                page.open("/").await;
                page.live().await;
                page.browser.press("?").await;
                found.extend(barriers(page, "help").await);
                page.browser.screenshot(&format!("help-{size}-{theme}")).await;
            }
        }
        assert!(found.is_empty(), "{}", serde_json::to_string_pretty(&found).unwrap());
        // The browser says of the page that is not there that it is not there.
        page.browser.console().await;
    })
    .await;
}
