//! Script in what a person is asked, says and answers comes back as text, and no token with it.

use countersign_server::access::first::read_token;
use countersign_server::session::{Answer, ApprovePlan, PlanWay};
use libtest_mimic::Trial;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::kit::{Cli, Outcome, V325, World, trial};

const SCRIPT: &str = "</script><img src=x onerror=alert(1)>";

/// The model writes script into a file, and then a plan with script in it.
const WRITES: &str = r##"
[[answer]]
when = { text = "Write" }
text = "</script><img src=x onerror=alert(1)>"
tool = { name = "Write", input = { file_path = "${cwd}/a.html", content = "</script><img src=x onerror=alert(1)>" } }

[[answer]]
when = { text = "Plan" }
tool = { name = "Write", input = { file_path = "${plan_file}", content = "</script><img src=x onerror=alert(1)>\n" } }

[[answer]]
tool = { name = "ExitPlanMode", input = {} }

[[answer]]
text = "</script><img src=x onerror=alert(1)>"

[[answer]]
text = "More."
"##;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("inert::a_tool_that_is_denied", || denied(Cli::Simulated(V325))),
        trial("inert::a_plan_in_other_words", || planned(Cli::Simulated(V325))),
    ]
}

/// The body of an answer that is JSON and nothing else, and has no token in it.
async fn get(world: &World, path: &str) -> Value {
    let token = read_token(&world.config.data).unwrap();
    let address = world.client.address();
    let host = address.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let mut stream = TcpStream::connect(&host).await.unwrap();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\r\n",
        token.expose()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let head = head.to_lowercase();
    assert!(head.starts_with("http/1.1 200"), "{path}: {text}");
    assert!(head.contains("\r\ncontent-type: application/json\r\n"), "{path}: {head}");
    assert!(head.contains("\r\nx-content-type-options: nosniff"), "{path}: {head}");
    let (_, secret) = token.expose().rsplit_once('_').unwrap();
    assert!(!text.contains(secret), "{path} has the token in it");
    serde_json::from_str(body).unwrap()
}

async fn denied(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITES).await;
    let session = world.create(&format!("Write {SCRIPT}")).await;
    let asked = world.asked(session).await;
    world.answer(&asked, Answer::deny(SCRIPT)).await;
    world.at_rest(session).await;
    let approval = get(&world, &format!("/api/v1/approvals/{}", asked.id)).await;
    assert_eq!(approval["request"]["input"]["content"], SCRIPT);
    assert_eq!(approval["given"]["answer"]["deny"]["message"], SCRIPT);
    let shown = get(&world, &format!("/api/v1/sessions/{session}")).await;
    assert!(shown["title"].as_str().unwrap().contains("<img"), "{shown}");
    for path in [
        format!("/api/v1/sessions/{session}/events"),
        "/api/v1/events".to_owned(),
        "/api/v1/audit".to_owned(),
        "/api/v1/sessions?q=script".to_owned(),
    ] {
        let said = get(&world, &path).await.to_string();
        assert!(said.contains("onerror=alert(1)"), "{path}: {said}");
    }
    world.close().await
}

async fn planned(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITES).await;
    let session = world.create_in("Plan it.", "plan").await;
    let asked = world.asked(session).await;
    let plan = Some(format!("In other words: {SCRIPT}"));
    let approved = ApprovePlan {
        choice: PlanWay::ApproveManually,
        plan: plan.clone(),
        grant_prompts: false,
        compact: false,
    };
    world.answer(&asked, Answer::Plan(approved)).await;
    world.at_rest(session).await;
    let plans = get(&world, &format!("/api/v1/sessions/{session}/plans")).await;
    assert!(plans[0]["plan"].as_str().unwrap().contains(SCRIPT), "{plans}");
    assert_eq!(plans[0]["answer"]["plan"]["plan"].as_str(), plan.as_deref());
    world.close().await
}
