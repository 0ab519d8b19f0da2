//! The report of experiments.

use std::fs::{self, File};

use countersign_e2e::{Scheme, test};
use countersign_lab::report::Report;
use serde_json::{Value, json};

use crate::support::conversation;

/// The results of one experiment, with a text in it that would do harm as HTML.
fn results(version: &str, found: &str) -> Value {
    let documented = "status <img src=x onerror=alert(1)> plan";
    let verdict = if found == documented {
        json!({"is": "as-documented"})
    } else {
        let difference = json!({"finding": "then says", "documented": documented, "found": found});
        json!({"is": "differs", "differences": [difference]})
    };
    json!({
        "version": version,
        "simulated": false,
        "time": "2026-11-16T08:00:00Z",
        "experiments": [{
            "experiment": "A",
            "name": "plan-after-a-turn",
            "question": "Is the next turn one of planning?",
            "verdict": verdict,
            "findings": [{"name": "then says", "value": found, "documented": documented}],
            "summary": {
                "mode": "default", "from_cli": 8, "to_cli": 4, "control_responses": 2,
                "permission_requests": 1, "permission_answers": 1,
                "tools_asked_for": ["Write"], "cost": 0.0123,
            },
            "tapes": ["A-plan-after-a-turn/1.tape"],
            "took_ms": 1234,
        }],
    })
}

#[tokio::test]
async fn a_report_shows_verdicts_changes_and_conversations() {
    test("a_report_shows_verdicts_changes_and_conversations", async |browser| {
        let folder = tempfile::tempdir().unwrap();
        let fine = "status <img src=x onerror=alert(1)> plan";
        for (version, found) in [("2.1.62", "nothing"), ("2.1.325", fine)] {
            let place = folder.path().join(version);
            fs::create_dir_all(place.join("A-plan-after-a-turn")).unwrap();
            let text = results(version, found).to_string();
            fs::write(place.join("results.json"), text).unwrap();
            conversation().write(&place.join("A-plan-after-a-turn/1.tape"));
        }
        let report = Report::read(folder.path()).unwrap();
        let page = folder.path().join("report.html");
        report.page(File::create(&page).unwrap()).unwrap();
        let page = fs::canonicalize(page).unwrap();
        browser.open(&format!("file://{}", page.display())).await;

        assert_eq!(browser.text("h1").await, "Experiments on Claude Code 2.1.62, 2.1.325");
        assert_eq!(browser.text("#verdicts + .scroll td.bad").await, "differs (1)");
        assert_eq!(browser.text("#verdicts + .scroll td.good").await, "as documented");
        let changes = browser.text("[id='changes-2.1.62-2.1.325'] + .scroll tbody").await;
        assert!(changes.contains("nothing") && changes.contains("<img src=x"), "{changes}");
        assert_eq!(browser.count("img").await, 0, "what was found is text");

        // From the matrix to the experiment, and into one of its conversations.
        browser.click("#verdicts + .scroll td.bad a").await;
        assert_eq!(browser.run("return location.hash").await, "#a-plan-after-a-turn");
        assert_eq!(browser.count(".cs-row").await, 0, "nothing is drawn before it is wanted");
        browser.click(".cs-fold summary").await;
        browser.until("document.querySelector('.cs-row')").await;
        assert_eq!(browser.count(".cs-fold").await, 2);
        browser.click("[aria-label*='can_use_tool: Write a.txt']").await;
        assert!(browser.text(".cs-body").await.contains("\"file_path\""));

        for scheme in [Scheme::Light, Scheme::Dark] {
            browser.prefer(scheme).await;
            browser.resize(390, 800).await;
            // It fits on a phone, once it is drawn in the new size.
            browser
                .until("innerWidth === 390 && document.documentElement.scrollWidth <= 390")
                .await;
        }
        assert_eq!(browser.console().await, [] as [&str; 0]);
        let requests = browser.requests().await;
        assert!(requests.iter().all(|address| address.starts_with("file:///")), "{requests:?}");
    })
    .await;
}
