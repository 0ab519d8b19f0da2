//! The session as a whole, the model, usage.

use countersign::cli::Capability;
use countersign::protocol::request::{ErrorCode, SetCwd, SetCwdResponse, ThinkingDisplay};
use countersign::transcript::Sessions;
use libtest_mimic::Trial;

use super::{OK, assert_refused, has, turn};
use crate::asking::requests;
use crate::kit::{Cli, Outcome, V62, V197, V325, builder, close, lab, on_all, on_real, soon};

pub(super) fn trials() -> Vec<Trial> {
    [
        on_all("control::session::what_the_cli_says_at_the_start", V62, start),
        on_all("control::session::the_model_is_another_from_the_next_turn_on", V62, model),
        on_all("control::session::thinking_is_changed", V62, thinking),
        on_all("control::session::a_title_is_in_the_transcript", V197, title),
        on_all("control::session::usage_and_cost", V197, usage),
        on_real("control::session::what_is_only_acknowledged_or_refused", V62, acknowledged),
        on_real("control::session::it_moves_to_another_folder", V325, cwd),
        on_all("control::session::it_ends_by_request", V197, ended),
    ]
    .into_iter()
    .flatten()
    .collect()
}

async fn start(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let session = soon("the start", builder(&lab).connect()).await?;
    assert!(session.commands().iter().any(|command| command.name == "compact"));
    assert!(!session.models().is_empty());
    assert_eq!(session.agents().is_empty(), cli.version() == V62);
    assert!(session.account().is_some());
    if Capability::REPEAT_INITIALIZE.in_version(cli.version()) {
        let again = session.reinitialize().await?;
        assert_eq!(again.commands.as_deref(), Some(session.commands()));
    } else {
        assert!(session.reinitialize().await.is_err());
    }
    close(session, lab).await;
    Ok(())
}

async fn model(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let mut session = soon("the start", builder(&lab).connect()).await?;
    let (first, ..) = turn(&mut session, "Hello").await;
    let resolved = session.set_model("claude-other-1").await?;
    assert_eq!(resolved.is_some(), cli.version() == V325);
    let (began, ..) = turn(&mut session, "Hello").await;
    assert_eq!(began.model, "claude-other-1");
    assert_eq!(session.snapshot().model.as_deref(), Some("claude-other-1"));
    session.reset_model().await?;
    let (began, ..) = turn(&mut session, "Hello").await;
    assert_eq!(began.model, first.model);
    if let Some(requests) = requests(cli, &lab) {
        let asked: Vec<_> = requests.iter().map(|request| &request["model"]).collect();
        // The CLI may add to the name how much the model can read, which is not for the model.
        let name = first.model.split('[').next().unwrap();
        assert_eq!(asked, [name, "claude-other-1", name]);
    }
    if has(cli, "list_models") {
        assert_eq!(session.list_models().await?.len(), session.models().len());
    }
    close(session, lab).await;
    Ok(())
}

/// With a model that thinks with a budget; others think as much as they see fit.
async fn thinking(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let builder = builder(&lab).model("claude-sonnet-4-5");
    let mut session = soon("the start", builder.connect()).await?;
    turn(&mut session, "Hello").await;
    session.set_max_thinking_tokens(Some(0)).await?;
    turn(&mut session, "Hello").await;
    session.set_thinking_display(Some(ThinkingDisplay::Summarized)).await?;
    session.set_max_thinking_tokens(Some(4096)).await?;
    turn(&mut session, "Hello").await;
    session.set_thinking_display(None).await?;
    turn(&mut session, "Hello").await;
    session.set_max_thinking_tokens(None).await?;
    let (.., outcome) = turn(&mut session, "Hello").await;
    assert_eq!(outcome.answer(), "ok");
    if let Some(requests) = requests(cli, &lab) {
        let asked: Vec<_> = requests.iter().map(|request| &request["thinking"]).collect();
        let [at_first, off, changed, shown, reset] = asked[..] else { panic!("{asked:?}") };
        let tokens = |thinking: &serde_json::Value| thinking["budget_tokens"].as_u64();
        assert!(tokens(at_first).is_some_and(|tokens| tokens != 4096), "{at_first}");
        // 2.1.62 says nothing when there is none.
        assert!(off["type"] == "disabled" || off.is_null(), "{off}");
        assert_eq!(tokens(changed), Some(4096));
        assert_eq!(tokens(reset), tokens(at_first));
        if cli.version() >= V197 {
            assert_eq!(changed["display"], "summarized");
        }
        if cli.version() >= V325 {
            assert_eq!((tokens(shown), &shown["display"]), (Some(4096), &at_first["display"]));
        } else {
            assert_eq!(tokens(shown), tokens(at_first));
        }
    }
    close(session, lab).await;
    Ok(())
}

async fn title(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let mut session = soon("the start", builder(&lab).connect()).await?;
    turn(&mut session, "Hello").await;
    session.rename_session("A title of its own").await?;
    let id = session.snapshot().session_id.unwrap();
    let home = lab.home().join(".claude");
    session.close().await;
    let info = Sessions::at(home).info(&id)?.unwrap();
    assert_eq!(info.custom_title.as_deref(), Some("A title of its own"));
    lab.close().await?;
    Ok(())
}

async fn usage(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let mut session = soon("the start", builder(&lab).connect()).await?;
    let (began, _, outcome) = turn(&mut session, "Hello").await;
    let usage = session.usage().await?;
    let (told, cost) = (usage.session.total_cost_usd.as_f64(), outcome.total_cost_usd());
    assert!(cost > 0.0 && (told - cost).abs() < 1e-9, "{told} and {cost}");
    let text = session.session_cost().await?;
    assert!(text.to_lowercase().contains("cost"), "{text}");
    let context = session.context_usage().await?;
    assert_eq!(context.model, began.model);
    assert!(context.total_tokens.as_f64() > 0.0);
    assert!(context.max_tokens.as_f64() > context.total_tokens.as_f64());
    let version = session.binary_version().await?;
    assert_eq!(version.version, cli.version().to_string());
    close(session, lab).await;
    Ok(())
}

async fn acknowledged(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let mut session = soon("the start", builder(&lab).connect()).await?;
    assert_refused(cli, session.set_color("red").await, Some(ErrorCode::UnsupportedRequest));
    if has(cli, "set_has_subscribers") {
        for watched in [Some(false), Some(true), None] {
            session.set_has_subscribers(watched).await?;
        }
    }
    if has(cli, "get_status") {
        let sections = session.status().await?;
        let version = cli.version().to_string();
        let rows = sections.iter().flat_map(|section| &section.rows);
        assert!(rows.into_iter().any(|row| row.value.contains(&version)), "{sections:?}");
    }
    if has(cli, "set_prompt_suggestions_paused") {
        session.pause_prompt_suggestions(true).await?;
    }
    let (.., outcome) = turn(&mut session, "Hello").await;
    assert_eq!(outcome.answer(), "ok");
    close(session, lab).await;
    Ok(())
}

async fn cwd(cli: Cli) -> Outcome {
    let script = r#"
        otherwise = "ok"

        [[answer]]
        when = { text = "Where?" }
        times = 1
        tool = { name = "Bash", input = { command = "pwd" } }
    "#;
    let lab = lab(cli, script).await;
    let folder = lab.work().join("below");
    std::fs::create_dir(&folder)?;
    let mut session = soon("the start", builder(&lab).connect()).await?;
    let folder = folder.to_str().unwrap();
    // Nobody has said that it is trusted, and the session stays where it is.
    let response = session.set_cwd(folder).await?;
    let SetCwdResponse::NeedsTrust(needs) = response else { panic!("{response:?}") };
    let (began, ..) = turn(&mut session, "Hello").await;
    assert_eq!(began.cwd, lab.work().to_str().unwrap());
    let request = SetCwd::new(folder).with_trust_accepted(true);
    let response = session.call(request.with_trusted_directory(needs.directory)).await?;
    let SetCwdResponse::Ok(changed) = response else { panic!("{response:?}") };
    assert!(changed.changed);
    let (began, _, outcome) = turn(&mut session, "Where?").await;
    assert_eq!(began.cwd, folder);
    assert_eq!(outcome.tool_calls[0].result.as_ref().unwrap().text(), folder);
    let response = session.set_cwd("/nonexistent").await?;
    assert!(matches!(response, SetCwdResponse::Rejected(_)), "{response:?}");
    close(session, lab).await;
    Ok(())
}

async fn ended(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let session = soon("the start", builder(&lab).connect()).await?;
    session.end_session().await?;
    let end = soon("the end", session.ended()).await;
    assert!(end.exit.is_some_and(|exit| exit.success()), "{end:?}");
    drop(session);
    lab.close().await?;
    Ok(())
}
