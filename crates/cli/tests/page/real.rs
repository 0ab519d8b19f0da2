//! All of it with the real CLI.

use std::fs;

use countersign_lab::script::Script;
use countersign_lab::{Lab, Program, Version, Versions};

use crate::flows::{self, SCRIPT};
use crate::kit::{Page, test_on};
use crate::served::{Served, place};
use crate::support::script;

/// The newest version that is known.
const VERSION: Version = Version::new(2, 1, 325);

/// Runs a test on a server with the real CLI.
async fn on_the_real_cli(name: &str, test: impl AsyncFnOnce(&Page<'_>)) {
    let versions = Versions::in_default_folder().unwrap();
    let installed = versions.install(VERSION).await.unwrap_or_else(|error| panic!("{error}"));
    let text = Script::parse(SCRIPT, "script").unwrap_or_else(|error| panic!("{error}"));
    let lab = Lab::builder(Program::Real(installed), text).start().await;
    let lab = lab.unwrap_or_else(|error| panic!("{error}"));
    // The server starts the CLI of the laboratory: in its network, with its environment.
    let (program, environment) = lab.for_a_client().unwrap();
    let folder = place(SCRIPT);
    let exported = environment
        .iter()
        .map(|(name, value)| format!("export {name}='{}'\n", value.replace('\'', r"'\''")));
    let exported: String = exported.collect();
    let claude = format!("#!/bin/sh\n{exported}exec '{}' \"$@\"\n", program.display());
    fs::remove_file(folder.path().join("claude")).unwrap();
    script(&folder.path().join("claude"), &claude);
    // The model knows the working folder of the laboratory.
    fs::remove_dir(folder.path().join("work")).unwrap();
    std::os::unix::fs::symlink(lab.work(), folder.path().join("work")).unwrap();
    let config = folder.path().join(".config/countersign");
    fs::create_dir_all(&config).unwrap();
    let home = format!("[cli]\nhome = {:?}\n", lab.home());
    fs::write(config.join("server.toml"), home).unwrap();
    let served = tokio::task::block_in_place(|| Served::of(folder, &[], &[]));

    test_on(name, served, test).await;
    lab.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_are_decided_with_the_real_cli() {
    on_the_real_cli("calls_are_decided_with_the_real_cli", async |page| {
        flows::a_session_is_started_with_the_form(page).await;
        flows::allowed_once(page).await;
        flows::an_agent_asks(page).await;
        flows::allowed_with_a_rule(page).await;
        flows::edited_and_allowed(page).await;
        flows::denied_with_a_message(page).await;
        flows::denied_and_stopped(page).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plans_and_questions_are_answered_with_the_real_cli() {
    on_the_real_cli("plans_and_questions_are_answered_with_the_real_cli", async |page| {
        flows::plan_with_edits_accepted(page).await;
        again(page, "planned.txt");
        flows::plan_with_each_edit_approved(page).await;
        again(page, "planned.txt");
        flows::plan_with_a_clear_context(page).await;
        flows::plan_sent_back(page).await;
        flows::plan_sent_back_with_edits(page).await;
        flows::plan_edited(page).await;
        flows::questions_answered(page).await;
        flows::questions_replied_to(page).await;
        flows::questions_skipped(page).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_spoken_to_with_the_real_cli() {
    on_the_real_cli("sessions_are_spoken_to_with_the_real_cli", async |page| {
        flows::interrupted(page).await;
        flows::waiting_messages_are_changed(page).await;
        flows::commands_are_suggested(page).await;
        flows::reloaded_in_the_middle(page).await;
        flows::a_picture_is_sent(page).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_last_with_the_real_cli() {
    on_the_real_cli("answers_last_with_the_real_cli", async |page| {
        flows::closed_on_a_second_page(page).await;
        again(page, "one.txt");
        flows::killed_and_restarted(page).await;
        flows::parked_and_answered(page).await;
        again(page, "one.txt");
        flows::on_a_phone(page).await;
        again(page, "one.txt");
        flows::with_the_keyboard_alone(page).await;
    })
    .await;
}

/// Has a file be written anew, which the CLI would want to read first.
fn again(page: &Page<'_>, name: &str) {
    fs::remove_file(page.served.borrow().work().join(name)).unwrap();
}
