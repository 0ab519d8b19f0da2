//! The conversation: asked beside it, cut back, taken along.

use countersign::ControlError;
use libtest_mimic::Trial;

use super::{has, turn};
use crate::kit::{Cli, Outcome, V197, builder, close, lab, on_all, on_real, soon};

pub(super) fn trials() -> Vec<Trial> {
    [
        on_real("control::conversation::a_question_beside_it_leaves_no_trace", V197, beside),
        on_real("control::conversation::a_title_is_made", V197, title),
        on_real("control::conversation::it_is_cut_back", V197, cut_back),
        on_all("control::conversation::it_is_exported", V197, exported),
    ]
    .into_iter()
    .flatten()
    .collect()
}

const SAYS: &str = r#"
otherwise = "You said: ${text}"

[[answer]]
when = { text = "zebras" }
text = "Beside it."

[[answer]]
when = { side = true, text = "login" }
text = '{"title": "Mend the login"}'
"#;

async fn beside(cli: Cli) -> Outcome {
    let lab = lab(cli, SAYS).await;
    let mut session = soon("the start", builder(&lab).connect()).await?;
    turn(&mut session, "First.").await;
    let answer = soon("the answer", session.side_question("How many zebras?")).await?;
    assert_eq!(answer.response.as_deref(), Some("Beside it."), "{answer:?}");
    assert!(!answer.synthetic);
    turn(&mut session, "Second.").await;
    let requests = lab.model().model_requests();
    let last = requests
        .iter()
        .rev()
        .find(|request| request.last_text().is_some_and(|text| text.contains("Second.")));
    let messages = serde_json::to_string(last.unwrap().messages())?;
    assert!(messages.contains("First.") && !messages.contains("zebras"), "{messages}");
    close(session, lab).await;
    Ok(())
}

async fn title(cli: Cli) -> Outcome {
    let lab = lab(cli, SAYS).await;
    let mut session = soon("the start", builder(&lab).connect()).await?;
    turn(&mut session, "First.").await;
    let title = session.generate_session_title("The login is broken").await?;
    assert_eq!(title.as_deref(), Some("Mend the login"));
    close(session, lab).await;
    Ok(())
}

async fn cut_back(cli: Cli) -> Outcome {
    let lab = lab(cli, SAYS).await;
    let mut session = soon("the start", builder(&lab).connect()).await?;
    turn(&mut session, "First.").await;
    let (_, second, _) = turn(&mut session, "Second.").await;
    let response = session.rewind_conversation(second).await?;
    assert!(response.rewound);
    turn(&mut session, "Third.").await;
    let requests = lab.model().model_requests();
    let last = requests
        .iter()
        .rev()
        .find(|request| request.last_text().is_some_and(|text| text.contains("Third.")));
    let messages = serde_json::to_string(last.unwrap().messages())?;
    assert!(messages.contains("First.") && !messages.contains("Second."), "{messages}");
    let nowhere = session.rewind_conversation("5f0d4b0e-93a4-4c2e-8f4c-5b8f6c0a1d11").await;
    assert!(
        matches!(nowhere, Err(ControlError::NotAsAsked { .. } | ControlError::Refused { .. })),
        "{nowhere:?}"
    );
    close(session, lab).await;
    Ok(())
}

async fn exported(cli: Cli) -> Outcome {
    let lab = lab(cli, SAYS).await;
    let mut session = soon("the start", builder(&lab).connect()).await?;
    turn(&mut session, "First.").await;
    if has(cli, "export_conversation") {
        let export = session.export_conversation().await?;
        assert!(!export.default_filename.is_empty());
        if matches!(cli, Cli::Real(_)) {
            assert!(export.text.contains("First."), "{export:?}");
        }
    }
    if has(cli, "get_plan") {
        assert!(!session.plan().await?.exists);
    }
    close(session, lab).await;
    Ok(())
}
