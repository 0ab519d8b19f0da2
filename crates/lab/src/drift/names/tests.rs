use proptest::prelude::*;

use super::*;

/// What a version might look like inside.
const OLD: &str = r#"
z.object({type:z.literal("assistant"),uuid:q(),session_id:z.string()})
z.object({type:z.literal("system"),subtype:z.literal("status"),uuid:q(),session_id:q()})
case e.subtype==="interrupt":{type:"system",subtype:"status"}
var H=["PreToolUse","Stop"],M=["acceptEdits","plan"],x="auto",y="list_models_of";
.option("--model <model>","Model").option("-p, --print","Print")
{error_code:"not_found"}
"#;

const NEW: &str = r#"
z.object({type:z.literal("assistant"),uuid:q(),session_id:z.string()})
z.object({type:z.literal("hologram"),uuid:q(),session_id:z.string()})
{subtype:Z.literal("list_models")}{subtype:Z("beam_up")}{subtype==="interrupt"}
z.object({type:z.literal("system"),subtype:z.literal("weather"),uuid:q(),session_id:q()})
{type:"system",subtype:f?"a":"b"},"status"
var H=["PreToolUse","Stop","PostModelSwitch","PreBeam"],M=["acceptEdits","plan","auto"];
.option("--model-of <model>","Model").option("-p, --print","Print").addOption(new O("--await-x [y]",`z`))
{error_code:"not_found",error_code:"too_far"}
"#;

fn compared(old: &str, new: &str) -> Names {
    let folder = tempfile::tempdir().unwrap();
    let paths = [("old", old), ("new", new)].map(|(name, text)| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    });
    compare(&paths[0], &paths[1], || ()).unwrap()
}

fn shown(names: &[Name]) -> Vec<String> {
    names.iter().map(|name| format!("{:?} {} {}", name.kind, name.name, name.known)).collect()
}

#[test]
fn names_that_appear_and_vanish_are_told() {
    let names = compared(OLD, NEW);
    let expected = [
        "Frame hologram false",
        "Control beam_up false",
        "Control list_models true",
        "System weather false",
        "Hook PostModelSwitch true",
        "Hook PreBeam false",
        "Mode auto true",
        "Error too_far false",
        "Flag --await-x false",
        "Flag --model-of false",
    ];
    assert_eq!(shown(&names.appeared), expected);
    assert_eq!(shown(&names.vanished), ["Flag --model false"]);
    let unknown: Vec<_> = names.unknown().map(|name| name.name.as_str()).collect();
    assert_eq!(unknown, ["hologram", "beam_up", "weather", "PreBeam", "too_far"]);
    assert_eq!(shown(&compared(NEW, OLD).vanished), expected);
}

#[test]
fn a_pattern_that_misses_makes_no_false_report() {
    // The same name, said in a way that no pattern finds.
    let old = OLD.replace(r#"{error_code:"not_found"}"#, r#"f("beam_up"),g="too_far""#);
    let names = compared(&old, NEW);
    assert!(!names.appeared.iter().any(|name| ["beam_up", "too_far"].contains(&&*name.name)));
    let expected = ["Control beam_up false", "Error too_far false"];
    assert_eq!(shown(&names.perhaps_appeared), expected);
}

#[test]
fn a_file_without_names_is_not_taken_for_one_that_lost_them_all() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    std::fs::write(&old, OLD).unwrap();
    std::fs::write(&new, "#!/bin/sh\nexec claude\n").unwrap();
    let error = compare(&old, &new, || ()).unwrap_err();
    assert!(matches!(&error, SearchError::Nothing { path } if *path == new), "{error}");
}

/// What is found in a text that is cut like this.
fn found(text: &[u8], chunks: Chunks) -> (Found, BTreeSet<(Kind, String)>) {
    let patterns = Patterns::new().unwrap();
    let mut found = Found::default();
    chunks.each(text, |chunk| patterns.search(chunk.bytes, &mut found)).unwrap();
    let candidates = candidates(&found, &found);
    let mut presence = Presence::new(&candidates).unwrap();
    chunks.each(text, |chunk| presence.search(chunk)).unwrap();
    (found, presence.seen())
}

proptest! {
    // Each case compiles patterns and an automaton.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn names_are_found_wherever_the_file_is_cut(
        before in 0_usize..700, behind in 0_usize..700, size in 601_usize..900,
    ) {
        let text = [" ".repeat(before), NEW.to_owned(), " ".repeat(behind)].concat();
        let whole = found(NEW.as_bytes(), Chunks::USUAL);
        prop_assert_eq!(found(text.as_bytes(), Chunks { size, overlap: 600 }), whole);
    }

    #[test]
    fn any_bytes_can_be_searched(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        text in r#"([\[\]",]|"PreToolUse"|subtype:"a"|type:|--|[a-z]){0,60}"#,
        size in 5_usize..50,
    ) {
        for bytes in [&bytes[..], text.as_bytes()] {
            found(bytes, Chunks { size, overlap: 4 });
        }
    }
}
