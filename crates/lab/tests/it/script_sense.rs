//! What is said about scripts that can be read and make no sense.

use countersign_lab::script::{Answer, ApiError, Script, ToolUse, When};
use serde_json::json;

use crate::script_errors::check;

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
