//! The tour.

use libtest_mimic::Trial;

use crate::kit::{Cli, LARGE, Outcome, simulated};
use crate::pty::{self, Pty};

pub(crate) fn trials() -> Vec<Trial> {
    [
        simulated("tour::the_tour_goes_through_all_stations", tour),
        simulated("tour::the_tour_can_be_left", left),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// `countersign tour` in this folder, on a machine that has nothing.
fn run(folder: &std::path::Path, arguments: &[&str]) -> Pty {
    let mut command = pty::command(env!("CARGO_BIN_EXE_countersign"));
    command.arg("tour");
    command.args(arguments);
    command.env("HOME", folder);
    command.env("PATH", "/usr/bin:/bin");
    command.env("TERM", "xterm-256color");
    command.current_dir(folder);
    Pty::start(command, LARGE)
}

async fn tour(_: Cli) -> Outcome {
    let folder = tempfile::tempdir()?;
    let mut pty = run(folder.path(), &["--keep", "tour"]);
    pty.see("1. A tool asks");
    pty.press("\r");
    let asked = pty.see("Esc denies");
    assert!(asked.contains("def greet(name=\"world\"):"), "the change is shown: {asked}");
    pty.press("1");
    pty.see("touch CHANGES.txt");
    pty.see("Esc denies");
    pty.press("n");
    pty.see("Enter");
    pty.press("no lists\r");
    pty.see("Then without a list of changes.");

    pty.see("2. A question");
    pty.press("\r");
    pty.see("question 1 of 2");
    // The keys are named when they are taken.
    pty.see("Esc answers nothing");
    pty.press("2");
    pty.see("question 2 of 2");
    pty.press(" ");
    pty.see("[✓] A usual name");
    pty.press("\r");
    pty.see("Thank you, that is what I will do.");

    pty.see("3. A plan");
    pty.press("\r");
    pty.see("Esc keeps planning");
    pty.press("2");
    pty.see("The example is written.");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(ended.is_restored);
    assert!(ended.screen.contains("tour/tour.html"), "{}", ended.screen);
    let page = std::fs::read_to_string(folder.path().join("tour/tour.html"))?;
    for station in ["greeting.py", "A usual name", "ExitPlanMode"] {
        assert!(page.contains(station), "{station} is not in the page");
    }
    for tape in ["1-tool.tape", "2-question.tape", "3-plan.tape"] {
        assert!(folder.path().join("tour").join(tape).is_file(), "{tape}");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path())?.collect::<Result<_, _>>()?;
    assert_eq!(left.len(), 1, "nothing else is left: {left:?}");

    // What is kept is not written over, and that is said before anybody takes the tour again.
    let pty = run(folder.path(), &["--keep", "tour"]);
    let ended = pty.end();
    assert_eq!(ended.code, 2, "{}", ended.screen);
    assert!(ended.screen.contains("tour/1-tool.tape is there already"), "{}", ended.screen);
    assert!(!ended.screen.contains("1. A tool asks"), "{}", ended.screen);
    Ok(())
}

async fn left(_: Cli) -> Outcome {
    let folder = tempfile::tempdir()?;
    let mut pty = run(folder.path(), &[]);
    pty.see("q ends the tour");
    pty.press("q\r");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(!ended.screen.contains("2. A question"), "{}", ended.screen);
    Ok(())
}
