//! Which answer a request gets, and what is in it.

use countersign_lab::script::{
    Answer, ApiError, Block, Ending, Player, RequestKind, Script, Source, ToolUse, When,
};
use regex::Regex;
use serde_json::{Value, json};

/// A request of the main conversation with these messages.
fn request(messages: &Value) -> Value {
    json!({"model": "model-1", "tools": [{"name": "Bash"}], "messages": messages})
}

/// A request in which the user says something.
fn says(text: &str) -> Value {
    request(&json!([{"role": "user", "content": text}]))
}

/// A request with the results of calls that an answer made.
fn results(answer: &Answer, results: &[(&str, bool)]) -> Value {
    let calls: Vec<_> = answer
        .tool_uses()
        .map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.input}))
        .collect();
    let results: Vec<_> = answer
        .tool_uses()
        .zip(results)
        .map(|(call, (text, is_error))| {
            json!({"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": is_error})
        })
        .collect();
    request(&json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": results},
    ]))
}

fn text(answer: &Answer) -> &str {
    match answer.blocks.as_slice() {
        [Block::Text(text)] => text,
        other => panic!("{other:?} {:?}", answer.ending),
    }
}

fn error(answer: &Answer) -> &ApiError {
    match &answer.ending {
        Ending::Error(error) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_sequence_goes_on_with_every_request() {
    let script = Script::new()
        .then(Answer::text("one"))
        .then(Answer::text("two").times(2))
        .then(Answer::text("three"));
    let mut player = Player::new(script);
    // The same request again is a request like any other: that is how an error is followed by
    // success when the CLI tries again.
    let said: Vec<_> = (0..5).map(|_| text(&player.answer(&says("hi"))).to_owned()).collect();
    assert_eq!(said, ["one", "two", "two", "three", "This script has no answer left."]);
}

#[test]
fn a_fitting_condition_goes_before_the_sequence() {
    let script = Script::new()
        .then(Answer::text("first of the sequence"))
        .when(When::text("please"), Answer::text("as you ask").times(1))
        .when(When::text(Regex::new("pl(.)ase").unwrap()), Answer::text("again: ${match.1}"))
        .otherwise("nothing left");
    let mut player = Player::new(script);
    let mut say = |words| {
        let played = player.play(&says(words));
        (text(&played.answer).to_owned(), played.by)
    };
    let entry = |number| Source::Entry { number, line: None };
    assert_eq!(say("do it, please"), ("as you ask".to_owned(), entry(2)));
    assert_eq!(say("please"), ("again: e".to_owned(), entry(3)));
    assert_eq!(say("go"), ("first of the sequence".to_owned(), entry(1)));
    assert_eq!(say("go"), ("nothing left".to_owned(), Source::Otherwise));
    assert_eq!(say("pl_ase"), ("again: _".to_owned(), entry(3)));
}

#[test]
fn words_of_the_user_fit_once_and_not_again_with_each_result() {
    let script = Script::new()
        .when(When::text("go"), Answer::tool("Bash", json!({"command": "ls"})))
        .then(Answer::text("done: ${result}"));
    let mut player = Player::new(script);
    let call = player.answer(&says("go"));
    assert_eq!(text(&player.answer(&results(&call, &[("a.txt", false)]))), "done: a.txt");
}

#[test]
fn all_conditions_on_a_result_are_on_the_same_one() {
    let calls = Answer::new()
        .and_tool(ToolUse::new("Bash", json!({})))
        .and_tool(ToolUse::new("Read", json!({})));
    let script = Script::new()
        .then(calls)
        .when(When::tool("Read").and_error(true), Answer::text("could not read: ${result}"))
        .when(When::tool("Bash").and_result("exit 1"), Answer::text("failed"))
        .when(When::result("").and_error(false).and_tool("Bash"), Answer::text("fine"));
    let mut player = Player::new(script);
    let call = player.answer(&says("go"));
    let mut told = |bash: (&str, bool), read: (&str, bool)| {
        text(&player.answer(&results(&call, &[bash, read]))).to_owned()
    };
    assert_eq!(told(("ok", false), ("no such file", true)), "could not read: no such file");
    assert_eq!(told(("exit 1", true), ("text", false)), "failed");
    assert_eq!(told(("ok", false), ("exit 1", false)), "fine");
    assert_eq!(told(("ok", true), ("exit 1", false)), "This script has no answer left.");
}

#[test]
fn turns_count_the_main_conversation_only() {
    let script = Script::new()
        .when(When::turn(2), Answer::text("second"))
        .when(When::side_job(), Answer::text("side ${turn}"))
        .otherwise("turn ${turn}");
    let mut player = Player::new(script);
    assert_eq!(text(&player.answer(&says("a"))), "turn 1");
    let side = json!({"model": "m", "messages": [{"role": "user", "content": "a title, please"}]});
    let played = player.play(&side);
    assert_eq!((text(&played.answer), played.kind), ("side 1", RequestKind::Side));
    assert_eq!(text(&player.answer(&says("b"))), "second");
    assert_eq!(text(&player.answer(&says("c"))), "turn 3");
}

#[test]
fn side_jobs_take_nothing_from_the_script_unless_it_says_so() {
    let script = Script::new()
        .then(Answer::text("for the user"))
        .when(When::text("title"), Answer::text("not for side jobs"));
    let mut player = Player::new(script);
    let side = json!({"model": "m", "messages": [{"role": "user", "content": "a title, please"}]});
    let played = player.play(&side);
    assert_eq!((text(&played.answer), played.by), ("ok", Source::SideJob));
    assert_eq!(player.unused().len(), 2);
}

#[test]
fn subagents_are_answered_by_conditions_and_not_from_the_sequence() {
    let script = Script::new()
        .then(Answer::text("for the user"))
        .when(When::any().and_agent(true).and_first("count"), Answer::text("three files"))
        .otherwise("nothing");
    let mut player = Player::new(script);
    let agent = |prompt: &str| {
        let mut request = says(prompt);
        request["system"] = json!([{"type": "text", "text": "cc_version=1; cc_is_subagent=true;"}]);
        request
    };
    let played = player.play(&agent("count the files"));
    assert_eq!((text(&played.answer), played.kind), ("three files", RequestKind::Agent));
    assert_eq!(text(&player.answer(&agent("read the files"))), "nothing");
    assert_eq!(text(&player.answer(&says("count the files"))), "for the user");
}

#[test]
fn the_model_that_is_asked_can_be_a_condition() {
    let script = Script::new().when(When::any().and_model("haiku"), Answer::text("small"));
    let mut player = Player::new(script);
    let mut request = says("hi");
    request["model"] = json!("claude-haiku-9");
    assert_eq!(text(&player.answer(&request)), "small");
    assert_eq!(text(&player.answer(&says("hi"))), "This script has no answer left.");
}

#[test]
fn variables_are_replaced_in_every_text() {
    let file = r#"
needs = ["given"]

[set]
mine = "${not_expanded}"
dir = "/script"

[[answer]]
thinking = "${mine}"
text = "${cwd} ${home} ${text} ${turn} ${given} $${cwd} ${dir}"
tools = [ { name = "${given}", id = "${given}-1", input = { a = [ "x${turn}", { b = "${dir}" } ], n = 1 }, result = "r${turn}" } ]
model = "m-${given}"
stop_reason = "s-${given}"

[[answer]]
error = { status = 500, kind = "k-${given}", message = "m-${given}" }
"#;
    let mut player = Player::new(Script::parse(file, "x.toml").unwrap());
    player.set("cwd", "/here");
    player.set("home", "/home/me");
    player.set("given", "G");
    player.set("dir", "/caller");
    let answer = player.answer(&says("hello"));
    assert_eq!(
        answer,
        Answer::thinking("${not_expanded}")
            .and_text("/here /home/me hello 1 G ${cwd} /caller")
            .and_tool(
                ToolUse::new("G", json!({"a": ["x1", {"b": "/caller"}], "n": 1}))
                    .id("G-1")
                    .result("r1")
            )
            .model("m-G")
            .stop_reason("s-G")
    );
    assert_eq!(*error(&player.answer(&says("x"))), ApiError::new(500).kind("k-G").message("m-G"));
}

#[test]
fn results_are_found_by_the_label_of_their_call() {
    let script = Script::new()
        .then(
            Answer::new()
                .and_tool(ToolUse::new("Bash", json!({})).label("first"))
                .and_tool(ToolUse::new("Bash", json!({}))),
        )
        .then(Answer::text("${result.first}, ${result}, ${text}"));
    let mut player = Player::new(script);
    let call = player.answer(&says("go"));
    let told = results(&call, &[("one", false), ("two", false)]);
    assert_eq!(text(&player.answer(&told)), "one, two, go");
}

#[test]
fn an_answer_whose_variable_has_no_value_says_so_and_is_not_used_up() {
    let file = r#"# A comment.
[[answer]]
tool = { name = "Bash", as = "first" }

[[answer]]
text = """
It said
${result.first}"""
"#;
    let mut player = Player::new(Script::parse(file, "x.toml").unwrap());
    player.answer(&says("go"));
    // Some versions of the CLI try again after a 400, so it has to be said again.
    for _ in 0..2 {
        let refused = player.answer(&says("go on"));
        assert_eq!(
            *error(&refused),
            ApiError::new(400).message(
                "x.toml:8: ${result.first} has no value: the conversation has no result of the \
                 call labelled \"first\""
            )
        );
    }
    let unused: Vec<_> = player.unused().iter().map(ToString::to_string).collect();
    assert_eq!(unused, ["answer 2 (line 5) was served 0 of 1 times"]);
}

#[test]
fn every_variable_can_be_without_a_value() {
    let cases = [
        ("${cwd}", "nobody gave it, and the request names no working directory"),
        ("${home}", "nobody gave it"),
        ("${plan_file}", "nobody gave it, and the request names no plan file"),
        ("${text}", "the conversation has no words of the user"),
        ("${result}", "the conversation has no result of a tool"),
        ("${token}", "nobody gave it"),
    ];
    for (variable, why) in cases {
        let script = Script::new().needs("token").then(Answer::text(variable));
        script.check().unwrap();
        let refused = Player::new(script).answer(&request(&json!([])));
        let expected = format!("script, answer 1: {variable} has no value: {why}");
        assert_eq!(error(&refused).message, expected);
        assert_eq!(error(&refused).status, 400);
    }
    let refused = Player::new(Script::new().otherwise("${home}")).answer(&says("hi"));
    assert_eq!(error(&refused).message, "script, otherwise: ${home} has no value: nobody gave it");
}

#[test]
fn groups_of_a_regular_expression_have_numbers_and_names() {
    let regex = Regex::new(r"(?<verb>\w+) the (\w+)( now)?").unwrap();
    let script = Script::new()
        .when(When::text(regex), Answer::text("[${match.0}] ${match.verb} ${match.2}${match.3}!"));
    script.check().unwrap();
    let mut player = Player::new(script);
    assert_eq!(text(&player.answer(&says("so, open the door"))), "[open the door] open door!");
    assert_eq!(text(&player.answer(&says("open the box now"))), "[open the box now] open box now!");
}

#[test]
fn calls_have_ids_that_are_the_same_in_every_run_and_new_in_the_conversation() {
    let script = Script::new().then(Answer::tool("Bash", json!({})).times(9));
    let id = |answer: &Answer| answer.tool_uses().next().unwrap().id.clone().unwrap();
    let (mut one, mut two) = (Player::new(script.clone()), Player::new(script.clone()));
    let first = id(&one.answer(&says("a")));
    assert_eq!(first, id(&two.answer(&says("a"))));
    assert_ne!(first, id(&one.answer(&says("a"))));
    assert!(first.starts_with("toolu_"));
    // A session that is resumed has calls of another player in its history.
    let call = two.answer(&says("a"));
    let mut resumed = Player::new(script);
    resumed.answer(&says("a"));
    assert_ne!(id(&call), id(&resumed.answer(&results(&call, &[("x", false)]))));
}

#[test]
fn what_was_not_played_is_told() {
    let script = Script::new()
        .then(Answer::text("a"))
        .then(Answer::text("b").times(3))
        .when(When::text("x"), Answer::text("c").times(5))
        .when(When::text("y"), Answer::text("d"));
    let mut player = Player::new(script);
    for words in ["1", "2", "x"] {
        player.answer(&says(words));
    }
    let unused: Vec<_> = player.unused().iter().map(ToString::to_string).collect();
    assert_eq!(unused, ["answer 2 was served 1 of 3 times", "answer 4 was served 0 of 1 times"]);
}

#[test]
fn answers_can_be_added_while_a_script_is_played() {
    let mut player = Player::new(Script::new());
    assert_eq!(text(&player.answer(&says("a"))), "This script has no answer left.");
    player.push(Answer::text("one more"));
    assert_eq!(text(&player.answer(&says("a"))), "one more");
}

#[test]
fn anything_can_be_asked() {
    let script = Script::new().then(Answer::text("${turn}").times(9));
    let mut player = Player::new(script);
    for body in [json!(null), json!(7), json!([]), json!({"messages": 7, "tools": "all"})] {
        assert_eq!(player.play(&body).kind, RequestKind::Side);
    }
    let odd =
        json!({"tools": [7, {}], "messages": [7, {"role": 7}, {"role": "user", "content": [7]}]});
    assert_eq!(player.play(&odd).kind, RequestKind::Main);
}
