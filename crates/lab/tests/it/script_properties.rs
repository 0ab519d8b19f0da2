//! Scripts of all kinds, and what is no script.

use std::fmt::Write as _;
use std::time::Duration;

use countersign_lab::script::{
    Answer, ApiError, Entry, Fault, Player, Script, ToolUse, Usage, When,
};
use proptest::prelude::*;
use regex::Regex;
use serde_json::{Value, json};

/// A text that is not replaced by anything: `${` stands for itself.
fn literal() -> impl Strategy<Value = String> {
    "[ -~\n\täö😀\u{1}]{0,12}".prop_map(|text| text.replace("${", "$${"))
}

/// A text as TOML.
fn toml(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => write!(quoted, "\\u{:04X}", u32::from(c)).unwrap(),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// Something of a script, in Rust and as lines of its file.
type Both<T> = (T, String);

fn call() -> impl Strategy<Value = Both<ToolUse>> {
    let input = prop_oneof![
        literal().prop_map(|text| json!({"s": text, "n": null, "l": [1, {"deep": text}]})),
        any::<(i64, bool)>().prop_map(|(number, truth)| json!({"number": number, "truth": truth})),
    ];
    ("[A-Z][a-z]{1,6}", input, proptest::option::of(literal()), any::<bool>(), 0_u64..5000)
        .prop_map(|(name, input, result, fails, takes)| {
            let mut file = format!("input_json = {}", toml(&input.to_string()));
            let mut call = ToolUse::new(&name, input).takes(Duration::from_millis(takes));
            write!(file, ", takes = \"{takes}ms\", fails = {fails}").unwrap();
            if fails {
                call = call.fails();
            }
            if let Some(result) = result {
                write!(file, ", result = {}", toml(&result)).unwrap();
                call = call.result(result);
            }
            (call, format!("tool = {}, {file}", toml(&name)))
        })
}

/// Blocks, in the long form.
fn said() -> impl Strategy<Value = Both<Answer>> {
    #[derive(Clone, Debug)]
    enum One {
        Text(String),
        Thinking(String),
        Tool(Both<ToolUse>),
        Fault(Fault),
    }
    let fault = prop_oneof![
        Just(Fault::DieMidLine),
        Just(Fault::UnknownRequest),
        any::<u8>().prop_map(|code| Fault::Exit(code.into())),
        (0_usize..3_000_000_000).prop_map(Fault::LongLine),
        (0_usize..3000).prop_map(|millions| Fault::FloodStderr(millions * 1_000_000)),
    ];
    let one = prop_oneof![
        literal().prop_map(One::Text),
        literal().prop_map(One::Thinking),
        call().prop_map(One::Tool),
        fault.prop_map(One::Fault),
    ];
    proptest::collection::vec(one, 0..4).prop_map(|blocks| {
        let (mut answer, mut file) = (Answer::new(), String::new());
        for block in blocks {
            let line = match block {
                One::Text(text) => {
                    let line = format!("text = {}", toml(&text));
                    answer = answer.and_text(text);
                    line
                }
                One::Thinking(text) => {
                    let line = format!("thinking = {}", toml(&text));
                    answer = answer.and_thinking(text);
                    line
                }
                One::Tool((call, line)) => {
                    answer = answer.and_tool(call);
                    line
                }
                One::Fault(fault) => {
                    answer = answer.and_fault(fault);
                    format!("fault = \"{fault}\"")
                }
            };
            writeln!(file, "  {{ {line} }},").unwrap();
        }
        (answer, format!("blocks = [\n{file}]\n"))
    })
}

fn answer() -> impl Strategy<Value = Both<Answer>> {
    let error = (400_u16..600, proptest::option::of(0_u64..100), literal());
    let whole = (said(), 0_u8..4, 0_usize..20, any::<(u32, u32)>(), 0_u64..100, literal())
        .prop_map(|((answer, file), ending, after, (input, output), pace, reason)| {
            let usage = Usage::new(input.into(), output.into());
            let answer = answer.usage(usage).pace(Duration::from_millis(pace)).stop_reason(&reason);
            let (answer, line) = match ending {
                0 => (answer, String::new()),
                1 => (answer.cut_after(after), format!("cut = {after}")),
                2 => (answer.hang_after(after), format!("hang = {after}")),
                _ => {
                    let error = ApiError::new(529).message(&reason);
                    let line = format!(
                        "stream_error = {{ after = {after}, message = {} }}",
                        toml(&reason)
                    );
                    (answer.stream_error_after(after, error), line)
                }
            };
            let tokens = format!("{{ input_tokens = {input}, output_tokens = {output} }}");
            let reason = toml(&reason);
            let rest = format!("usage = {tokens}\npace = \"{pace}ms\"\nstop_reason = {reason}");
            (answer, format!("{file}{rest}\n{line}\n"))
        });
    prop_oneof![
        4 => whole,
        1 => error.prop_map(|(status, retry, message)| {
            let mut error = ApiError::new(status).message(&message);
            let mut file = format!("status = {status}, message = {}", toml(&message));
            if let Some(seconds) = retry {
                error = error.retry_after(seconds);
                write!(file, ", retry_after = {seconds}").unwrap();
            }
            (Answer::error(error), format!("error = {{ {file} }}\n"))
        }),
        1 => Just((Answer::reset(), "reset = true\n".to_owned())),
    ]
}

fn when() -> impl Strategy<Value = Both<When>> {
    let word = "[a-z]{1,5}";
    (word, proptest::option::of(any::<bool>()), proptest::option::of(word), 0_u8..4).prop_map(
        |(text, error, tool, more)| {
            let mut file = String::new();
            let mut when = match more {
                0 => {
                    write!(file, "text = \"{text}\"").unwrap();
                    When::text(text.as_str())
                }
                1 => {
                    write!(file, "result = '/{text}+/'").unwrap();
                    When::result(Regex::new(&format!("{text}+")).unwrap())
                }
                2 => {
                    write!(file, "side = true").unwrap();
                    When::side_job()
                }
                _ => {
                    write!(file, "turn = {}", text.len()).unwrap();
                    When::turn(u64::try_from(text.len()).unwrap())
                }
            };
            if let Some(error) = error {
                write!(file, ", error = {error}").unwrap();
                when = when.and_error(error);
            }
            if let Some(tool) = tool {
                write!(file, ", tool = \"{tool}\"").unwrap();
                when = when.and_tool(tool);
            }
            (when, format!("when = {{ {file} }}\n"))
        },
    )
}

/// A whole script, in Rust and as a file.
fn script() -> impl Strategy<Value = Both<Script>> {
    let entry = (answer(), proptest::option::of(when()), proptest::option::of(1_u32..9));
    let entries = proptest::collection::vec(entry, 0..5);
    (entries, proptest::option::of(literal()), literal()).prop_map(|(entries, otherwise, value)| {
        let (mut script, mut file) = (Script::new().set("name", &value), String::new());
        if let Some(text) = otherwise {
            writeln!(file, "otherwise = {}", toml(&text)).unwrap();
            script = script.otherwise(text);
        }
        writeln!(file, "[set]\nname = {}", toml(&value)).unwrap();
        for ((answer, lines), when, times) in entries {
            writeln!(file, "\n[[answer]]").unwrap();
            let mut entry = Entry::from(answer);
            if let Some(times) = times {
                writeln!(file, "times = {times}").unwrap();
                entry = entry.times(times);
            }
            if let Some((when, line)) = when {
                file.push_str(&line);
                script = script.when(when, entry);
            } else {
                script = script.then(entry);
            }
            file.push_str(&lines);
        }
        (script, file)
    })
}

/// A request, of a shape that the player may meet.
fn body() -> impl Strategy<Value = Value> {
    ("[a-z ]{0,8}", any::<bool>(), any::<bool>()).prop_map(|(text, tools, result)| {
        let mut messages = vec![json!({"role": "user", "content": text})];
        if result {
            let call = json!([{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]);
            messages.push(json!({"role": "assistant", "content": call}));
            let result = json!([{"type": "tool_result", "tool_use_id": "t", "content": text}]);
            messages.push(json!({"role": "user", "content": result}));
        }
        let tools = if tools { json!([{"name": "Bash"}]) } else { json!([]) };
        json!({"model": "m", "tools": tools, "messages": messages})
    })
}

proptest! {
    #[test]
    fn a_file_and_the_same_script_in_rust_are_equal((script, file) in script()) {
        let read = match Script::parse(&file, "x.toml") {
            Ok(read) => read,
            Err(error) => return Err(TestCaseError::fail(format!("{error}\n{file}"))),
        };
        prop_assert_eq!(&read, &script);
        prop_assert_eq!(script.check(), Ok(()));
    }

    #[test]
    fn a_script_that_was_checked_answers_every_request(
        (script, _) in script(),
        requests in proptest::collection::vec(body(), 1..9),
    ) {
        // None of these scripts uses a variable, so none of them may lack one; and the same
        // requests get the same answers.
        let (mut one, mut two) = (Player::new(script.clone()), Player::new(script));
        for request in &requests {
            let played = one.play(request);
            prop_assert_eq!(&played, &two.play(request));
            for call in played.answer.tool_uses() {
                prop_assert!(call.id.is_some());
            }
            let ending = format!("{:?}", played.answer.ending);
            prop_assert!(!ending.contains("has no value"), "{}", ending);
        }
    }

    #[test]
    fn a_broken_file_is_told_and_never_a_panic(
        (_, file) in script(),
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), 0_usize..9, "[ -~\n]{0,3}"), 1..4),
    ) {
        let mut characters: Vec<char> = file.chars().collect();
        for (at, gone, new) in cuts {
            let at = at.index(characters.len() + 1);
            let end = (at + gone).min(characters.len());
            characters.splice(at..end, new.chars());
        }
        let file: String = characters.into_iter().collect();
        if let Err(error) = Script::parse(&file, "x.toml") {
            let lines = file.lines().count().max(1);
            prop_assert!(!error.problems().is_empty());
            for problem in error.problems() {
                let place = problem.place.as_ref().unwrap();
                prop_assert!((1..=lines + 1).contains(&place.line), "{}", error);
                prop_assert!(place.column <= place.text.chars().count() + 2, "{}", error);
            }
            prop_assert!(error.to_string().starts_with("x.toml:"));
        }
    }

    #[test]
    fn arbitrary_text_is_never_a_panic(text in any::<String>()) {
        if let Err(error) = Script::parse(&text, "x.toml") {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
