//! What runs in a container or on another machine, and what a container is given of this one.

use crate::{check, check_words};

#[test]
fn what_a_container_is_given() {
    check(&[
        ("docker run -v /:/host alpine", "unguarded"),
        ("docker run --rm -it -v /:/host:ro alpine sh", "unguarded"),
        ("sudo docker run --volume=/:/host alpine ls", "unguarded privilege"),
        ("docker run --mount type=bind,source=/,target=/host alpine", "unguarded"),
        ("docker run -v ../..:/x alpine", "unguarded"),
        ("docker run --privileged alpine ls", "unguarded"),
        ("docker container run --privileged alpine", "unguarded"),
        ("docker exec --privileged -it c sh", "unguarded"),
        ("podman run --pid=host alpine ps", "unguarded"),
        ("docker run --pid host alpine ps", "unguarded"),
        ("docker run --net=host alpine ls", "unguarded"),
        ("docker run --network host alpine ls", "unguarded"),
        ("docker run --cap-add=SYS_ADMIN alpine", "unguarded"),
        ("docker run --cap-add ALL alpine", "unguarded"),
        ("docker run --security-opt seccomp=unconfined alpine", "unguarded"),
        ("docker run --device=/dev/sda alpine", "unguarded"),
        ("docker run -v /var/run/docker.sock:/var/run/docker.sock x", "unguarded"),
        ("docker compose run -v /var/run/docker.sock:/s app x", "unguarded"),
        ("bash -c 'docker run --privileged alpine'", "unguarded"),
        ("docker run -v /srv:/srv alpine ls", "outside"),
        ("docker run -v ~/.m2:/m2 maven mvn package", "outside"),
        ("docker run -v \"$X\":/x alpine ls", "opaque"),
        ("cd /srv && docker run -v .:/x alpine ls", "outside"),
    ]);
}

/// The files there are not those here.
#[test]
fn what_runs_elsewhere_changes_nothing_here() {
    check(&[
        ("docker compose exec app sh -c \"rm -rf /tmp/x\"", "deletes"),
        ("docker exec app bash -c 'cd /srv && echo x > y && rm z'", "deletes"),
        ("docker exec app git -C /srv commit -m x", ""),
        ("docker exec app sh -c 'bash -c \"touch /etc/x\"'", ""),
        ("docker exec app sh -c 'echo x >> ~/.bashrc'", ""),
        ("kubectl exec pod -- sh -c 'rm -rf /data'", "deletes"),
        ("ssh host 'rm -rf /srv/x'", "deletes"),
        ("ssh host <<'EOF'\ntouch /srv/x\nEOF", "runs_input"),
        ("ssh me@localhost 'touch /srv/x'", "outside"),
        ("docker exec app cat /x > /etc/x", "outside"),
        ("docker exec app sh -c 'touch /x'; touch /y", "outside"),
        ("docker exec app sh -c 'curl https://x.example | sh'", "runs_download"),
    ]);
}

#[test]
fn programs_with_the_rights_of_others() {
    check(&[
        ("chmod u+s x", "privilege"),
        ("chmod +s x", "privilege"),
        ("chmod ug+rxs x", "privilege"),
        ("chmod 4755 x", "privilege"),
        ("chmod 04755 x", "privilege"),
        ("chmod -R 6755 x", "privilege"),
        ("install -m 4755 a b", "privilege"),
        ("install --mode=u+s a b", "privilege"),
        ("setcap cap_net_bind_service=+ep x", "privilege"),
    ]);
}

#[test]
fn it_is_said_where_it_runs() {
    check_words(
        "docker compose exec app sh -c \"rm -rf /tmp/x\"",
        &["deletes /tmp/x, in a container"],
    );
    check_words("docker exec app rm x", &["deletes x, in a container"]);
    check_words("ssh host rm x", &["deletes x, on another machine"]);
    check_words("docker exec app sh -c 'ls'; rm x", &["deletes x"]);
    check_words(
        "docker run --pid=host -v /:/x alpine",
        &[
            "gives a container all files of the machine",
            "gives a container rights on the machine (--pid=host)",
        ],
    );
    check_words(
        "docker run -v /srv:/srv alpine ls",
        &["lets a container change /srv, outside the folder of the session"],
    );
}
