//! `lab drift`, on scripts that print help and a stand-in for npm.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Ran, command, ran, script};

/// What both programs have: a shell does not read behind `exit`, and the search does.
fn program(version: &str, help: &str, inside: &str) -> String {
    format!(
        "#!/bin/sh\n\
         case \"$1\" in\n\
         --version) echo '{version} (Claude Code)' ;;\n\
         --help) cat <<'END'\n{help}\nEND\n ;;\n\
         *) exit 3 ;;\n\
         esac\n\
         exit\n{inside}\n"
    )
}

const OLD_HELP: &str =
    "Options:\n  --model <model>  Model\n  --old  Goes\n\nCommands:\n  mcp  Servers";
const NEW_HELP: &str =
    "Options:\n  --model [model]  Model\n  --new  Comes \u{1b}[31mred\n\nCommands:\n  mcp  Servers";
const OLD_INSIDE: &str = r#"H=["PreToolUse","Stop"],M=["acceptEdits","plan"],x="auto""#;
const NEW_INSIDE: &str = r#"H=["PreToolUse","Stop","PreBeam"],M=["acceptEdits","plan","auto"],
{subtype:z.literal("list_models")},{subtype:z.literal("beam_up")},new O("--hidden","Not told")"#;

/// Has one version of the SDK for each number and the newest CLI, and says in `calls` what it is
/// asked.
const NPM: &str = r#"#!/bin/sh
echo "$*" >> "$RECORD/calls"
for last; do :; done
case "$*" in
"view @anthropic-ai/claude-code"*) echo 2.1.325; exit ;;
install*/claude-code@2.1.325*)
    package="$3/node_modules/@anthropic-ai/claude-code"
    mkdir -p "$package" && printf '{"version":"2.1.325"}' > "$package/package.json"
    mkdir -p "$package-linux-x64" && cp "$RECORD/new" "$package-linux-x64/claude"
    exit ;;
esac
if [ "$1" = view ] && [ "$3" = versions ]; then echo '["0.1.325","0.2.197","0.3.325"]'; exit; fi
case "$*" in
*@0.2.197*) cli=2.1.197 type="'a' | 'b'" ;;
*@0.3.325*) cli=2.1.325 type="'a' | 'c'" ;;
*) echo 1.0.0; exit ;;
esac
if [ "$1" = view ]; then echo $cli; exit; fi
folder="$3/node_modules/@anthropic-ai/claude-agent-sdk"
mkdir -p "$folder"
printf '{"version":"%s","claudeCodeVersion":"%s"}' "${last##*@}" $cli > "$folder/package.json"
printf 'export type Mode = %s;\nexport type V%s = 1;\n' "$type" "${cli##*.}" > "$folder/sdk.d.ts"
"#;

/// A machine with two programs and something for npm.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        script(&path.join("old"), &program("2.1.197", OLD_HELP, OLD_INSIDE));
        script(&path.join("new"), &program("2.1.325", NEW_HELP, NEW_INSIDE));
        script(&path.join("bin/npm"), NPM);
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn drift(&self, arguments: &[&str]) -> Ran {
        let mut command = command(self.path());
        command
            .args(["lab", "drift"])
            .args(arguments)
            .env("PATH", format!("{}:/usr/bin:/bin", self.path().join("bin").display()))
            .env("COUNTERSIGN_CLI_CACHE", self.path().join("cache"))
            .env("RECORD", self.path());
        ran(&mut command)
    }

    fn calls(&self) -> String {
        fs::read_to_string(self.path().join("calls")).unwrap_or_default()
    }
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

#[test]
fn what_changed_is_told_for_people() {
    let machine = Machine::new();
    let told = machine.drift(&["./old", "./new", "--no-experiments", "-q"]);
    assert_eq!((told.code, told.err.as_str()), (Some(0), ""), "{}", told.out);
    for expected in [
        "# Claude Code 2.1.197 → 2.1.325\n",
        "| names of the protocol | 4, 2 of them unknown to countersign-protocol | 0 |  |\n",
        "| flags in `--help` | 1 | 1 | 1, and 0 in other words |\n",
        "| published types (SDK 0.2.197 → 0.3.325) | 1 | 1 | 1 |\n",
        "| experiments | left out |",
        "does not know yet:\n\n- control subtypes (1): `beam_up`\n- hook events (1): `PreBeam`\n",
        "- permission modes (1): `auto`\n",
        "- appeared (1): `--hidden`\n",
        "- `--model [model]`: Model  \n  before: `--model <model>`: Model\n",
        "- `Mode`; new: `'c'`; gone: `'b'`\n",
    ] {
        assert!(told.out.contains(expected), "{expected:?} is not in\n{}", told.out);
    }
    assert!(!told.out.contains('\u{1b}'), "nothing from outside controls the terminal");

    // What is installed is not asked for again, and a file gets the same.
    let calls = machine.calls();
    assert_eq!(calls.lines().filter(|call| call.starts_with("install")).count(), 2, "{calls}");
    let to_file = ["./old", "./new", "--no-experiments", "-q", "--output", "drift.md"];
    assert_eq!(machine.drift(&to_file).out, "");
    assert_eq!(fs::read_to_string(machine.path().join("drift.md")).unwrap(), told.out);
    assert_eq!(machine.calls(), calls);
}

#[test]
fn the_newest_version_is_looked_up_and_installed() {
    let machine = Machine::new();
    let told = machine.drift(&["./old", "latest", "--no-experiments", "-q"]);
    assert_eq!((told.code, told.err.as_str()), (Some(0), ""), "{}", told.out);
    assert!(told.out.starts_with("# Claude Code 2.1.197 → 2.1.325\n"), "{}", told.out);
    let calls = machine.calls();
    assert!(calls.lines().any(|call| call.contains("/claude-code@2.1.325")), "{calls}");
}

#[test]
fn what_changed_is_told_for_programs() {
    let machine = Machine::new();
    let told = machine.drift(&["./old", "./new", "--no-experiments", "--json"]);
    assert_eq!((told.code, told.err.as_str()), (Some(0), ""));
    let drift: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!((&drift["old"], &drift["new"]), (&"2.1.197".into(), &"2.1.325".into()));
    assert_eq!(
        names(&drift["names"]["appeared"]),
        ["beam_up", "list_models", "PreBeam", "auto", "--hidden"]
    );
    assert_eq!(drift["names"]["appeared"][1]["known"], true);
    assert_eq!(drift["help"]["flags"]["removed"][0]["names"][0], "--old");
    assert_eq!(names(&drift["types"]["added"]), ["V325"]);
    assert_eq!(drift["experiments"]["is"], "left-out");
}

#[test]
fn the_same_program_has_not_changed() {
    let machine = Machine::new();
    let told = machine.drift(&["./new", "./new", "--no-experiments", "-q"]);
    assert_eq!((told.code, told.err.as_str()), (Some(0), ""));
    for expected in [
        "countersign-protocol knows every name that appeared",
        "## Names of the protocol\n\nThe same in both.\n",
        "`--help` tells of the same ones in both.",
        "All other declarations are the same in both.",
    ] {
        assert!(told.out.contains(expected), "{expected:?} is not in\n{}", told.out);
    }
}

#[test]
fn what_could_not_be_looked_at_is_said_and_the_rest_goes_on() {
    let machine = Machine::new();
    let wrapper = program("2.1.197", "no flags here", "");
    script(&machine.path().join("old"), &wrapper);
    let told = machine.drift(&["./old", "./new", "--no-run", "-q"]);
    assert_eq!(told.code, Some(1));
    let expected = [
        "not looked at: the help text: no flags were found",
        "not looked at: the names in the executable: no names of the protocol are in ",
        "not looked at: the experiments: there are no results in drift/2.1.197",
    ];
    for (line, expected) in told.err.lines().zip(expected) {
        assert!(line.starts_with(expected), "{line}");
    }
    assert_eq!(told.err.lines().count(), 3, "{}", told.err);
    assert!(told.out.contains("## Not looked at\n\n- the help text: "), "{}", told.out);
    assert!(told.out.contains("- `Mode`; new: `'c'`"), "{}", told.out);

    // A version without an SDK is nothing that went wrong.
    script(&machine.path().join("old"), &program("2.1.7", OLD_HELP, OLD_INSIDE));
    let told = machine.drift(&["./old", "./new", "--no-experiments", "-q"]);
    assert_eq!((told.code, told.err.as_str()), (Some(0), ""));
    let expected = "| published types | there is no TypeScript SDK that belongs to 2.1.7 |";
    assert!(told.out.contains(expected), "{}", told.out);

    script(&machine.path().join("bin/npm"), "#!/bin/sh\necho broken >&2\nexit 1\n");
    let told = machine.drift(&["./old", "./new", "--no-experiments", "-q"]);
    assert_eq!(told.code, Some(1));
    assert_eq!(told.err, "not looked at: the published types: npm failed: broken\n");
    assert_eq!(machine.drift(&["./none", "./new"]).code, Some(5));
}

#[test]
fn results_of_experiments_are_compared() {
    let machine = Machine::new();
    for (version, verdict, value) in [
        ("2.1.197", r#"{"is":"as-documented"}"#, "plan"),
        ("2.1.325", r#"{"is":"differs","differences":[]}"#, "default"),
    ] {
        let folder = machine.path().join("kept").join(version);
        fs::create_dir_all(&folder).unwrap();
        let text = format!(
            r#"{{"version":"{version}","simulated":false,"time":"2026-01-01T00:00:00Z","experiments":[
            {{"experiment":"A","name":"a-plan","question":"?","verdict":{verdict},
            "findings":[{{"name":"mode","value":"{value}","documented":"plan"}}],
            "summary":SUMMARY,"tapes":[],"took_ms":1}}]}}"#
        );
        let text = text.replace("SUMMARY", SUMMARY);
        fs::write(folder.join("results.json"), text).unwrap();
    }
    let told = machine.drift(&["./old", "./new", "--no-run", "--out", "kept", "-q"]);
    assert_eq!((told.code, told.err.as_str()), (Some(0), ""), "{}", told.out);
    for expected in [
        "| 1 experiment |  |  | 1 verdict, 1 finding |\n",
        "- A a-plan: as documented → differs\n",
        "| A | mode | plan | default |\n",
    ] {
        assert!(told.out.contains(expected), "{expected:?} is not in\n{}", told.out);
    }
}

/// A conversation in which nothing was said.
const SUMMARY: &str = r#"{"from_cli":0,"to_cli":0,"control_responses":0,"permission_requests":0,
    "permission_answers":0,"tools_asked_for":[]}"#;

/// What is known to have changed, found in the real executables.
#[cfg(feature = "real-cli")]
#[test]
fn what_changed_in_the_real_cli_is_found() {
    use countersign_lab::{Version, Versions};
    let folder = tempfile::tempdir().unwrap();
    let versions = Versions::in_default_folder().unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        for version in [Version::new(2, 1, 62), Version::new(2, 1, 325)] {
            versions.install(version).await.unwrap();
            versions.sdk(version).await.unwrap().unwrap();
        }
    });
    // Once all is installed, the package manager is asked for nothing, and nothing else needs a
    // network. Node.js runs the oldest version.
    let npm = script(&folder.path().join("bin/npm"), "#!/bin/sh\nexit 1\n");
    let path = format!("{}:{}", npm.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut drift = command(folder.path());
    drift.args(["lab", "drift", "2.1.62", "2.1.325", "--no-experiments", "--json"]);
    let told = ran(drift.env("PATH", path));
    assert_eq!((told.code, told.err.as_str()), (Some(0), ""));
    let found: Value = serde_json::from_str(&told.out).unwrap();
    let appeared = &found["names"]["appeared"];
    for (kind, name) in [
        ("hook", "PostModelSwitch"),
        ("control", "list_models"),
        ("system", "background_tasks_changed"),
        ("mode", "auto"),
        ("flag", "--await-initialize"),
        ("error", "unsupported_request"),
    ] {
        let is_it = |item: &Value| item["kind"] == kind && item["name"] == name;
        assert!(appeared.as_array().unwrap().iter().any(is_it), "{kind} {name} in {appeared}");
    }
    for old in ["PreToolUse", "interrupt", "can_use_tool", "acceptEdits", "assistant"] {
        assert!(!names(appeared).contains(&old), "{old} was there before");
    }
    let flags = &found["help"]["flags"]["added"];
    let is_bare = |flag: &Value| flag["names"][0] == "--bare";
    assert!(flags.as_array().unwrap().iter().any(is_bare), "{flags}");
    let types = &found["types"];
    assert_eq!((&types["old"], &types["new"]), (&"0.2.62".into(), &"0.3.325".into()));
    assert!(names(&types["added"]).contains(&"SDKControlListModelsRequest"));
    let unions = types["unions"].as_array().unwrap();
    let events = unions.iter().find(|union| union["name"] == "HookEvent").unwrap();
    assert!(events["added"].as_array().unwrap().contains(&"'PostModelSwitch'".into()), "{events}");
}
