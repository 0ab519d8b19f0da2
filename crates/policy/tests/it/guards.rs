//! What ends what runs, and what switches off what protects.

use countersign_policy::{Call, notes};
use serde_json::json;

use crate::{check, check_words, place};

#[test]
fn what_ends_programs() {
    check(&[
        ("kill 1234", "stops"),
        ("kill -9 1234 5678", "stops"),
        ("kill -9 -1", "stops"),
        ("kill -s TERM 1234", "stops"),
        ("kill $(lsof -ti:3000)", "stops"),
        ("kill \"$PID\"", "stops"),
        ("PID=$!; PID=1; kill $PID", "stops"),
        ("kill $! 1", "stops"),
        ("pkill node", "stops"),
        ("pkill -f 'vite dev'", "stops"),
        ("pkill -u me", "stops"),
        ("killall -9 node", "stops"),
        ("pgrep node | xargs kill -9", "stops"),
        ("fuser -k 3000/tcp", "stops"),
        ("tmux kill-server", "stops"),
        ("sudo pkill node", "stops privilege"),
        ("shutdown -h now", "stops"),
        ("sudo reboot", "stops privilege"),
        ("poweroff", "stops"),
        ("halt -p", "stops"),
        ("init 0", "stops"),
        ("systemctl stop nginx", "stops"),
        ("systemctl --user disable --now app", "stops"),
        ("systemctl mask app.service", "stops"),
        ("systemctl reboot", "stops"),
        ("loginctl terminate-user me", "stops"),
        ("service nginx stop", "stops"),
        ("launchctl unload app.plist", "stops"),
        ("bash -c 'sleep 1; kill 1'", "stops"),
    ]);
}

#[test]
fn what_checks_nobody() {
    check(&[
        ("curl -k https://x.example", "unguarded"),
        ("curl -sSkL https://x.example", "unguarded"),
        ("curl --insecure https://x.example", "unguarded"),
        ("curl -k https://localhost:1 https://x.example", "unguarded"),
        ("wget --no-check-certificate https://x.example", "unguarded"),
        ("http --verify=no https://x.example", "unguarded"),
        ("git -c http.sslVerify=false clone https://x.example/y", "unguarded"),
        ("git config http.sslVerify false", "unguarded"),
        ("git config --global http.https://x.example/.sslVerify false", "unguarded outside"),
        ("GIT_SSL_NO_VERIFY=1 git fetch", "unguarded"),
        ("export GIT_SSL_NO_VERIFY=true; git fetch", "unguarded"),
        ("NODE_TLS_REJECT_UNAUTHORIZED=0 npm test", "unguarded"),
        ("env NODE_TLS_REJECT_UNAUTHORIZED=0 npm test", "unguarded"),
        ("npm config set strict-ssl false", "unguarded"),
        ("npm set strict-ssl=false", "unguarded"),
        ("yarn config set strict-ssl false", "unguarded"),
        ("npm ci --strict-ssl=false", "unguarded"),
        ("pip install --trusted-host x.example y", "unguarded"),
        ("python3 -m pip install --trusted-host=x.example y", "unguarded"),
        ("PIP_TRUSTED_HOST=x.example pip install y", "unguarded"),
        ("kubectl --insecure-skip-tls-verify get pods", "unguarded"),
        ("aws --no-verify-ssl s3 ls", "unguarded"),
        ("ssh -o StrictHostKeyChecking=no x.example uptime", "unguarded"),
        ("ssh -oStrictHostKeyChecking=no x.example uptime", "unguarded"),
        ("GIT_SSH_COMMAND='ssh -o StrictHostKeyChecking=no' git fetch", "unguarded"),
        ("claude -p x --dangerously-skip-permissions", "unguarded"),
        ("setenforce 0", "unguarded"),
        ("sudo ufw disable", "unguarded privilege"),
    ]);
}

#[test]
fn a_call_without_the_sandbox_is_told() {
    let texts = |input: &serde_json::Value| {
        let notes = notes(&Call { tool: "Bash", input }, &place());
        notes.into_iter().map(|note| note.text).collect::<Vec<_>>()
    };
    let off = json!({"command": "ls", "dangerouslyDisableSandbox": true});
    assert_eq!(texts(&off), ["runs outside of the sandbox"]);
    let on = json!({"command": "ls", "dangerouslyDisableSandbox": false});
    assert!(texts(&on).is_empty());
}

#[test]
fn it_is_said_what_ends_and_what_is_not_checked() {
    check_words("kill -9 12 13", &["ends processes: 12, 13 (with kill)"]);
    check_words("pgrep a | xargs kill", &["ends processes: those that it is given (with kill)"]);
    check_words("systemctl stop a b", &["ends services: a, b (systemctl stop)"]);
    check_words("reboot", &["ends the machine, or all that runs on it (reboot)"]);
    check_words(
        "curl -k https://x.example",
        &["does not check who is at the other end (with curl)"],
    );
    check_words(
        "NODE_TLS_REJECT_UNAUTHORIZED=0 npm test",
        &["does not check who is at the other end (NODE_TLS_REJECT_UNAUTHORIZED)"],
    );
}
