//! What is said about scripts that cannot be read, and how it is said.

use countersign_lab::script::Script;

/// A script and what is said about it, both after a newline.
pub(crate) fn check(script: &str, expected: &str) {
    let error = Script::parse(script.trim_start_matches('\n'), "x.toml").unwrap_err();
    assert_eq!(format!("\n{error}"), expected, "{script}");
}

#[test]
fn a_key_that_is_not_known_is_named_with_the_one_that_was_probably_meant() {
    check(
        r#"
[[answer]]
txt = "Hi"
"#,
        r#"
x.toml:2:1: unknown key `txt` in an answer; did you mean `text`?
  |
2 | txt = "Hi"
  | ^^^
"#,
    );
    check(
        r#"
otherwize = "Done."
"#,
        r#"
x.toml:1:1: unknown key `otherwize` in a script; did you mean `otherwise`?
  |
1 | otherwize = "Done."
  | ^^^^^^^^^
"#,
    );
    check(
        r#"
[[answer]]
banana = 1
text = "a"
"#,
        r#"
x.toml:2:1: unknown key `banana` in an answer; expected one of `when`, `times`, `thinking`, `text`, `tool`, `tools`, `fault`, `blocks`, `stop_reason`, `model`, `usage`, `pace`, `delay`, `error`, `stream_error`, `cut`, `hang`, `reset`
  |
2 | banana = 1
  | ^^^^^^
"#,
    );
    check(
        r#"
[[answer]]
text = "a"
usage = { tokens = 3 }
"#,
        r#"
x.toml:3:11: unknown key `tokens` in `usage`; expected one of `input_tokens`, `output_tokens`, `cache_read_input_tokens`, `cache_creation_input_tokens`
  |
3 | usage = { tokens = 3 }
  |           ^^^^^^
"#,
    );
}

#[test]
fn a_value_of_the_wrong_type_says_what_was_expected() {
    check(
        r#"
[[answer]]
text = 7
"#,
        r#"
x.toml:2:8: expected a string, found a whole number
  |
2 | text = 7
  |        ^
"#,
    );
    check(
        r#"
[[answer]]
	text = ["a"]
"#,
        r#"
x.toml:2:9: expected a string, found a list
  |
2 | 	text = ["a"]
  | 	       ^^^^^
"#,
    );
    check(
        r#"
[answer]
text = "a"
"#,
        r#"
x.toml:1:1: expected a list of tables (`[[answer]]`), found a table
  |
1 | [answer]
  | ^^^^^^^^
"#,
    );
    check(
        r#"
answer = [ { text = "a" }, 7 ]
"#,
        r#"
x.toml:1:28: expected a table, found a whole number
  |
1 | answer = [ { text = "a" }, 7 ]
  |                            ^
"#,
    );
    check(
        r#"
[[answer]]
text = "a"
when = "b"
"#,
        r#"
x.toml:3:8: expected a table, found a string
  |
3 | when = "b"
  |        ^^^
"#,
    );
    check(
        r#"
[[answer]]
when = { error = "yes" }
text = "a"
"#,
        r#"
x.toml:2:18: expected true or false, found a string
  |
2 | when = { error = "yes" }
  |                  ^^^^^
"#,
    );
    check(
        r#"
[set]
d = 7
"#,
        r#"
x.toml:2:5: expected a string, found a whole number
  |
2 | d = 7
  |     ^
"#,
    );
    check(
        r#"
needs = ["a", 7]
"#,
        r#"
x.toml:1:15: expected a string, found a whole number
  |
1 | needs = ["a", 7]
  |               ^
"#,
    );
}

#[test]
fn what_is_not_toml_is_said_to_be_so() {
    check(
        r#"
[[answer]]
text = "a
"#,
        r#"
x.toml:2:10: not TOML: invalid basic string, expected `"`
  |
2 | text = "a
  |          ^
"#,
    );
    check(
        r#"
[[answer]]
text = "a"
text = "b"
"#,
        r#"
x.toml:3:1: not TOML: duplicate key
  |
3 | text = "b"
  | ^^^^
"#,
    );
    check(
        r#"
[[answer]]
text =

[[answer]
"#,
        r#"
x.toml:2:7: not TOML: string values must be quoted, expected literal string
  |
2 | text =
  |       ^
x.toml:4:10: not TOML: unclosed array table, expected `]`
  |
4 | [[answer]
  |          ^
"#,
    );
}

#[test]
fn numbers_have_their_range() {
    check(
        r#"
[[answer]]
times = 0
text = "a"
"#,
        r#"
x.toml:2:9: 0 is out of range; `times` is a number from 1 on
  |
2 | times = 0
  |         ^
"#,
    );
    check(
        r#"
[[answer]]
times = -1
text = "a"
"#,
        r#"
x.toml:2:9: -1 is out of range; expected a whole number from 0 on
  |
2 | times = -1
  |         ^^
"#,
    );
    check(
        r#"
[[answer]]
when = { turn = 0 }
text = "a"
"#,
        r#"
x.toml:2:17: 0 is out of range; `turn` is a number from 1 on
  |
2 | when = { turn = 0 }
  |                 ^
"#,
    );
    check(
        r#"
[[answer]]
error = { status = 200 }
"#,
        r#"
x.toml:2:20: 200 is out of range; `status` is a number from 400 to 599
  |
2 | error = { status = 200 }
  |                    ^^^
"#,
    );
    check(
        r#"
[[answer]]
cut = 1.5
"#,
        r#"
x.toml:2:7: expected a whole number, found a number with a point
  |
2 | cut = 1.5
  |       ^^^
"#,
    );
}

#[test]
fn a_duration_is_a_number_and_a_unit() {
    check(
        r#"
[[answer]]
text = "a"
pace = "20"
"#,
        r#"
x.toml:3:8: "20" has no unit; expected a duration such as "20ms", "1.5s" or "2m"
  |
3 | pace = "20"
  |        ^^^^
"#,
    );
    check(
        r#"
[[answer]]
text = "a"
pace = 20
"#,
        r#"
x.toml:3:8: expected a duration such as "20ms", "1.5s" or "2m", found a whole number
  |
3 | pace = 20
  |        ^^
"#,
    );
    check(
        r#"
[[answer]]
text = "a"
delay = "a while"
"#,
        r#"
x.toml:3:9: "a while" has no unit; expected a duration such as "20ms", "1.5s" or "2m"
  |
3 | delay = "a while"
  |         ^^^^^^^^^
"#,
    );
    check(
        r#"
[[answer]]
text = "a"
delay = "9999m"
"#,
        r#"
x.toml:3:9: "9999m" is longer than a day; expected a duration such as "20ms", "1.5s" or "2m"
  |
3 | delay = "9999m"
  |         ^^^^^^^
"#,
    );
}

#[test]
fn all_problems_are_reported_in_the_order_of_the_file() {
    check(
        r#"
needs = ["1"]

[[answer]]
text = 7
txt = 8

[[answer]]
pace = "x"
text = "a"
"#,
        r#"
x.toml:1:10: "1" cannot be the name of a variable; a name is a letter, then letters, digits, `_` and `-`
  |
1 | needs = ["1"]
  |          ^^^
x.toml:4:8: expected a string, found a whole number
  |
4 | text = 7
  |        ^
x.toml:5:1: unknown key `txt` in an answer; did you mean `text`?
  |
5 | txt = 8
  | ^^^
x.toml:8:8: "x" has no unit; expected a duration such as "20ms", "1.5s" or "2m"
  |
8 | pace = "x"
  |        ^^^
"#,
    );
}

#[test]
fn a_long_line_is_cut_so_that_the_place_stays_in_sight() {
    check(
        r#"
[[answer]]
text = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ${x} bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
"#,
        r#"
x.toml:2:160: unknown variable `${x}`; give it a value under [set], name it in `needs` if the caller gives it, or write `$${` for a `${` that is meant
  |
2 | …aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ${x} bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb…
  |                                                              ^^^^
"#,
    );
}

#[test]
fn columns_count_characters() {
    check(
        r#"
[[answer]]
text = "äöü€😀 ${x}"
"#,
        r#"
x.toml:2:15: unknown variable `${x}`; give it a value under [set], name it in `needs` if the caller gives it, or write `$${` for a `${` that is meant
  |
2 | text = "äöü€😀 ${x}"
  |               ^^^^
"#,
    );
}

#[test]
fn more_problems_than_anybody_reads_are_counted() {
    let script = "[[answer]]\ntext = 7\n".repeat(25);
    let error = Script::parse(&script, "x.toml").unwrap_err();
    assert_eq!(error.problems().len(), 25);
    let shown = error.to_string();
    assert_eq!(shown.matches("expected a string").count(), 20);
    assert!(shown.ends_with("x.toml: and 5 more problems\n"), "{shown}");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing.toml");
    let error = Script::load(&path).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot read the script {}", path.display()));
}
