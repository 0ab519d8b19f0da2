//! Programs that run the one that is named after them.

use super::option::Options;

/// A program that runs another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrapper {
    /// Its names.
    pub(crate) names: &'static [&'static str],
    /// All of its options. An option that is not here could have a value or not, so what it runs
    /// cannot be told.
    pub(crate) options: Options,
    /// How many words of its own come before the program, besides options.
    pub(super) own: usize,
    /// Options with which it runs nothing.
    pub(super) looks: &'static [&'static str],
    /// Options that say in which folder the program runs.
    pub(super) folder: &'static [&'static str],
    /// Options with which it runs a shell where no program is named.
    pub(super) shell: &'static [&'static str],
    /// Whether variables can be set before the program.
    pub(super) sets: bool,
    /// Words with which it runs another program, and without which it does something else.
    pub(super) after: &'static [&'static str],
    /// Words that can come before those.
    pub(super) groups: &'static [&'static str],
    /// Words behind which the program comes, whatever stands before them.
    pub(super) behind: &'static [&'static str],
    /// Whether options that are not known have no value, as a rule. Those that run the tools of a
    /// project have too many, and are seldom used to run something else.
    pub(super) is_lenient: bool,
}

const PLAIN: Wrapper = Wrapper {
    names: &[],
    options: Options::NONE,
    own: 0,
    looks: &[],
    folder: &[],
    shell: &[],
    sets: false,
    after: &[],
    groups: &[],
    behind: &[],
    is_lenient: false,
};

/// What runs the tools of a project.
const TOOLS: Wrapper = Wrapper {
    options: Options::with(
        "pw",
        &[
            "directory",
            "extra",
            "from",
            "group",
            "package",
            "project",
            "python",
            "with",
            "workspace",
        ],
    ),
    is_lenient: true,
    ..PLAIN
};

/// What runs the tools of a project, or a line of commands.
const NODE: Wrapper = Wrapper {
    options: Options {
        valued: "cpw",
        long_valued: &["call", "package", "prefix", "workspace"],
        ..Options::NONE
    },
    looks: &["c", "call"],
    ..TOOLS
};

/// Programs that run others in a machine of their own.
pub(super) const CONTAINERS: &[&str] =
    &["docker", "docker-compose", "kubectl", "nerdctl", "oc", "podman", "podman-compose"];

/// What runs a program in a container.
pub(crate) const CONTAINER: Wrapper = Wrapper {
    names: &["docker", "docker-compose", "nerdctl", "podman", "podman-compose"],
    options: Options {
        flags: "dDiPqtT",
        long: &["build", "detach", "init", "interactive", "privileged", "rm", "tty"],
        ..Options::with(
            "acefhHlmpuvw",
            &[
                "add-host",
                "build-arg",
                "cap-add",
                "cap-drop",
                "context",
                "cpus",
                "detach-keys",
                "device",
                "dns",
                "entrypoint",
                "env",
                "env-file",
                "expose",
                "file",
                "gpus",
                "group-add",
                "host",
                "hostname",
                "index",
                "ipc",
                "label",
                "link",
                "log-driver",
                "log-opt",
                "memory",
                "mount",
                "name",
                "net",
                "network",
                "pid",
                "platform",
                "profile",
                "project-directory",
                "project-name",
                "publish",
                "pull",
                "restart",
                "runtime",
                "security-opt",
                "shm-size",
                "stop-signal",
                "sysctl",
                "tmpfs",
                "ulimit",
                "user",
                "userns",
                "uts",
                "volume",
                "volumes-from",
                "workdir",
            ],
        )
    },
    own: 1,
    after: &["exec", "run"],
    groups: &["compose", "container"],
    is_lenient: true,
    ..PLAIN
};

/// The wrapper of this name.
pub(super) fn wrapper(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| wrapper.names.contains(&name))
}

const fn options(
    flags: &'static str,
    valued: &'static str,
    long: &'static [&'static str],
    long_valued: &'static [&'static str],
) -> Options {
    Options { flags, valued, long, long_valued, ..Options::NONE }
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: &[
            "!",
            "{",
            "builtin",
            "busybox",
            "chronic",
            "do",
            "else",
            "noglob",
            "nocorrect",
            "nohup",
            "proxychains",
            "proxychains4",
            "then",
            "torsocks",
            "toybox",
            "unbuffer",
        ],
        ..PLAIN
    },
    Wrapper {
        names: &["sudo"],
        options: options(
            "ABbEeHiKklNnPSsVv",
            "aCcDghpRrTtUu",
            &[
                "askpass",
                "background",
                "bell",
                "edit",
                "help",
                "list",
                "login",
                "no-update",
                "non-interactive",
                "preserve-env",
                "preserve-groups",
                "remove-timestamp",
                "reset-timestamp",
                "set-home",
                "shell",
                "stdin",
                "validate",
                "version",
            ],
            &[
                "auth-type",
                "chdir",
                "chroot",
                "close-from",
                "command-timeout",
                "group",
                "host",
                "login-class",
                "other-user",
                "prompt",
                "role",
                "type",
                "user",
            ],
        ),
        looks: &["K", "l", "v", "V", "list", "validate", "version", "help", "remove-timestamp"],
        folder: &["D", "chdir", "R", "chroot"],
        shell: &["s", "i", "shell", "login"],
        sets: true,
        ..PLAIN
    },
    Wrapper {
        names: &["doas"],
        options: options("Lns", "aCu", &[], &[]),
        looks: &["L"],
        shell: &["s"],
        sets: true,
        ..PLAIN
    },
    Wrapper {
        names: &["pkexec"],
        options: options(
            "",
            "u",
            &["disable-internal-agent", "help", "keep-cwd", "version"],
            &["user"],
        ),
        looks: &["help", "version"],
        ..PLAIN
    },
    Wrapper {
        names: &["env"],
        options: options(
            "0iv",
            "CPSu",
            &[
                "block-signal",
                "debug",
                "default-signal",
                "help",
                "ignore-environment",
                "ignore-signal",
                "list-signal-handling",
                "null",
                "version",
            ],
            &["argv0", "chdir", "split-string", "unset"],
        ),
        looks: &["S", "split-string", "help", "version"],
        folder: &["C", "chdir"],
        sets: true,
        ..PLAIN
    },
    Wrapper {
        names: &["command"],
        options: options("pvV", "", &[], &[]),
        looks: &["v", "V"],
        ..PLAIN
    },
    Wrapper { names: &["exec"], options: options("cl", "a", &[], &[]), ..PLAIN },
    Wrapper {
        names: &["time", "gtime"],
        options: options(
            "apqvV",
            "fo",
            &["append", "help", "portability", "quiet", "verbose", "version"],
            &["format", "output"],
        ),
        ..PLAIN
    },
    Wrapper {
        names: &["timeout", "gtimeout"],
        options: options(
            "fpv",
            "ks",
            &["foreground", "help", "preserve-status", "verbose", "version"],
            &["kill-after", "signal"],
        ),
        own: 1,
        ..PLAIN
    },
    Wrapper {
        names: &["nice"],
        options: options("0123456789", "n", &["help", "version"], &["adjustment"]),
        ..PLAIN
    },
    Wrapper {
        names: &["ionice"],
        options: options(
            "thV",
            "cnpPu",
            &["help", "ignore", "version"],
            &["class", "classdata", "pgid", "pid", "uid"],
        ),
        looks: &["p", "P", "u", "pid", "pgid", "uid"],
        ..PLAIN
    },
    Wrapper {
        names: &["setsid"],
        options: options("cfwhV", "", &["ctty", "fork", "help", "version", "wait"], &[]),
        ..PLAIN
    },
    Wrapper {
        names: &["stdbuf"],
        options: options("", "eio", &["help", "version"], &["error", "input", "output"]),
        ..PLAIN
    },
    Wrapper {
        names: &["xargs", "gxargs"],
        options: Options {
            attached: "eil",
            ..options(
                "0oprtx",
                "adEIJLnPRSs",
                &[
                    "eof",
                    "exit",
                    "help",
                    "interactive",
                    "max-lines",
                    "no-run-if-empty",
                    "null",
                    "open-tty",
                    "replace",
                    "show-limits",
                    "verbose",
                    "version",
                ],
                &[
                    "arg-file",
                    "delimiter",
                    "max-args",
                    "max-chars",
                    "max-procs",
                    "process-slot-var",
                ],
            )
        },
        ..PLAIN
    },
    Wrapper {
        names: &["chroot"],
        options: options("ng", "Gu", &["help", "skip-chdir", "version"], &["groups", "userspec"]),
        own: 1,
        ..PLAIN
    },
    Wrapper {
        names: &["runuser"],
        options: options(
            "flmp",
            "cgGsuw",
            &["fast", "login", "preserve-environment", "pty"],
            &["command", "group", "shell", "supp-group", "user", "whitelist-environment"],
        ),
        looks: &["c", "command"],
        ..PLAIN
    },
    Wrapper {
        names: &["flock"],
        options: options(
            "eFnosux",
            "Ew",
            &["close", "exclusive", "no-fork", "nonblock", "shared", "unlock", "verbose"],
            &["conflict-exit-code", "timeout", "wait"],
        ),
        own: 1,
        ..PLAIN
    },
    Wrapper {
        names: &["strace", "ltrace"],
        options: options(
            "ACcdDFfhikNnqrTtVvwxXyYzZ",
            "abEeIOoPpsSuU",
            &[
                "decode-fds",
                "decode-pids",
                "failed-only",
                "follow-forks",
                "summary",
                "successful-only",
            ],
            &["attach", "output", "string-limit", "trace", "user"],
        ),
        ..PLAIN
    },
    Wrapper {
        names: &["taskset"],
        options: options("acphV", "", &["all-tasks", "cpu-list", "help", "pid", "version"], &[]),
        own: 1,
        looks: &["p", "pid"],
        ..PLAIN
    },
    Wrapper {
        names: &["chrt"],
        options: options(
            "abdfimoRrvhV",
            "DPTp",
            &["batch", "fifo", "idle", "other", "rr"],
            &["pid"],
        ),
        own: 1,
        looks: &["p", "m", "pid", "max"],
        ..PLAIN
    },
    Wrapper {
        names: &["numactl"],
        options: options("abHls", "CimNp", &["all", "balancing", "localalloc", "show"], &[]),
        ..PLAIN
    },
    Wrapper {
        names: &["systemd-run"],
        options: options(
            "dGPqrSt",
            "EHMpu",
            &[
                "collect",
                "no-block",
                "pipe",
                "pty",
                "quiet",
                "remain-after-exit",
                "same-dir",
                "scope",
                "send-sighup",
                "shell",
                "system",
                "user",
                "wait",
            ],
            &[
                "description",
                "gid",
                "host",
                "machine",
                "nice",
                "on-active",
                "on-boot",
                "on-calendar",
                "property",
                "service-type",
                "setenv",
                "slice",
                "uid",
                "unit",
                "working-directory",
            ],
        ),
        folder: &["working-directory"],
        shell: &["S", "shell"],
        ..PLAIN
    },
    Wrapper {
        names: &["run0"],
        options: options(
            "",
            "Dgu",
            &["no-ask-password", "pipe", "pty", "shell-prompt-prefix", "slice-inherit"],
            &[
                "background",
                "chdir",
                "description",
                "group",
                "machine",
                "nice",
                "property",
                "setenv",
                "slice",
                "unit",
                "user",
            ],
        ),
        folder: &["D", "chdir"],
        ..PLAIN
    },
    Wrapper { names: &["gosu", "su-exec"], own: 1, ..PLAIN },
    Wrapper {
        names: &["unshare", "nsenter"],
        options: Options {
            attached: "CimnpTuUrw",
            ..options(
                "acfFhVZ",
                "GlRSt",
                &[
                    "all",
                    "cgroup",
                    "fork",
                    "ipc",
                    "keep-caps",
                    "map-current-user",
                    "map-root-user",
                    "mount",
                    "mount-proc",
                    "net",
                    "no-fork",
                    "pid",
                    "preserve-credentials",
                    "user",
                    "uts",
                ],
                &["setgid", "setuid", "target"],
            )
        },
        ..PLAIN
    },
    Wrapper {
        names: &["xvfb-run"],
        options: options(
            "al",
            "efnpsw",
            &["auto-servernum", "listen-tcp"],
            &["error-file", "server-args"],
        ),
        ..PLAIN
    },
    Wrapper {
        names: &["fakeroot"],
        options: options("uv", "bils", &[], &["lib", "faked"]),
        ..PLAIN
    },
    Wrapper { names: &["caffeinate"], options: options("dimsu", "tw", &[], &[]), ..PLAIN },
    Wrapper { names: &["dbus-run-session"], ..PLAIN },
    Wrapper {
        names: &["hatch", "pdm", "pipenv", "pixi", "poetry", "rye", "uv"],
        after: &["run"],
        ..TOOLS
    },
    Wrapper { names: &["bundle"], after: &["exec"], ..TOOLS },
    Wrapper { names: &["npm", "pnpm", "yarn"], after: &["dlx", "exec", "x"], ..NODE },
    Wrapper { names: &["npx"], ..NODE },
    Wrapper { names: &["bunx", "uvx"], ..TOOLS },
    Wrapper { names: &["cross-env"], sets: true, ..PLAIN },
    Wrapper {
        names: &["conda", "mamba", "micromamba"],
        options: Options::with("np", &["cwd", "name", "prefix"]),
        folder: &["cwd"],
        after: &["run"],
        is_lenient: true,
        ..PLAIN
    },
    Wrapper { names: &["asdf", "pyenv", "rbenv"], after: &["exec"], ..TOOLS },
    Wrapper { names: &["direnv"], own: 1, after: &["exec"], ..PLAIN },
    Wrapper { names: &["rustup"], own: 1, after: &["run"], is_lenient: true, ..PLAIN },
    CONTAINER,
    Wrapper {
        names: &["kubectl", "oc"],
        options: Options::with("cfns", &["cluster", "context", "kubeconfig", "namespace", "user"]),
        after: &["exec"],
        behind: &["--"],
        is_lenient: true,
        ..PLAIN
    },
    Wrapper {
        names: &["aws-vault", "doppler", "mise", "op"],
        after: &["exec", "run", "x"],
        behind: &["--"],
        is_lenient: true,
        ..PLAIN
    },
    Wrapper {
        names: &["nix"],
        after: &["develop", "shell"],
        behind: &["-c", "--command"],
        is_lenient: true,
        ..PLAIN
    },
    Wrapper { names: &["coproc"], ..PLAIN },
];
