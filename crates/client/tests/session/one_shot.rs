//! One question, one answer.

use countersign::turn::TurnEvent;
use countersign::{QueryError, SessionBuilder, TurnError};
use futures_util::StreamExt as _;
use libtest_mimic::Trial;

use crate::kit::{Cli, Outcome, V62, V325, builder, lab, on_all, soon, trial};

const FOUR: &str = r#"
[[answer]]
text = "Four."
"#;

const REFUSED: &str = r#"
[[answer]]
times = 9
error = { status = 403, message = "not on my watch" }
"#;

const DIES: &str = r#"
[[answer]]
text = "I am about to"
fault = "exit 3"
"#;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<_> = [
        on_all("one_shot::a_question_has_an_answer", V62, ask),
        on_all("one_shot::a_turn_that_fails_says_why", V62, fails),
        on_all("one_shot::an_answer_comes_as_it_is_made", V62, streaming),
    ]
    .into_iter()
    .flatten()
    .collect();
    trials.extend([
        trial("one_shot::a_stream_says_that_the_session_died", dies),
        trial("one_shot::a_cli_that_is_not_there_is_named", missing),
    ]);
    #[cfg(feature = "schema")]
    trials.extend(typed::trials());
    trials
}

const SIMULATED: Cli = Cli::Simulated(V325);

async fn ask(cli: Cli) -> Outcome {
    let lab = lab(cli, FOUR).await;
    let outcome = soon("the answer", builder(&lab).ask("What is 2+2?")).await?;
    assert_eq!(outcome.answer(), "Four.");
    lab.close().await?;
    Ok(())
}

async fn fails(cli: Cli) -> Outcome {
    let lab = lab(cli, REFUSED).await;
    let error = soon("the answer", builder(&lab).ask("What is 2+2?")).await.err().unwrap();
    assert!(error.to_string().contains("not on my watch"), "{error}");
    let QueryError::Failed { error, outcome } = error else { panic!("{error:?}") };
    assert!(error.contains("403"), "{error}");
    assert!(!outcome.succeeded() && outcome.session_id().is_some());
    lab.close().await?;
    Ok(())
}

async fn streaming(cli: Cli) -> Outcome {
    let lab = lab(cli, FOUR).await;
    let stream = builder(&lab).partial_messages().ask_streaming("What is 2+2?");
    let events: Vec<_> = soon("the stream", soon("the start", stream).await?.collect()).await;
    let events: Vec<_> = events.into_iter().collect::<Result<_, _>>()?;
    let deltas = events.iter().filter_map(|event| match event {
        TurnEvent::TextDelta { text, .. } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(deltas.collect::<String>(), "Four.");
    let Some(TurnEvent::Done(result)) = events.last() else { panic!("{events:?}") };
    assert_eq!(result.result.as_deref(), Some("Four."));
    lab.close().await?;
    Ok(())
}

async fn dies() -> Outcome {
    let lab = lab(SIMULATED, DIES).await;
    let stream = builder(&lab).ask_streaming("What is 2+2?").await?;
    let mut events: Vec<_> = soon("the stream", stream.collect()).await;
    let Some(Err(TurnError::SessionEnded(end))) = events.pop() else { panic!("{events:?}") };
    assert_eq!(end.exit.and_then(|exit| exit.code()), Some(3));
    assert!(events.iter().all(Result::is_ok), "{events:?}");
    lab.close().await?;
    Ok(())
}

async fn missing() -> Outcome {
    let lab = lab(SIMULATED, FOUR).await;
    let gone = lab.root().join("gone/claude");
    let error = SessionBuilder::new().executable(&gone).ask("What?").await.err().unwrap();
    assert!(error.to_string().contains(&*gone.to_string_lossy()), "{error}");
    lab.close().await?;
    Ok(())
}

/// Answers that have a type.
#[cfg(feature = "schema")]
mod typed {
    use countersign::QueryError;
    use libtest_mimic::Trial;

    use super::{FOUR, SIMULATED};
    use crate::kit::{Cli, Outcome, V62, builder, lab, on_all, soon, trial};

    const ADA: &str = r#"
[[answer]]
tool = { name = "StructuredOutput", input = { name = "Ada", born = 1815 } }

[[answer]]
text = "There she is."
"#;

    pub(crate) fn trials() -> Vec<Trial> {
        let mut trials = on_all("one_shot::an_answer_has_the_type_that_was_asked_for", V62, typed);
        trials.push(trial("one_shot::an_answer_without_structure_is_told", unstructured));
        trials
    }

    #[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
    struct Person {
        name: String,
        born: u16,
    }

    async fn typed(cli: Cli) -> Outcome {
        let lab = lab(cli, ADA).await;
        let ada: Person = soon("the answer", builder(&lab).ask_for("Who was she?")).await?;
        assert_eq!(ada, Person { name: "Ada".to_owned(), born: 1815 });
        lab.close().await?;
        Ok(())
    }

    async fn unstructured() -> Outcome {
        let lab = lab(SIMULATED, FOUR).await;
        let answer = soon("the answer", builder(&lab).ask_for::<Person>("Who was she?")).await;
        match answer.err().unwrap() {
            QueryError::NotStructured { outcome, .. } => assert_eq!(outcome.answer(), "Four."),
            // The CLI may have insisted until it gave up.
            QueryError::Failed { error, .. } => assert!(error.contains("tructured"), "{error}"),
            other => panic!("{other:?}"),
        }
        lab.close().await?;
        Ok(())
    }
}
