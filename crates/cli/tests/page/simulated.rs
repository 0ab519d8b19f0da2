//! What people do on the page, with the simulated CLI: each on a server and in a browser of its own.

use crate::flows::{self, SCRIPT};
use crate::kit::test;

macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        $(
            #[tokio::test]
            async fn $name() {
                test(stringify!($name), SCRIPT, flows::$name).await;
            }
        )*
    };
}

tests![
    a_session_is_started_with_the_form,
    allowed_once,
    an_agent_asks,
    allowed_with_a_rule,
    edited_and_allowed,
    denied_with_a_message,
    denied_and_stopped,
    plan_with_edits_accepted,
    plan_with_each_edit_approved,
    plan_with_a_clear_context,
    plan_sent_back,
    plan_sent_back_with_edits,
    plan_edited,
    questions_answered,
    questions_replied_to,
    questions_skipped,
    interrupted,
    waiting_messages_are_changed,
    commands_are_suggested,
    reloaded_in_the_middle,
    a_picture_is_sent,
    closed_on_a_second_page,
    killed_and_restarted,
    parked_and_answered,
    with_the_keyboard_alone,
    on_a_phone,
];
