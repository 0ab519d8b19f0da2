//! Lines about which there is nothing to say. A badge that is always there is not read.

use std::path::Path;

use countersign_policy::Place;

use crate::{dangers, place};

const HARMLESS: &[&str] = &[
    "npm test",
    "ls -la",
    "ls -la | head",
    "git status",
    "git diff HEAD~1 -- src",
    "git log --oneline -5",
    "git add -A && git commit -m 'rm -rf / && git push --force'",
    "git commit -m \"$(cat <<'EOF'\nDo not rm -rf ~ and curl x | sh\nEOF\n)\"",
    "git push origin main",
    "git push -u origin feature",
    "git checkout -b new origin/main",
    "git checkout main",
    "git switch main",
    "git restore --staged src/a.rs",
    "git rm --cached big.bin",
    "git clean -nfd",
    "git branch -d merged",
    "git reset HEAD~1",
    "git stash && git pull && git stash pop",
    "cargo build 2>&1 | tee target/log",
    "cargo test --workspace -- --nocapture",
    "grep -r x . > out.txt",
    "grep -rn 'rm -rf' src | wc -l",
    "grep -r credentials src",
    "rg TODO --glob '!target'",
    "find . -name '*.rs' | xargs wc -l",
    "find . -name '*.rs' -exec grep -l foo {} +",
    "find . -type f -newer a -print0 | xargs -0 ls -l",
    "echo 'curl x | sh'",
    "echo .env >> .gitignore",
    "echo \"$USER on $(hostname)\"",
    "cp a.txt b.txt",
    "cp -r /usr/share/doc/x docs",
    "mv a.txt sub/b.txt",
    "mkdir -p src/{a,b}/c {x,y}.d",
    "mkdir -p build && cd build && cmake .. > ../cmake.log",
    "cd sub && touch x; cd .. && touch y",
    "cd sub || exit 1; make > log; cd ..; touch done",
    "(cd /etc && cat hosts) > hosts.txt",
    "cd /etc && cat hosts; cd /project && touch x",
    "pushd sub && touch x && popd && touch y",
    "cd /tmp | touch x",
    "cat /etc/hosts > hosts.txt",
    "npm test 2>&1 | tail -5",
    "make -j4 >/dev/null 2>&1",
    "npm run build &> build.log",
    "touch x && sed -i 's/a/b/' src/x.rs",
    "sed -n '1,5p' /etc/hosts",
    "curl https://example.org -o page.html",
    "curl -sSL https://example.org | jq .",
    "curl https://example.org | python3 parse.py",
    "curl -s https://example.org/a.json | python3 -c 'import json,sys; print(json.load(sys.stdin))'",
    "cat data.json | python3 -m json.tool",
    "cat data | perl -pe 's/a/b/'",
    "cat data | node -e 'process.stdin.resume()'",
    "cat list | while read -r l; do echo \"$l\"; done",
    "cat data | bash script.sh",
    "bash script.sh",
    "bash -c 'npm ci && npm test'",
    "sh -ec 'make; make check'",
    "python3 -m http.server > /dev/null 2>&1 &",
    "wget -qO- https://example.org | grep x",
    "tar xzf a.tgz -C sub",
    "tar -czf out.tgz src",
    "tar tf /srv/a.tar",
    "unzip -q a.zip -d sub",
    "dd if=/dev/zero of=/dev/null count=1",
    "chmod +x run.sh && ./run.sh",
    "chmod -x run.sh",
    "ln -s /usr/lib/x.so x.so",
    "time -p make",
    "timeout 60 npm test",
    "nice -n 5 make",
    "env RUST_LOG=debug cargo run",
    "RUST_LOG=debug cargo run",
    "NODE_ENV=test npx jest --maxWorkers=2",
    "command -v rm",
    "which rm gcloud",
    "type rm",
    "export PATH=\"$PWD/bin:$PATH\"",
    "for f in src/*.rs; do wc -l \"$f\"; done",
    "if [ -f x ]; then echo yes; else echo no; fi",
    "test -d out || mkdir out",
    "cat .env.example",
    "cat src/shadow/mod.rs",
    "echo $MAX_TOKENS",
    "cat > notes.md <<'EOF'\nrm -rf / and `date`\nEOF",
    "cat <<EOF > out.txt\nhello $USER\nEOF",
    "echo x > \"$PWD/out.txt\"",
    "touch ./a/../b",
    "printf '%s\\n' a b | sort -u > sorted.txt",
    "awk '{ print $1 }' a | sort | uniq -c",
    "docker run --rm -it -v \"$PWD\":/w node:20 npm test",
    "jq '.scripts | keys' package.json",
    "cat <<'EOF' 2>&1 | grep x\nrm -rf /\nEOF",
    "npm run build",
    "npm run rm",
    "npx prettier --write src",
    "uv run pytest -q",
    "bundle exec rspec",
    "sleep 1 && echo done",
    "true",
    "",
    "# nothing",
];

#[test]
fn nothing_is_said_about_what_is_harmless() {
    assert!(HARMLESS.len() >= 30);
    let unknown_home = Place { folder: Path::new("/project"), home: None };
    let mut wrong = Vec::new();
    for line in HARMLESS {
        for place in [&place(), &unknown_home] {
            let told = crate::said(line, place);
            if !told.is_empty() {
                wrong.push(format!("{line}: {} {told:?}", dangers(line, place)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), HARMLESS.len(), wrong.join("\n"));
}
