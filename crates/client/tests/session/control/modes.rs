//! Permission modes: by flag and live, acknowledged, without a race.

use countersign::cli::Capability;
use countersign::permission::PermissionAsk;
use countersign::protocol::permission::{PermissionMode, UpdateDestination};
use countersign::protocol::request::{ErrorCode, SetPermissionMode};
use countersign::{ControlError, Session};
use libtest_mimic::Trial;

use super::{OK, assert_refused, turn};
use crate::kit::{Cli, Outcome, V62, V325, builder, close, lab, on_all, soon};

pub(super) fn trials() -> Vec<Trial> {
    [
        on_all("control::modes::each_by_flag", V62, by_flag),
        on_all("control::modes::each_live_before_and_after_turns", V62, live),
        on_all("control::modes::in_a_turn", V62, in_a_turn),
        on_all("control::modes::a_message_right_behind_finds_the_mode", V62, right_behind),
        on_all("control::modes::bypass_only_when_launched_for_it", V62, bypass),
        on_all("control::modes::one_that_does_not_exist_is_refused", V62, unknown),
        on_all("control::modes::what_the_cli_changes_is_known", V62, changed_by_the_cli),
        on_all("control::modes::two_who_ask_at_once_leave_the_mode_in_force", V62, at_once),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The modes that the version has, but for the other name of the last one.
fn modes(cli: Cli) -> impl Iterator<Item = PermissionMode> {
    let modes = [
        PermissionMode::Plan,
        PermissionMode::AcceptEdits,
        PermissionMode::Auto,
        PermissionMode::BypassPermissions,
        PermissionMode::DontAsk,
        PermissionMode::Default,
    ];
    modes
        .into_iter()
        .filter(move |mode| Capability::permission_mode(mode).unwrap().in_version(cli.version()))
}

fn mode(session: &Session) -> PermissionMode {
    session.snapshot().permission_mode.unwrap()
}

async fn by_flag(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    for asked in modes(cli).chain([PermissionMode::Manual]) {
        let builder = builder(&lab).permission_mode(asked.clone());
        let builder = builder.allow_dangerously_skip_permissions();
        let mut session = soon("the start", builder.connect()).await?;
        let expected = match asked {
            PermissionMode::Manual => PermissionMode::Default,
            mode => mode,
        };
        let (began, ..) = turn(&mut session, "Hello").await;
        assert_eq!((&began.permission_mode, &mode(&session)), (&expected, &expected));
        session.close().await;
    }
    lab.close().await?;
    Ok(())
}

async fn live(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let builder = builder(&lab).allow_dangerously_skip_permissions();
    let mut session = soon("the start", builder.connect()).await?;
    // The first one before any message.
    for asked in modes(cli) {
        session.set_permission_mode(asked.clone()).await?;
        assert_eq!(mode(&session), asked);
        let (began, ..) = turn(&mut session, "Hello").await;
        assert_eq!((&began.permission_mode, &mode(&session)), (&asked, &asked));
    }
    session.set_permission_mode(PermissionMode::Plan).await?;
    session.set_permission_mode(PermissionMode::Manual).await?;
    assert_eq!(mode(&session), PermissionMode::Default);
    close(session, lab).await;
    Ok(())
}

const TWO_WRITES: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/a.txt", content = "a\n" } }

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/b.txt", content = "b\n" } }

[[answer]]
text = "Done."
"#;

/// The mode is changed while the first call is asked for, so the second is not.
async fn in_a_turn(cli: Cli) -> Outcome {
    let lab = lab(cli, TWO_WRITES).await;
    let handle = std::sync::Arc::new(std::sync::OnceLock::<countersign::SessionHandle>::new());
    let (asks, own) = (std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0)), handle.clone());
    let counted = asks.clone();
    let allow = move |ask: PermissionAsk| {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let session = own.get().unwrap().clone();
        async move {
            session.set_permission_mode(PermissionMode::AcceptEdits).await?;
            assert_eq!(session.snapshot().permission_mode, Some(PermissionMode::AcceptEdits));
            Ok::<_, ControlError>(ask.allow())
        }
    };
    let mut session = soon("the start", builder(&lab).on_permission(allow).connect()).await?;
    handle.set(session.handle()).unwrap();
    let (began, _, outcome) = turn(&mut session, "Write both.").await;
    assert_eq!(began.permission_mode, PermissionMode::Default);
    assert_eq!(outcome.answer(), "Done.");
    assert_eq!(asks.load(std::sync::atomic::Ordering::Relaxed), 1);
    assert!(lab.work().join("a.txt").exists() && lab.work().join("b.txt").exists());
    assert_eq!(mode(&session), PermissionMode::AcceptEdits);
    close(session, lab).await;
    Ok(())
}

async fn right_behind(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let mut session = soon("the start", builder(&lab).connect()).await?;
    let times = if cli.version() == V325 { 100 } else { 20 };
    for round in 0..times {
        let asked = if round % 2 == 0 { PermissionMode::Plan } else { PermissionMode::AcceptEdits };
        session.set_permission_mode(asked.clone()).await?;
        assert_eq!(mode(&session), asked, "round {round}");
        let (began, ..) = turn(&mut session, "Go on.").await;
        assert_eq!(began.permission_mode, asked, "round {round}");
        assert_eq!(mode(&session), asked, "round {round}");
    }
    close(session, lab).await;
    Ok(())
}

async fn bypass(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let mut session = soon("the start", builder(&lab).connect()).await?;
    let bypass = PermissionMode::BypassPermissions;
    // Also while the version is not known, which it may not be before the first turn.
    assert!(session.set_permission_mode(bypass.clone()).await.is_err());
    turn(&mut session, "Hello").await;
    let result = session.set_permission_mode(bypass.clone()).await;
    if Capability::BYPASS_BY_LAUNCH.in_version(cli.version()) {
        assert_refused(cli, result, Some(ErrorCode::BypassNotLaunched));
    } else {
        // The CLI would obey, so it is not asked, in whatever way.
        assert!(matches!(result, Err(ControlError::Forbidden { .. })), "{result:?}");
        let result = session.call(SetPermissionMode::new(bypass)).await;
        assert!(matches!(result, Err(ControlError::Forbidden { .. })), "{result:?}");
        let fields = serde_json::json!({"mode": "bypassPermissions"}).into();
        let result = session.call_raw("set_permission_mode", &fields).await;
        assert!(matches!(result, Err(ControlError::Forbidden { .. })), "{result:?}");
    }
    assert_eq!(mode(&session), PermissionMode::Default);
    let (began, ..) = turn(&mut session, "Hello").await;
    assert_eq!(began.permission_mode, PermissionMode::Default);
    close(session, lab).await;
    Ok(())
}

async fn unknown(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let mut session = soon("the start", builder(&lab).connect()).await?;
    // The first turn tells the version.
    turn(&mut session, "Hello").await;
    let result = session.set_permission_mode(PermissionMode::from("nonsense")).await;
    if Capability::MODES_CHECKED.in_version(cli.version()) {
        assert_refused(cli, result, Some(ErrorCode::InvalidMode));
    } else {
        assert!(matches!(result, Err(ControlError::Unsupported(_))), "{result:?}");
    }
    assert_eq!(mode(&session), PermissionMode::Default);
    if cli.version() == V62 {
        let result = session.set_permission_mode(PermissionMode::Auto).await;
        assert!(matches!(result, Err(ControlError::Unsupported(_))), "{result:?}");
    }
    close(session, lab).await;
    Ok(())
}

const WRITE_AND_PLAN: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/a.txt", content = "a\n" } }

[[answer]]
text = "Written."

[[answer]]
tool = { name = "EnterPlanMode" }

[[answer]]
text = "Planning."
"#;

/// An answer to an ask and a tool change the mode; nobody here asked for it by request.
async fn changed_by_the_cli(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE_AND_PLAN).await;
    let allow = |ask: PermissionAsk| async move {
        ask.allowing().mode(PermissionMode::AcceptEdits, UpdateDestination::Session).answer()
    };
    let mut session = soon("the start", builder(&lab).on_permission(allow).connect()).await?;
    let (.., outcome) = turn(&mut session, "Write.").await;
    assert_eq!((outcome.answer(), mode(&session)), ("Written.", PermissionMode::AcceptEdits));
    let (.., outcome) = turn(&mut session, "Plan.").await;
    assert_eq!((outcome.answer(), mode(&session)), ("Planning.", PermissionMode::Plan));
    close(session, lab).await;
    Ok(())
}

async fn at_once(cli: Cli) -> Outcome {
    let lab = lab(cli, OK).await;
    let mut session = soon("the start", builder(&lab).connect()).await?;
    for round in 0..20 {
        let mut asking = tokio::task::JoinSet::new();
        for asked in [PermissionMode::Plan, PermissionMode::AcceptEdits] {
            let session = session.handle();
            asking.spawn(async move { session.set_permission_mode(asked).await });
        }
        while let Some(asked) = asking.join_next().await {
            asked??;
        }
        let known = mode(&session);
        let (began, ..) = turn(&mut session, "Go on.").await;
        assert_eq!(began.permission_mode, known, "round {round}");
    }
    close(session, lab).await;
    Ok(())
}
