//! What is said about scripts that are none.

use countersign_lab::script::{Answer, ApiError, Script, ToolUse, When};
use serde_json::json;

/// A script and what is said about it, both after a newline.
fn check(script: &str, expected: &str) {
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
fn a_pattern_has_to_be_one() {
    check(
        r#"
[[answer]]
when = { text = "/a(b/" }
text = "a"
"#,
        r#"
x.toml:2:17: not a regular expression: unclosed group
  |
2 | when = { text = "/a(b/" }
  |                 ^^^^^^^
"#,
    );
    check(
        r#"
[[answer]]
when = { result = "" }
text = "a"
"#,
        r#"
x.toml:2:19: `result` is empty, which is in every text
  |
2 | when = { result = "" }
  |                   ^^
"#,
    );
}

#[test]
fn a_variable_has_to_be_known() {
    check(
        r#"
[[answer]]
text = "Hi ${nmae}, hi"
"#,
        r#"
x.toml:2:12: unknown variable `${nmae}`; give it a value under [set], name it in `needs` if the caller gives it, or write `$${` for a `${` that is meant
  |
2 | text = "Hi ${nmae}, hi"
  |            ^^^^^^^
"#,
    );
    check(
        r#"
[[answer]]
text = """
One
Two ${three}
"""
"#,
        r#"
x.toml:4:5: unknown variable `${three}`; give it a value under [set], name it in `needs` if the caller gives it, or write `$${` for a `${` that is meant
  |
4 | Two ${three}
  |     ^^^^^^^^
"#,
    );
    check(
        r#"
[[answer]]
tool = { name = "Write", input = { a = [ { b = "${deep}" } ] } }
"#,
        r#"
x.toml:2:49: unknown variable `${deep}`; give it a value under [set], name it in `needs` if the caller gives it, or write `$${` for a `${` that is meant
  |
2 | tool = { name = "Write", input = { a = [ { b = "${deep}" } ] } }
  |                                                 ^^^^^^^
"#,
    );
    check(
        r#"
[[answer]]
tool = { name = "Write", input_json = '{"a": ["${deep}", null]}' }
"#,
        r#"
x.toml:2:48: unknown variable `${deep}`; give it a value under [set], name it in `needs` if the caller gives it, or write `$${` for a `${` that is meant
  |
2 | tool = { name = "Write", input_json = '{"a": ["${deep}", null]}' }
  |                                                ^^^^^^^
"#,
    );
    check(
        r#"
otherwise = "${nothing}"
"#,
        r#"
x.toml:1:14: unknown variable `${nothing}`; give it a value under [set], name it in `needs` if the caller gives it, or write `$${` for a `${` that is meant
  |
1 | otherwise = "${nothing}"
  |              ^^^^^^^^^^
"#,
    );
    check(
        r#"
[[answer]]
error = { status = 500, message = "${what}" }
"#,
        r#"
x.toml:2:36: unknown variable `${what}`; give it a value under [set], name it in `needs` if the caller gives it, or write `$${` for a `${` that is meant
  |
2 | error = { status = 500, message = "${what}" }
  |                                    ^^^^^^^
"#,
    );
    check(
        r#"
[[answer]]
text = "hidden by an escape: \u0024{what}"
"#,
        r#"
x.toml:2:8: unknown variable `${what}`; give it a value under [set], name it in `needs` if the caller gives it, or write `$${` for a `${` that is meant
  |
2 | text = "hidden by an escape: \u0024{what}"
  |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
"#,
    );
}

#[test]
fn a_variable_has_to_be_able_to_have_a_value() {
    check(
        r#"
[[answer]]
text = "${result.first}"
"#,
        r#"
x.toml:2:9: no call has the label "first" that `${result.first}` asks for
  |
2 | text = "${result.first}"
  |         ^^^^^^^^^^^^^^^
"#,
    );
    check(
        r#"
[[answer]]
text = "${match.1}"
"#,
        r#"
x.toml:2:9: `${match.1}` needs exactly one regular expression in `when`; there are 0
  |
2 | text = "${match.1}"
  |         ^^^^^^^^^^
"#,
    );
    check(
        r#"
[[answer]]
when = { text = "/a/" }
text = "${match.1}"
"#,
        r#"
x.toml:3:9: the regular expression /a/ has no group for `${match.1}`
  |
3 | text = "${match.1}"
  |         ^^^^^^^^^^
"#,
    );
    check(
        r#"
[[answer]]
when = { text = "/(?<b>a)/" }
text = "${match.c}"
"#,
        r#"
x.toml:3:9: the regular expression /(?<b>a)/ has no group for `${match.c}`
  |
3 | text = "${match.c}"
  |         ^^^^^^^^^^
"#,
    );
    check(
        r#"
[[answer]]
when = { text = "/a/", result = "/b/" }
text = "${match.0}"
"#,
        r#"
x.toml:3:9: `${match.0}` needs exactly one regular expression in `when`; there are 2
  |
3 | text = "${match.0}"
  |         ^^^^^^^^^^
"#,
    );
    check(
        r#"
[[answer]]
text = "${open"
"#,
        r#"
x.toml:2:8: `${` without its `}`; write `$${` for a `${` that is meant
  |
2 | text = "${open"
  |        ^^^^^^^^
"#,
    );
}

#[test]
fn a_name_has_to_be_one() {
    check(
        r#"
needs = ["turn"]
"#,
        r#"
x.toml:1:10: "turn" cannot be the name of a variable; it has a meaning already
  |
1 | needs = ["turn"]
  |          ^^^^^^
"#,
    );
    check(
        r#"
[set]
"a b" = "c"
"#,
        r#"
x.toml:2:1: "a b" cannot be the name of a variable; a name is a letter, then letters, digits, `_` and `-`
  |
2 | "a b" = "c"
  | ^^^^^
"#,
    );
    check(
        r#"
[[answer]]
tool = { name = "A", as = "x y" }
"#,
        r#"
x.toml:2:27: "x y" cannot be a label; a name is a letter, then letters, digits, `_` and `-`
  |
2 | tool = { name = "A", as = "x y" }
  |                           ^^^^^
"#,
    );
    check(
        r#"
[[answer]]
tools = [ { name = "A", as = "x" }, { name = "B", as = "x" } ]
"#,
        r#"
x.toml:2:56: the label "x" is already that of another call
  |
2 | tools = [ { name = "A", as = "x" }, { name = "B", as = "x" } ]
  |                                                        ^^^
"#,
    );
}

#[test]
fn an_answer_is_said_in_one_way() {
    check(
        r#"
[[answer]]
text = "a"
blocks = []
"#,
        r#"
x.toml:2:1: `text` does not go with `blocks`; say everything in one way
  |
2 | text = "a"
  | ^^^^
"#,
    );
    check(
        r#"
[[answer]]
blocks = [ { text = "a", thinking = "b" }, { input = {} }, 7 ]
"#,
        r#"
x.toml:2:26: a block is one thing; make two blocks of it
  |
2 | blocks = [ { text = "a", thinking = "b" }, { input = {} }, 7 ]
  |                          ^^^^^^^^
x.toml:2:44: a block needs one of the keys `text`, `thinking`, `tool`, `fault`
  |
2 | blocks = [ { text = "a", thinking = "b" }, { input = {} }, 7 ]
  |                                            ^^^^^^^^^^^^^^
x.toml:2:60: expected a table, found a whole number
  |
2 | blocks = [ { text = "a", thinking = "b" }, { input = {} }, 7 ]
  |                                                            ^
"#,
    );
    check(
        r#"
[[answer]]
tool = { name = "A" }
tools = [ { name = "B" } ]
"#,
        r#"
x.toml:3:1: `tools` does not go with `tool`; put all calls into `tools`
  |
3 | tools = [ { name = "B" } ]
  | ^^^^^
"#,
    );
    check(
        r#"
[[answer]]
stop_reason = "max_tokens"
"#,
        r#"
x.toml:1:1: this answer says nothing; give it `text`, `thinking`, `tool`, `tools` or `blocks` (`blocks = []` if that is meant), or an ending
  |
1 | [[answer]]
  | ^^^^^^^^^^
"#,
    );
}

#[test]
fn a_call_has_a_name_and_an_input_that_json_can_say() {
    check(
        r#"
[[answer]]
tool = { input = {} }
"#,
        r#"
x.toml:2:8: a call of a tool needs the key `name`
  |
2 | tool = { input = {} }
  |        ^^^^^^^^^^^^^^
"#,
    );
    check(
        r#"
[[answer]]
tool = { name = "" }
"#,
        r#"
x.toml:2:17: `name` is empty; name the tool
  |
2 | tool = { name = "" }
  |                 ^^
"#,
    );
    check(
        r#"
[[answer]]
blocks = [ { tool = 7 } ]
"#,
        r#"
x.toml:2:21: expected a string, found a whole number
  |
2 | blocks = [ { tool = 7 } ]
  |                     ^
"#,
    );
    check(
        r#"
[[answer]]
tool = { name = "A", input = [] }
"#,
        r#"
x.toml:2:30: expected a table, found a list
  |
2 | tool = { name = "A", input = [] }
  |                              ^^
"#,
    );
    check(
        r#"
[[answer]]
tool = { name = "A", input = { d = 2026-01-01, n = nan } }
"#,
        r#"
x.toml:2:36: JSON has no dates; write it as a string
  |
2 | tool = { name = "A", input = { d = 2026-01-01, n = nan } }
  |                                    ^^^^^^^^^^
x.toml:2:52: JSON has no number nan
  |
2 | tool = { name = "A", input = { d = 2026-01-01, n = nan } }
  |                                                    ^^^
"#,
    );
    check(
        r#"
[[answer]]
tool = { name = "A", input_json = '[]' }
"#,
        r#"
x.toml:2:35: expected a JSON object as the input of a tool
  |
2 | tool = { name = "A", input_json = '[]' }
  |                                   ^^^^
"#,
    );
    check(
        r#"
[[answer]]
tool = { name = "A", input_json = '{"a":' }
"#,
        r#"
x.toml:2:35: not JSON: EOF while parsing a value at line 1 column 5 of this text
  |
2 | tool = { name = "A", input_json = '{"a":' }
  |                                   ^^^^^^^
"#,
    );
    check(
        r#"
[[answer]]
tool = { name = "A", input = {}, input_json = '{}' }
"#,
        r#"
x.toml:2:34: `input_json` does not go with `input`
  |
2 | tool = { name = "A", input = {}, input_json = '{}' }
  |                                  ^^^^^^^^^^
"#,
    );
}

#[test]
fn an_answer_ends_in_one_way() {
    check(
        r#"
[[answer]]
text = "a"
cut = 3
hang = 4
"#,
        r#"
x.toml:4:1: `hang` does not go with `cut`; an answer ends in one way
  |
4 | hang = 4
  | ^^^^
"#,
    );
    check(
        r#"
[[answer]]
error = { status = 429 }
text = "a"
"#,
        r#"
x.toml:3:1: `text` does not go with `error`: nothing of it would be sent
  |
3 | text = "a"
  | ^^^^
"#,
    );
    check(
        r#"
[[answer]]
error = { message = "no" }
"#,
        r#"
x.toml:2:9: `error` needs the key `status`, such as 429
  |
2 | error = { message = "no" }
  |         ^^^^^^^^^^^^^^^^^^
"#,
    );
    check(
        r#"
[[answer]]
reset = true
pace = "1s"
"#,
        r#"
x.toml:3:1: `pace` does not go with `reset`: nothing of it would be sent
  |
3 | pace = "1s"
  | ^^^^
"#,
    );
    check(
        r#"
[[answer]]
reset = false
"#,
        r#"
x.toml:2:1: `reset` can only be true; leave it out otherwise
  |
2 | reset = false
  | ^^^^^
"#,
    );
}

#[test]
fn a_condition_that_never_holds_is_refused() {
    check(
        r#"
[[answer]]
when = { turn = 2, side = true }
text = "a"
"#,
        r#"
x.toml:2:10: `turn` counts the main conversation, so it excludes `side` and `agent`
  |
2 | when = { turn = 2, side = true }
  |          ^^^^
"#,
    );
    check(
        r#"
[[answer]]
when = { turn = 2, agent = true }
text = "a"
"#,
        r#"
x.toml:2:10: `turn` counts the main conversation, so it excludes `side` and `agent`
  |
2 | when = { turn = 2, agent = true }
  |          ^^^^
"#,
    );
    check(
        r#"
[[answer]]
when = { agent = true, side = true }
text = "a"
"#,
        r#"
x.toml:2:10: a side job is nobody's conversation, so `side` excludes `agent`
  |
2 | when = { agent = true, side = true }
  |          ^^^^^
"#,
    );
}

#[test]
fn faults_and_misbehaviour_have_their_words() {
    check(
        r#"
[[answer]]
fault = "explode"
"#,
        r#"
x.toml:2:9: "explode" is not a fault; expected "die mid-line", "exit 3", "freeze", "flood stderr 10 MB", "long line 50 MB", "not json", "unknown frame" or "unknown request"
  |
2 | fault = "explode"
  |         ^^^^^^^^^
"#,
    );
    check(
        r#"
[[answer]]
blocks = [ { fault = "flood stderr 10 MiB" } ]
"#,
        r#"
x.toml:2:22: "flood stderr 10 MiB" is not a fault; expected "die mid-line", "exit 3", "freeze", "flood stderr 10 MB", "long line 50 MB", "not json", "unknown frame" or "unknown request"
  |
2 | blocks = [ { fault = "flood stderr 10 MiB" } ]
  |                      ^^^^^^^^^^^^^^^^^^^^^
"#,
    );
    check(
        r#"
[[answer]]
fault = "exit 256"
"#,
        r#"
x.toml:2:9: "exit 256" is not a fault; expected "die mid-line", "exit 3", "freeze", "flood stderr 10 MB", "long line 50 MB", "not json", "unknown frame" or "unknown request"
  |
2 | fault = "exit 256"
  |         ^^^^^^^^^^
"#,
    );
    check(
        r#"
[[misbehave]]
on = "set_model"
do = "lie"
"#,
        r#"
x.toml:3:6: "lie" is not an act; expected "answer twice", "never answer" or "refuse"
  |
3 | do = "lie"
  |      ^^^^^
"#,
    );
    check(
        r#"
[[misbehave]]
do = "refuse"
"#,
        r#"
x.toml:1:1: a misbehaviour needs the key `on`
  |
1 | [[misbehave]]
  | ^^^^^^^^^^^^^
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
fn a_script_made_in_rust_is_checked_by_the_same_rules() {
    let script = Script::new()
        .then(Answer::text("${nmae} ${cwd}"))
        .then(Answer::error(ApiError::new(429)).and_text("after all").times(0))
        .then(Answer::tool("A", json!([])))
        .then(Answer::new().and_tool(ToolUse::new("A", json!({})).label("x y")))
        .then(Answer::text("${open"))
        .then(Answer::error(ApiError::new(200)))
        .then(Answer::tool("", json!({})))
        .when(When::text(""), Answer::text("a"))
        .when(When::side_job().and_agent(true), Answer::text("b"))
        .when(When::turn(1).and_agent(true), Answer::text("c"))
        .set("turn", "1");
    assert_eq!(
        script.check().unwrap_err().to_string(),
        "script: answer 2: is served 0 times; leave it out
script: answer 2: ends before anything is said, so it can say nothing
script: answer 3: the input of the tool A is not an object
script: answer 4: \"x y\" cannot be a label; a name is a letter, then letters, digits, `_` and `-`
script: answer 6: the status 200 is no error; those are from 400 to 599
script: answer 7: the tool of a call has no name
script: answer 8: `text` is empty, which is in every text
script: answer 9: a side job is nobody's conversation, so `side` excludes `agent`
script: answer 10: `turn` counts the main conversation, so it excludes `side` and `agent`
script: \"turn\" cannot be the name of a variable; it has a meaning already
script: answer 1: unknown variable `${nmae}`; give it a value under [set], name it in `needs` if \
         the caller gives it, or write `$${` for a `${` that is meant
script: answer 5: `${` without its `}` in \"${open\"; write `$${` for a `${` that is meant
"
    );
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing.toml");
    let error = Script::load(&path).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot read the script {}", path.display()));
}
