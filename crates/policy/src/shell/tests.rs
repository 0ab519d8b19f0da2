use proptest::prelude::*;

use super::*;

fn programs(line: &str) -> Vec<String> {
    let parsed = parse(line).unwrap();
    let runs = parsed.commands.iter().flat_map(Command::runs);
    runs.map(|run| run.program.to_owned()).collect()
}

#[test]
fn all_commands_of_a_line_are_found() {
    assert_eq!(programs("a && b || c; d | e & f\ng"), ["a", "b", "c", "d", "e", "f", "g"]);
    assert_eq!(programs("echo $(a `b`) <(c)"), ["echo", "a", "b", "c"]);
    assert_eq!(programs("if a; then b; else c; fi"), ["a", "b", "c"]);
    assert_eq!(programs("for x in 1 2; do a $x; done"), ["a"]);
    assert_eq!(programs("f() { a; }; f"), ["a", "f"]);
    assert_eq!(programs("(a; b) > x"), ["a", "b"]);
}

#[test]
fn the_program_behind_others_is_found() {
    assert_eq!(programs("sudo -u root /bin/rm -r x"), ["rm"]);
    assert_eq!(programs("env A=1 timeout 5 nice -n 3 make"), ["make"]);
    assert_eq!(programs("xargs -n 1 rm"), ["rm"]);
    assert_eq!(programs("A=1 make all"), ["make"]);
    assert_eq!(programs("sudo"), ["sudo"]);
    assert_eq!(programs("bash -lc 'a && eval \"b c\"'"), ["bash", "a", "eval", "b"]);
}

#[test]
fn words_are_without_their_quotes() {
    let words = |line: &str| {
        let parsed = parse(line).unwrap();
        let words = parsed.commands[0].words.iter();
        words.map(|word| (word.text.clone(), word.is_open)).collect::<Vec<_>>()
    };
    let word = |text: &str, is_open| (text.to_owned(), is_open);
    assert_eq!(
        words(r#"rm 'a b' "c \" d" e\ f g"h"'i'"#),
        [
            word("rm", false),
            word("a b", false),
            word("c \" d", false),
            word("e f", false),
            word("ghi", false)
        ]
    );
    assert_eq!(words("rm \"$x\"")[1], word("$x", true));
    assert_eq!(words("rm *.txt")[1], word("*.txt", true));
    assert_eq!(words("$x y")[0], word("$x", true));
}

#[test]
fn words_go_on_in_the_next_line() {
    assert_eq!(programs("r\\\nm x; sud\\\no ls | s\\\nh"), ["rm", "ls", "sh"]);
    assert_eq!(programs("bash -c 'r\\\nm x'"), ["bash", "rm"]);
    let parsed = parse("a > /et\\\nc/\"y\\\nz\"").unwrap();
    assert_eq!(parsed.redirects[0].target.text, "/etc/yz");
    // What is written is not what runs.
    assert!(!parse("npm te\\\nst").unwrap().is_plain());
    assert!(parse("npm \\\n  test").unwrap().is_plain());
    assert!(parse("a &&\\\nb").unwrap().is_plain());
}

#[test]
fn substitutions_in_substitutions_are_found() {
    assert_eq!(programs("a `b \\`c\\``"), ["a", "b", "c"]);
    assert_eq!(programs("a \"`b \\\"\\`c\\`\\\"`\""), ["a", "b", "c"]);
    assert!(parse("a `b \\`c`").unwrap().is_broken);
}

#[test]
fn values_of_variables_are_known() {
    let parsed = parse("A=x B+=y; for c in d e; do f; done; G=h i").unwrap();
    let sets = parsed.steps.iter().filter_map(|step| match step {
        Step::Set { name, values } => {
            let values: Vec<_> = values.iter().map(|value| value.text.as_str()).collect();
            Some(format!("{name}: {}", values.join(" ")))
        }
        _ => None,
    });
    assert_eq!(sets.collect::<Vec<_>>(), ["A: x", "B: B+=y", "c: d e", "G: h"]);
}

#[test]
fn words_in_braces_are_several_words() {
    let words = |line: &str| {
        let words = &parse(line).unwrap().commands[0].words;
        words[1..].iter().map(|word| word.text.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(words("a b{c,d}e"), "bce bde");
    assert_eq!(words("a {b,{c,d}}{e,f}"), "be bf ce cf de df");
    assert_eq!(words("a x{,.bak} {} {b} '{c,d}' \\{e,f}"), "x x.bak {} {b} {c,d} {e,f}");
    assert_eq!(words("a {b,\"c d\",$e}"), "b c d $e");
    assert!(words(&format!("a {}", "{b,c}".repeat(20))).starts_with("{b,c}"));
    assert!(words(&format!("a {{b,c}}{}", "d".repeat(5000))).starts_with("{b,c}d"));
}

#[test]
fn where_a_word_begins_is_known() {
    let begins = |word: &str, begin: Begin<'_>| {
        let parsed = parse(&format!("a {word}")).unwrap();
        assert_eq!(parsed.commands[0].words[1].begin(), begin, "{word}");
    };
    begins("~/x", Begin::Home("/x"));
    begins("\"$HOME\"/x", Begin::Home("/x"));
    begins("\"${HOME}/x\"", Begin::Home("/x"));
    begins("$PWD/x", Begin::Here("/x"));
    begins("$(pwd)/x", Begin::Here("/x"));
    begins("~me/x", Begin::OtherHome);
    begins("$HOMES/x", Begin::Open);
    begins("${HOME}x", Begin::Open);
    begins("\"$x\"", Begin::Open);
    begins("'~/x'", Begin::Text("~/x"));
    begins("\\~/x", Begin::Text("~/x"));
    begins("'$HOME/x'", Begin::Text("$HOME/x"));
    begins("x/$y", Begin::Text("x/$y"));
    begins("*.x", Begin::Text("*.x"));
}

#[test]
fn what_is_read_is_known() {
    let texts = |line: &str| {
        let parsed = parse(line).unwrap();
        let command = parsed.commands.last().unwrap().clone();
        match command.input {
            Some(Input::Text(number) | Input::Pipe(Some(number))) => {
                parsed.inputs[number].text.clone()
            }
            other => format!("{other:?}"),
        }
    };
    assert_eq!(texts("a <<'E'\nb $c\nE"), "b $c\n");
    assert_eq!(texts("a <<E\nb \\$c\nE"), "b $c\n");
    assert_eq!(texts("a <<-E\n\tb\n\t\tc\n\tE"), "b\nc\n");
    assert_eq!(texts("a <<< 'b c'"), "b c");
    assert_eq!(texts("echo -n b c | a"), "b c");
    assert_eq!(texts("cat <<E | tee x | a\nb\nE"), "b\n");
    assert_eq!(texts("cat <<E 2>&1 | a\nb\nE"), "b\n");
    assert_eq!(texts("b | a"), "Some(Pipe(None))");
    assert_eq!(texts("a < b"), "Some(File(0))");
    assert_eq!(texts("a 3<<E\nb\nE"), "None");
}

#[test]
fn pipes_and_redirects_are_seen() {
    let parsed = parse("a | b > out 2>&1; c < in | d >> /dev/null").unwrap();
    let stages = parsed.commands.iter().flat_map(|command| command.stages.iter());
    let stages: Vec<_> = stages.map(|stage| (stage.pipeline, stage.place)).collect();
    assert_eq!(stages, [(1, 0), (1, 1), (2, 0), (2, 1)]);
    let redirects: Vec<_> =
        parsed.redirects.iter().map(|r| (r.target.text.as_str(), r.writes)).collect();
    assert_eq!(redirects, [("out", true), ("in", false), ("/dev/null", true)]);
}

/// Whatever is in a line, what opens closes again.
fn is_balanced(line: &Line) -> bool {
    let mut depth = 0_i32;
    line.steps.iter().all(|step| {
        depth += match step {
            Step::Open(_) => 1,
            Step::Close => -1,
            _ => 0,
        };
        depth >= 0
    }) && depth == 0
}

#[test]
fn what_is_plain_is_told_from_what_is_not() {
    for line in ["npm test", "a && b", "echo 'x $y'"] {
        assert!(parse(line).unwrap().is_plain(), "{line}");
    }
    for line in ["a $x", "a $(b)", "a `b`", "a > x", "a 'b", "a <(b)", "a ${x:-y}", "if a"] {
        assert!(!parse(line).unwrap().is_plain(), "{line}");
    }
    assert_eq!(parse("a $HOME ${B}").unwrap().variables, ["HOME", "B"]);
}

#[test]
fn nothing_deep_or_long_is_too_much() {
    for piece in ["$(", "(", "{ ", "`", "if ", "a | ", "\"$(", "bash -c '"] {
        drop(parse(&piece.repeat(20_000)));
    }
    let mut line = "x".to_owned();
    for _ in 0..8 {
        line = format!("bash -c {line:?}");
    }
    assert!(parse(&line).unwrap().is_broken);
    assert_eq!(parse(&"a".repeat(LONGEST + 1)), None);
}

/// Each command is kept with its text, in which those are that are nested in it.
#[test]
fn what_is_nested_is_not_kept_again_and_again() {
    for (open, close) in [
        ("$(a ", ")"),
        ("\"$(a ", ")\""),
        ("<(a ", ")"),
        ("(a; ", ")"),
        ("{ a; ", "; }"),
        ("x=$(a ", ")"),
        ("a <<< $(", ")"),
        ("${x:-$(a ", ")}"),
        ("if a; then ", "; fi"),
        ("for x in $(", "); do a; done"),
        ("f() { a $(", "); }"),
    ] {
        let depth = LONGEST / (open.len() + close.len()) / 2;
        let line = format!("{}b{}", open.repeat(depth), close.repeat(depth));
        let parsed = parse(&line).unwrap();
        let commands = parsed.commands.iter().flat_map(|command| {
            let words = command.words.iter().map(|word| word.text.len());
            words.chain([command.text.len()])
        });
        let values = parsed.steps.iter().map(|step| match step {
            Step::Set { values, .. } => values.iter().map(|value| value.text.len()).sum(),
            _ => 1,
        });
        let inputs = parsed.inputs.iter().map(|input| input.text.len());
        let kept: usize = commands.chain(values).chain(inputs).sum();
        assert!(kept < 256 * line.len(), "{open}: {kept} bytes of {}", line.len());
        assert!(parsed.is_broken, "{open}");
    }
    // As deep as anybody writes, it is looked at.
    let line = format!("{}rm x{}", "echo $(".repeat(20), ")".repeat(20));
    assert!(!parse(&line).unwrap().is_broken);
    assert!(programs(&line).contains(&"rm".to_owned()));
}

/// A table in a text has many, and the parser takes long for many.
#[test]
fn pipes_in_texts_are_not_counted() {
    let table = "| a | b |\n".repeat(2000);
    assert_eq!(programs(&format!("cat > x <<'E'\n{table}E\nrm x")), ["cat", "rm"]);
    assert_eq!(programs(&format!("echo '{table}' \"{table}\" | rm x")), ["echo", "rm"]);
    assert!(!parse(&format!("echo '{table}'; rm x")).unwrap().is_broken);
    for line in [format!("rm x; {}", "a | b;".repeat(600)), format!("echo \"{table}$(rm x)\"")] {
        assert!(parse(&line).unwrap().is_broken);
    }
    // What the quick look takes for a quote, the parser does not: then nothing is kept from it.
    assert!(parse(&format!("a $'\\'' {table} | sh '")).unwrap().is_broken);
}

proptest! {
    #[test]
    fn anything_can_be_read(line in "[a-c \\n$(){}'\"`|&;<>\\\\=*-]{0,60}") {
        let parsed = parse(&line).unwrap();
        prop_assert!(is_balanced(&parsed), "{:?}", parsed.steps);
    }
}
