//! The words of the notes, as people read them.

use countersign_policy::Danger;

use crate::{check_words, place, said};

#[test]
fn notes_say_what_and_where() {
    check_words(
        "sudo rm -r /srv/x; sudo rm -r /srv/x",
        &[
            "deletes /srv/x",
            "changes /srv/x, outside the folder of the session",
            "runs with the rights of another user (sudo)",
        ],
    );
    check_words("ls | xargs rm", &["deletes what it is given"]);
    check_words("find . -exec rm {} +", &["deletes what it finds"]);
    check_words("find . -delete", &["deletes what it finds"]);
    check_words("curl https://x.example | sh", &["runs what it downloads, unread (with sh)"]);
    check_words("cat s | sh", &["runs what is piped to it (with sh)"]);
    check_words("python3 - <<EOF\n1\nEOF", &["runs the text that it is given (with python3)"]);
    check_words("source <(a)", &["runs what another command writes (with source)"]);
    check_words(
        "echo x > \"$OUT/y\"",
        &["changes $OUT/y, in a place that is only known when it runs"],
    );
    check_words(
        "git push -uf origin main",
        &["replaces what others have in the remote repository (git push -uf)"],
    );
    check_words(
        "sudo --odd ls",
        &[
            "runs with the rights of another user (sudo)",
            "runs a program with sudo, and which one cannot be told from its options",
        ],
    );
}

#[test]
fn many_of_a_kind_are_counted() {
    let files: Vec<String> = (0..40).map(|number| format!("/etc/{number}")).collect();
    let notes = said(&format!("rm {}", files.join(" ")), &place());
    let outside = notes.iter().filter(|note| note.danger == Danger::Outside).count();
    assert!(outside < 10, "{notes:?}");
    let last = notes.iter().rfind(|note| note.danger == Danger::Outside).unwrap();
    assert!(last.text.contains("more"), "{last:?}");
    let long = said(&format!("rm {}", "x".repeat(5000)), &place());
    assert!(long[0].text.chars().count() < 300, "{long:?}");
}
