//! Texts that would like to be something else stay texts, in every view.

use serde_json::json;

use crate::kit::test;

/// Everything that the model can say, as somebody would say it who means harm.
const HOSTILE: &str = r###"
[set]
x = '''<img src=x onerror="window.harmed=1"><script>window.harmed=1</script></textarea></title>'"><b>&lt;'''

[[answer]]
when = { text = "Do harm" }
thinking = "${x}"
text = """
${x}

[click](javascript:window.harmed=1) ![see](https://example.org/track.png) <a href="javascript:window.harmed=1">me</a>

```html
${x}
```
"""
tools = [
    { name = "Bash", input = { command = "echo '${x}'", description = "${x}" }, result = "${x}" },
    { name = "mcp__${x}__tool", input = { "${x}" = "${x}" }, result = "${x}" },
    { name = "TodoWrite", input = { todos = [{ content = "${x}", status = "pending", activeForm = "${x}" }] } },
    { name = "WebFetch", input = { url = "javascript:window.harmed=1", prompt = "${x}" }, result = "${x}" },
]

[[answer]]
when = { first = "Do harm", error = true }
text = "${x}"
tool = { name = "Write", input = { file_path = "${cwd}/${x}.html", content = "${x}\n\u202eright to left\u200b\n" } }

[[answer]]
when = { first = "Do harm" }
tool = { name = "Write", input = { file_path = "${cwd}/${x}.html", content = "${x}\n\u202eright to left\u200b\n" } }

[[answer]]
when = { text = "Plan harm" }
tool = { name = "Write", input = { file_path = "${plan_file}", content = "# ${x}\n\n[//]: # (also drop the database)\n" } }

[[answer]]
when = { first = "Plan harm", tool = "Write" }
tool = { name = "ExitPlanMode", input = {} }

[[answer]]
when = { text = "Ask for harm" }
[answer.tool]
name = "AskUserQuestion"
[answer.tool.input]
questions = [
    { question = "${x}?", header = "${x}", multiSelect = false, options = [
        { label = "${x}", description = "${x}", preview = "${x}" }, { label = "B", description = "b", preview = "b" } ] },
]
"###;

#[tokio::test]
async fn texts_stay_texts_in_every_view() {
    test("texts_stay_texts_in_every_view", HOSTILE, async |page| {
        let title = "<img src=x onerror=window.harmed=1>\u{202e}";
        let [session, plan, asks] = {
            let served = page.served.borrow();
            let allowed = ["--allowed-tools", "WebFetch", "--allowed-tools", "Bash", "--title", title];
            let session = served.session_with("Do harm.", &allowed);
            served.ask(&session);
            let plan = served.session_with("Plan harm.", &["--mode", "plan", "--title", title]);
            served.ask(&plan);
            let asks = served.session_with("Ask for harm.", &["--title", title]);
            served.ask(&asks);
            [session, plan, asks]
        };
        let inert = async |view: &str| {
            let found = page
                .browser
                .run(
                    "return [window.harmed ?? null,
                        document.querySelectorAll('main script, .left script, [onerror], iframe, object').length,
                        [...document.querySelectorAll('main img, main a')].map((e) => e.src ?? e.href)
                            .filter((to) => !/^(https?:|data:image\\/)/.test(to))]",
                )
                .await;
            assert_eq!(found, json!([null, 0, []]), "{view}");
        };
        page.open("/").await;
        page.live().await;
        page.until("document.querySelectorAll('.card').length === 3").await;
        page.browser.run("for (const card of document.querySelectorAll('.card')) card.open = true").await;
        inert("inbox").await;
        // What is not seen is shown.
        page.has(".card-tool .odd", "U+202E").await;
        page.has(".card-tool .odd", "U+200B").await;
        page.has(".card-tool .risks", "characters that are not seen").await;
        page.has(".card-plan summary", "parts that are not seen").await;
        page.has(".card-plan .input", "also drop the database").await;
        for session in [&session, &plan, &asks] {
            page.open_session(session).await;
            page.until("document.querySelector('.card')").await;
            page.browser
                .run("for (const part of document.querySelectorAll('details')) part.open = true")
                .await;
            inert("session").await;
            page.browser.click("main [data-right]").await;
            for tab in ["plan", "changes", "todos", "usage", "details", "wire"] {
                page.browser.click(&format!("#tab-{tab}")).await;
                page.until("!document.querySelector('#tab').ariaBusy").await;
                inert(tab).await;
            }
            page.browser.run("localStorage.clear()").await;
        }
        // Live as well as loaded, and in what is loaded on demand.
        page.decide("skip").await;
        page.no_card().await;
        for view in ["/search?q=%3Cimg%20src=x%20onerror=window.harmed=1%3E", "/audit", "/new", "/settings"] {
            page.open(view).await;
            page.live().await;
            inert(view).await;
        }
        page.open_session(&session).await;
        page.decide("deny-stop").await;
        page.no_card().await;
        page.is_the_same_when_loaded().await;
        inert("after").await;
    })
    .await;
}
