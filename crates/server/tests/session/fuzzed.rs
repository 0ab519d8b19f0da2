//! The API, fuzzed from its own description.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use countersign_lab::Versions;
use countersign_server::access::first::read_token;
use libtest_mimic::Trial;

use crate::asking::WRITE;
use crate::kit::{Cli, Outcome, V325, World, trial};

/// The version of Schemathesis.
const VERSION: &str = "4.32.5";

/// Gives each command a key of its own, or else nearly all would be refused because of their keys.
const HOOKS: &str = r#"
import re
import uuid

import schemathesis
from schemathesis.specs.openapi import checks

# Whoever has failed too often is refused with 429. How often that is by then depends on the time.
checks.AUTH_REJECTION_STATUSES = {*checks.AUTH_REJECTION_STATUSES, 429}


@schemathesis.hook
def before_call(context, case, kwargs):
    key = (case.headers or {}).get("Idempotency-Key")
    if isinstance(key, str) and re.fullmatch("[!-~]{1,255}", key):
        case.headers["Idempotency-Key"] = str(uuid.uuid4())
"#;

/// What has to hold for every answer.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_headers_conformance,response_schema_conformance,\
                      negative_data_rejection,missing_required_header,unsupported_method,ignored_auth";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("fuzzed::about_anything", || fuzzed(false)),
        trial("fuzzed::about_what_is_there", || fuzzed(true)),
    ]
}

/// Requests made of the description, right ones and wrong ones: none makes the server fail, and each is
/// answered as the description says. In the second round they are about sessions and approvals that are
/// there.
async fn fuzzed(about_what_is_there: bool) -> Outcome {
    let world = World::new(Cli::Simulated(V325), WRITE).await;
    let asking = world.create("Write it.").await;
    let asked = world.asked(asking).await;
    let token = read_token(&world.config.data).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut config = format!(
        "hooks = \"hooks.py\"\nheaders = {{ Authorization = \"Bearer {}\" }}\n",
        token.expose()
    );
    let address = world.client.address();
    let document = format!("{}/api/v1/openapi.json", address.trim_end_matches('/'));
    // Streams do not end. A session that is there is not to be deleted.
    let mut arguments = vec!["--exclude-path-regex", "/stream$"];
    if about_what_is_there {
        let ids = format!("\"path.session\" = \"{asking}\"\n\"path.approval\" = \"{}\"", asked.id);
        config.extend(["[parameters]\n", &ids, "\n"]);
        arguments.extend(["--include-path-regex", "session}|approval}"]);
        arguments.extend(["--exclude-operation-id", "deleteSession"]);
    }
    let file = folder.path().join("schemathesis.toml");
    fs::write(folder.path().join("hooks.py"), HOOKS).unwrap();
    fs::write(&file, config).unwrap();
    let program = tokio::task::spawn_blocking(schemathesis).await.unwrap();
    #[expect(clippy::disallowed_methods, reason = "Schemathesis is no CLI of ours")]
    let mut command = tokio::process::Command::new(program);
    command.arg("--config-file").arg(&file).args(["run", &document, "--checks", CHECKS]);
    command.args(["--phases", "examples,coverage,fuzzing", "--seed", "1", "--max-examples", "20"]);
    command.args(["--no-color", "--generation-database", "none", "--continue-on-failure"]);
    // The token is given; with a cookie beside it, a request would have to come from a page.
    command.args(["--generation-with-security-parameters", "false"]);
    command.args(arguments).current_dir(folder.path()).kill_on_drop(true);
    let output = command.output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{wrong}");
    world.close().await
}

/// Schemathesis in an environment of its own, made once.
fn schemathesis() -> PathBuf {
    let cache = Versions::in_default_folder().unwrap();
    let folder = cache.folder().join(format!("schemathesis-{VERSION}"));
    make(&folder);
    folder.join("bin/schemathesis")
}

fn make(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let lock = File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let done = folder.join("done");
    if done.exists() {
        return;
    }
    let folder = folder.to_str().unwrap();
    run("python3", &["-m", "venv", folder]);
    let package = format!("schemathesis=={VERSION}");
    let python = format!("{folder}/bin/python");
    run(&python, &["-m", "pip", "install", "--quiet", "--no-cache-dir", &package]);
    File::create(done).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "it is installed with Python's own tools")]
fn run(program: &str, arguments: &[&str]) {
    let status = std::process::Command::new(program).args(arguments).status().unwrap();
    assert!(status.success(), "{program} {arguments:?}: {status}");
}
