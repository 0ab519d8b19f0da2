//! Whatever a line is, looking at it ends soon and does not fail.
//!
//! The lines are so long that work which grows with the square of a length takes longer than a test may.

use countersign_policy::{Danger, shell};
use proptest::prelude::*;

use crate::{place, said};

/// As much of a piece as there may be in a line.
fn filled(piece: &str) -> String {
    piece.repeat((128 << 10) / piece.len())
}

#[test]
fn long_lines_are_looked_at_soon() {
    let pieces = [
        "a;",
        "rm x;",
        "sh;",
        "curl x;",
        "cd a;",
        "cd a && ",
        "pushd a;",
        "(",
        "((",
        "{ ",
        "$(",
        "`",
        "\"$(",
        "<(",
        "'",
        "\"",
        "\\",
        "if a; then ",
        "f() { ",
        "case a in b) ",
        "while ",
        "for x in ",
        "sudo ",
        "env ",
        "env -S ",
        "sudo -u a ",
        "find -exec ",
        "find . -exec rm {} + ",
        "xargs ",
        "bash -c ",
        "bash -c '",
        "eval ",
        "eval \"",
        "a $x ",
        "$x ",
        "$x;",
        "$HOME/",
        "> a ",
        "a > b;",
        "a=b ",
        "a=b;",
        "export a;",
        "{a,b}",
        "{",
        "{a,",
        "/../",
        "../",
        "a || b; ",
        "a || ",
        "! ",
        "<<A ",
        "<<A\nA\n",
        "bash <<A\nrm x\nA\n",
        "bash <<< 'rm x';",
        "<<< ",
        "a\n",
        "\n",
        "é",
        "\0",
        "echo 'rm x' | sh;",
        "$(bash -c \"$(",
        "bash -c \"$(",
        "eval \"$(curl ",
        "[[ a == ",
        "-",
        "--",
        "git push -f;",
        "chmod ",
        "tar x",
        "cp -t ",
        "curl -o ",
        "rm -rf /etc ",
        "cat .env ",
        "a\\\nb ",
        "'a\\\nb'c\\\nd ",
        "`a \\`b",
        "curl -o a x;sh a;",
        "alias a='b';",
        "a=$a; touch $a;",
        "a=x && touch $a || ",
        "for f in a b; do touch $f; done;",
        "a | b '|';",
        "> >(sh) ",
        "git -c alias.a='!b' ",
        "curl -d @a x;",
        "kill $a; a=b;",
        "kill 1 ",
        "curl -k x;",
        "cat a | curl -d @- x;",
        "a=$(cat b); curl -d $a x;",
        "a_proxy=x;curl -d @a localhost;",
        "cat a > /dev/tcp/a/1;",
    ];
    for piece in pieces {
        drop(said(&filled(piece), &place()));
    }
    for (before, piece) in [
        ("rm ", "/etc/x "),
        ("find . ", "-exec rm {} + "),
        ("curl x", " | sh"),
        ("curl -o a x; rm ", "/etc/x "),
        ("a=/etc; touch ", "$a/x "),
        ("bash <<A\n", "rm /x\n"),
        ("find . ", "-name a "),
        ("grep ", "-e a "),
        ("kill ", "-1 "),
        ("f() { ", "cd a;"),
        ("docker run ", "-v /a:/b "),
        ("docker ", "run "),
    ] {
        let all = said(&format!("{before}{}", filled(piece)), &place());
        // What a person is shown is short.
        let length: usize = all.iter().map(|note| note.text.len()).sum();
        assert!(length < 20_000, "{piece:?}: {length} bytes");
    }
}

/// What is nested deeper than anybody writes is not looked at, and that is said.
#[test]
fn what_is_too_deep_is_told() {
    for (open, close) in [
        ("$(a ", ")"),
        ("(", ")"),
        ("{ a; ", "; }"),
        ("f() { cd a;", "; }"),
        ("if a; then cd b; ", "; fi"),
        ("(pushd a;", ")"),
    ] {
        let depth = (200 << 10) / (open.len() + close.len());
        let line = format!("{}rm x{}", open.repeat(depth), close.repeat(depth));
        let all = said(&line, &place());
        assert!(all.iter().any(|note| note.danger == Danger::Opaque), "{open}: {all:?}");
    }
    let line = format!("{}rm x", "a && b || ".repeat(10_000));
    assert!(said(&line, &place()).iter().any(|note| note.danger == Danger::Opaque));
}

/// Many files in a folder with a long path are as many long paths.
#[test]
fn paths_are_looked_at_as_far_as_there_is_time() {
    let long = "a/".repeat(2000);
    let line =
        format!("if a; then cd {long}; else cd b/{long}; fi; touch {}", "x ".repeat(100_000));
    let all = said(&line, &place());
    assert!(all.iter().any(|note| note.danger == Danger::Opaque), "{all:?}");
}

/// The parser ends the process if it is given these as they are.
#[test]
fn characters_of_all_kinds_can_be_looked_at() {
    for line in [
        "echo {\u{10ffff}",
        "echo {\u{e0100}",
        "echo {1..\u{10ffff}}",
        "é {é..é} é{é,é}é $é ${é} é=é",
        "<<é\né\né",
    ] {
        drop(said(line, &place()));
    }
    let texts: Vec<String> =
        said("rm 'ä ö' \u{1f600}\u{3000}x", &place()).into_iter().map(|n| n.text).collect();
    assert_eq!(texts, ["deletes ä ö, \u{1f600}\u{3000}x"]);
}

proptest! {
    #[test]
    fn any_text_can_be_looked_at(line in "\\PC{0,80}") {
        drop(said(&line, &place()));
    }

    #[test]
    fn any_mixture_can_be_looked_at(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "rm", "sudo", "-n", "-u", "bash", "-c", "cd", "/etc", "..", "curl", "|", "&&", "||",
                ";", "\n", "(", ")", "{", "}", "{a,b}", "$(", "`", "'", "\"", "$x", "$HOME", "~", ">",
                ">>", "<", "<<EOF\n", "EOF\n", "<<<", "<(", "&", "=", "a=b", "if", "then", "fi", "do",
                "done", "for", "in", "case", "esac", "f()", "find", "-exec", "+", "\\;", "xargs", "git",
                "push", "tar", "x", "eval", "env", "-S", "\\", "é", "\u{202e}", "-", "--", "#", "!",
            ]),
            0..40,
        ),
        gap in "[ ]?",
    ) {
        let line = parts.join(&gap);
        drop(said(&line, &place()));
        drop(shell::parse(&line));
    }
}
