//! Secrets of every form, planted everywhere in real frames: afterwards there are none.

use std::collections::HashMap;
use std::path::Path;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD as BASE64, URL_SAFE_NO_PAD};
use countersign_record::redact::Redactor;
use countersign_record::{
    Channel, Entry, Header, Note, Record, TapeItem, TapeLines, TapeReader, Text,
};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::string::string_regex;
use serde_json::{Value, json};

use crate::redact_fixtures::{fixtures, tape_of, write};

/// A text with a secret in it, and what must not be found afterwards.
#[derive(Clone, Debug)]
struct Planted {
    text: String,
    secret: String,
}

/// Where a secret is planted.
#[derive(Clone, Debug)]
enum Site {
    /// In a string or a key of a frame, with so many layers of JSON around it.
    Frame { leaf: Index, at: Index, layers: usize },
    /// In a frame that is cut into pieces.
    Pieces { leaf: Index, at: Index, cuts: Vec<Index> },
    /// In a block of a stream that is cut into deltas.
    Deltas { field: &'static str, at: Index, cuts: Vec<Index> },
    /// On standard error.
    Stderr,
    /// In a line that is not UTF-8.
    Bytes,
    /// In the arguments of the command.
    Argument,
    /// In a note of the recorder.
    Note,
}

/// How the characters of a string are spelled.
#[derive(Clone, Copy, Debug)]
enum Spelling {
    Plain,
    /// With escapes for the characters whose bit is set, over and over.
    Escaped(u64),
}

#[derive(Clone, Debug)]
struct Plant {
    planted: Planted,
    site: Site,
    spelling: Spelling,
    frame: Index,
}

/// Frames of real recordings, in which there is nothing to redact.
static FRAMES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let mut frames = Vec::new();
    for fixture in fixtures().iter().step_by(5) {
        for record in tape_of(fixture).1.iter().step_by(3) {
            if let Entry::Line { text: Text::Utf8(text), .. } = &record.entry
                && text.len() < 6000
            {
                let text = text.replace("/home/dev", "/srv/dev").replace("-home-dev", "-srv-dev");
                frames.extend(serde_json::from_str::<Value>(&text).ok().filter(Value::is_object));
            }
        }
    }
    frames
});

static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| {
    let builder = Redactor::builder().pattern("ticket", r"\bTCK-[0-9]{12}\b").unwrap();
    builder.literal("codename", "Blå \"Fågel\" \\ 7").unwrap().build().unwrap()
});

/// A form whose whole text is the secret.
fn whole(regex: &str) -> BoxedStrategy<Planted> {
    let text = string_regex(regex).unwrap();
    text.prop_map(|text| Planted { secret: text.clone(), text }).boxed()
}

/// A form in which a secret stands where `{}` is.
fn within(form: &'static str, secret: &str) -> BoxedStrategy<Planted> {
    let secret = string_regex(secret).unwrap();
    secret.prop_map(move |secret| Planted { text: form.replace("{}", &secret), secret }).boxed()
}

fn planted() -> impl Strategy<Value = Planted> {
    let value = "[A-Za-z0-9+/_]{8,20}[0-9][a-z]";
    let strange = string_regex("[a-z0-9 \"\\\\/:;,é{}\n-]{8,20}[0-9][a-z]").unwrap();
    let names = ["password", "api_key", "clientSecret", "MY_TOKEN", "refresh_token"];
    prop_oneof![
        whole("sk-ant-(api03|oat01)-[A-Za-z0-9_-]{20,90}"),
        whole("sk-(proj-)?[A-Za-z0-9]{30,48}[0-9][A-Z]"),
        whole("(AKIA|ASIA)[A-Z2-7]{16}"),
        whole("gh[pos]_[A-Za-z0-9]{36}"),
        whole("github_pat_[A-Za-z0-9_]{60}"),
        whole("glpat-[A-Za-z0-9_-]{20}"),
        whole("xox[bp]-[0-9]{10}-[A-Za-z0-9]{20}"),
        whole("AIza[A-Za-z0-9_-]{35}"),
        whole("npm_[A-Za-z0-9]{36}"),
        whole("hf_[A-Za-z0-9]{34}"),
        whole("[a-z]{4,9}\\.[a-z]{3,9}@[a-z]{4,9}\\.(com|io|co\\.uk)"),
        whole("TCK-[0-9]{12}"),
        whole("Blå \"Fågel\" \\\\ 7"),
        string_regex("[A-Za-z0-9]{20,40}").unwrap().prop_map(|name| {
            let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
            let jwt = [part(json!({"alg":"HS256"})), part(json!({"sub":name})), name];
            Planted { text: jwt.join("."), secret: jwt.join(".") }
        }),
        string_regex("[a-z]{3,8}:[A-Za-z0-9]{6,12}").unwrap().prop_map(|login| {
            let secret = BASE64.encode(login);
            Planted { text: format!("Authorization: Basic {secret}"), secret }
        }),
        within("Bearer {}", "[A-Za-z0-9._~-]{10,30}[0-9][A-Z]"),
        within("https://app:{}@db.internal/x", "[A-Za-z0-9._~!-]{8,20}[0-9][a-z]"),
        within("export DEPLOY_TOKEN={}", value),
        within("aws_secret_access_key = {}", value),
        within("curl -H 'x-api-key: {}'", value),
        within("tool --client-secret={} --verbose", value),
        within("GET /cb?access_token={}&x=1", value),
        within("Cookie: a=1; sid={}", value),
        within("/home/{}/work", "q[a-z]{8,12}"),
        within("/Users/{}/Library", "q[a-z]{4}\\.[a-z]{4,8}"),
        within("C:\\Users\\{}\\AppData", "q[a-z]{4} [a-z]{4,8}"),
        within("/home/{0}/.claude/projects/-home-{}-work", "q[a-z]{8,12}")
            .prop_map(|it| Planted { text: it.text.replace("{0}", &it.secret), ..it }),
        string_regex("[A-Za-z0-9+/]{64}").unwrap().prop_map(|line| Planted {
            text: format!("-----BEGIN PRIVATE KEY-----\n{line}\nabc=\n-----END PRIVATE KEY-----"),
            secret: line,
        }),
        (strange, prop::sample::select(names.to_vec())).prop_map(|(secret, name)| Planted {
            text: json!({ name: secret }).to_string(),
            secret,
        }),
    ]
}

fn site() -> impl Strategy<Value = Site> {
    let any_index = any::<Index>;
    let cuts = || prop::collection::vec(any::<Index>(), 1..6);
    let field = prop::sample::select(vec!["text", "thinking", "partial_json"]);
    prop_oneof![
        6 => (any_index(), any_index(), 0..4_usize)
            .prop_map(|(leaf, at, layers)| Site::Frame { leaf, at, layers }),
        3 => (any_index(), any_index(), cuts())
            .prop_map(|(leaf, at, cuts)| Site::Pieces { leaf, at, cuts }),
        3 => (field, any_index(), cuts())
            .prop_map(|(field, at, cuts)| Site::Deltas { field, at, cuts }),
        1 => Just(Site::Stderr),
        1 => Just(Site::Bytes),
        1 => Just(Site::Argument),
        1 => Just(Site::Note),
    ]
}

fn plant() -> impl Strategy<Value = Plant> {
    let spelling = prop_oneof![
        Just(Spelling::Plain),
        Just(Spelling::Escaped(u64::MAX)),
        any::<u64>().prop_map(Spelling::Escaped),
    ];
    (planted(), site(), spelling, any::<Index>())
        .prop_map(|(planted, site, spelling, frame)| Plant { planted, site, spelling, frame })
}

impl Spelling {
    /// A string as JSON.
    fn literal(self, text: &str) -> String {
        let Self::Escaped(mut bits) = self else { return json!(text).to_string() };
        let mut literal = String::from("\"");
        for character in text.chars() {
            bits = bits.rotate_left(1);
            let plain = json!(character).to_string();
            if bits & 1 == 0 {
                literal.push_str(&plain[1..plain.len() - 1]);
            } else if character == '/' {
                literal.push_str("\\/");
            } else {
                let units = character.encode_utf16(&mut [0; 2]).to_vec();
                literal.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
            }
        }
        literal + "\""
    }
}

/// All strings of a value, keys as well.
fn strings(value: &mut Value, visit: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(values) => values.iter_mut().for_each(|value| strings(value, visit)),
        Value::Object(fields) => {
            for (mut key, mut value) in std::mem::take(fields) {
                visit(&mut key);
                strings(&mut value, visit);
                fields.insert(key, value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A frame as a line, with a text put into one of its strings.
fn frame_with(frame: &Value, text: &str, leaf: Index, at: Index, spelling: Spelling) -> String {
    let mut frame = frame.clone();
    let mut count = 0;
    strings(&mut frame, &mut |_| count += 1);
    let (chosen, mut seen, mut filled) = (leaf.index(count), 0, String::new());
    strings(&mut frame, &mut |string| {
        if seen == chosen {
            let at = at.index(string.chars().count() + 1);
            let before: String = string.chars().take(at).collect();
            let after: String = string.chars().skip(at).collect();
            filled = format!("{before} {text} {after}");
            *string = "<<here>>".to_owned();
        }
        seen += 1;
    });
    frame.to_string().replace("\"<<here>>\"", &spelling.literal(&filled))
}

/// Cuts a text at these places.
fn cut<T: Clone>(text: &[T], cuts: &[Index]) -> Vec<Vec<T>> {
    let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
    cuts.sort_unstable();
    let mut pieces = Vec::new();
    let mut start = 0;
    for end in cuts.into_iter().chain([text.len()]) {
        pieces.push(text[start..end].to_vec());
        start = end;
    }
    pieces
}

/// A tape with secrets, and which of its records have any.
struct Tape {
    header: Header,
    records: Vec<Record>,
    touched: Vec<bool>,
}

impl Tape {
    fn new(plants: &[Plant]) -> Self {
        let header = Header::new("2026-11-16T08:00:00Z".parse().unwrap());
        let mut tape = Self { header, records: Vec::new(), touched: Vec::new() };
        for (number, plant) in plants.iter().enumerate() {
            tape.plant(number, plant);
        }
        tape
    }

    fn push(&mut self, entry: Entry, touched: bool) {
        let seq = self.records.len() as u64 + 1;
        self.records.push(Record { seq, us: seq, entry });
        self.touched.push(touched);
    }

    fn line(&mut self, channel: Channel, text: impl Into<Vec<u8>>, touched: bool) {
        let text = Text::from(text.into());
        self.push(Entry::Line { channel, text, more: false }, touched);
    }

    fn plant(&mut self, number: usize, plant: &Plant) {
        let Plant { planted: Planted { text, .. }, site, spelling, frame } = plant;
        let frame = &FRAMES[frame.index(FRAMES.len())];
        match site {
            Site::Frame { leaf, at, layers } => {
                let text = (0..*layers).fold(text.clone(), |text, _| {
                    format!("{{\"n\":1.50,\"s\":{}}}", spelling.literal(&text))
                });
                let line = frame_with(frame, &text, *leaf, *at, *spelling);
                self.line(Channel::Out, line, true);
            }
            Site::Pieces { leaf, at, cuts } => {
                let line = frame_with(frame, text, *leaf, *at, *spelling);
                let mut pieces = cut(line.as_bytes(), cuts);
                let last = pieces.pop().unwrap();
                for piece in pieces {
                    let entry =
                        Entry::Line { channel: Channel::In, text: piece.into(), more: true };
                    self.push(entry, true);
                    self.line(Channel::Err, "something else", false);
                }
                self.line(Channel::In, last, true);
            }
            Site::Deltas { field, at, cuts } => {
                let text = if *field == "partial_json" {
                    format!("{{\"s\": {}}}", spelling.literal(text))
                } else {
                    let words = "some words before and after";
                    let (before, after) = words.split_at(at.index(words.len() + 1));
                    format!("{before} {text} {after}")
                };
                for part in cut(&text.chars().collect::<Vec<_>>(), cuts) {
                    let part = spelling.literal(&part.iter().collect::<String>());
                    let line = format!(
                        r#"{{"type":"stream_event","event":{{"type":"content_block_delta","index":{number},"delta":{{"type":"any","{field}":{part}}}}},"session_id":"s","parent_tool_use_id":null}}"#
                    );
                    self.line(Channel::Out, line, true);
                    self.line(Channel::Out, frame.to_string(), false);
                }
            }
            Site::Stderr => self.line(Channel::Err, format!("warning: {text}"), true),
            Site::Bytes => {
                self.line(Channel::Err, [b"\xff\xfe ", text.as_bytes(), b" \xc3"].concat(), true);
            }
            Site::Argument => self.header.argv.push(text.clone()),
            Site::Note => {
                self.push(Entry::Note(Note::Comment { text: format!("see {text}") }), true);
            }
        }
        self.line(Channel::Out, frame.to_string(), false);
    }
}

/// Looks for a secret in a text and in everything that can be read from it as JSON.
fn is_in(text: &str, secret: &str) -> bool {
    let mut found = text.contains(secret);
    if let Ok(mut value) = serde_json::from_str::<Value>(text) {
        strings(&mut value, &mut |string| found |= string != text && is_in(string, secret));
    }
    found
}

/// Everything that a reader can see of a tape: the file, its lines, the joined blocks.
fn all_texts(path: &Path) -> Vec<String> {
    let mut texts = vec![String::from_utf8(std::fs::read(path).unwrap()).unwrap()];
    let reader = TapeReader::open(path).unwrap();
    texts.extend(reader.header().argv.iter().cloned());
    let mut blocks = HashMap::<String, String>::new();
    for record in reader.map(Result::unwrap) {
        match record.entry {
            Entry::Line { text, .. } => {
                texts.push(String::from_utf8_lossy(text.as_bytes()).into_owned());
            }
            Entry::Note(note) => texts.push(serde_json::to_string(&note).unwrap()),
            Entry::End(_) => {}
        }
    }
    for item in TapeLines::new(TapeReader::open(path).unwrap()) {
        let TapeItem::Line(line) = item.unwrap() else { continue };
        let line = String::from_utf8_lossy(line.text.as_bytes()).into_owned();
        if let Ok(frame) = serde_json::from_str::<Value>(&line)
            && let Some(delta) = frame.pointer("/event/delta")
        {
            for field in ["text", "thinking", "partial_json"] {
                let key = format!("{field} {} {}", frame["event"]["index"], frame["session_id"]);
                let part = delta[field].as_str().unwrap_or_default();
                blocks.entry(key).or_default().push_str(part);
            }
        }
        texts.push(line);
    }
    // Those of the fixtures are not whole.
    let is_ours = |key: &str| key.starts_with("partial_json") && key.ends_with("\"s\"");
    for (_, json) in blocks.iter().filter(|(key, json)| is_ours(key) && !json.is_empty()) {
        assert!(serde_json::from_str::<Value>(json).is_ok(), "not JSON: {json}");
    }
    texts.extend(blocks.into_values());
    texts
}

/// The shape of a JSON text: everything but its strings, and of those that are JSON the shape.
fn shape(text: &[u8]) -> Option<Value> {
    let mut value: Value = serde_json::from_slice(text).ok()?;
    let mut number = 0;
    strings(&mut value, &mut |string| {
        number += 1;
        let inner = shape(string.as_bytes()).filter(Value::is_object);
        *string = format!("{number} {}", inner.unwrap_or_default());
    });
    Some(value)
}

/// The shapes of all lines of a tape.
fn shapes(path: &Path) -> Vec<Option<Value>> {
    let lines = TapeLines::new(TapeReader::open(path).unwrap());
    let shape = |item| match item {
        Ok(TapeItem::Line(line)) => shape(line.text.as_bytes()),
        _ => None,
    };
    lines.map(shape).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_planted_secret_is_left(plants in prop::collection::vec(plant(), 1..12)) {
        let folder = tempfile::tempdir().unwrap();
        let [input, output, again] = ["in", "out", "again"].map(|name| folder.path().join(name));
        let tape = Tape::new(&plants);
        write(&input, &tape.header, &tape.records);
        let manifest = REDACTOR.clone().redact_file(&input, &output).unwrap();

        let texts = all_texts(&output);
        for Plant { planted, .. } in &plants {
            for text in &texts {
                prop_assert!(!is_in(text, &planted.secret), "{planted:?} is in {text}");
            }
            prop_assert!(!serde_json::to_string(&manifest).unwrap().contains(&planted.secret));
        }

        let lines = |path| std::fs::read_to_string(path).unwrap();
        let (before, after) = (lines(&input), lines(&output));
        prop_assert_eq!(before.lines().count(), after.lines().count());
        for (at, (before, after)) in before.lines().zip(after.lines()).skip(1).enumerate() {
            if !tape.touched[at] {
                prop_assert_eq!(before, after);
            }
            let [before, after] =
                [before, after].map(|line| Record::parse(line.as_bytes()).unwrap());
            prop_assert_eq!((before.seq, before.us), (after.seq, after.us));
        }
        prop_assert_eq!(shapes(&input), shapes(&output));

        let second = REDACTOR.clone().redact_file(&output, &again).unwrap();
        prop_assert_eq!(second.total, 0);
        prop_assert_eq!(lines(&again), after);
    }
}
