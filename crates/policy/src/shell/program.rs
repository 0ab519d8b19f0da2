//! Shells and interpreters: where they have the program from that they run.

use std::borrow::Cow;

use super::nested;
use super::option::{Options, Parsed};
use super::run::{Given, Run};
use super::word::Word;

/// What runs programs that are written in a language.
#[derive(Clone, Debug)]
pub(crate) struct Program<'a> {
    /// Where the program is.
    pub(crate) source: Source<'a>,
    /// Whether the language is that of shells.
    pub(crate) is_shell: bool,
    /// Whether it is run in a process of its own, so that nothing of it holds afterwards.
    pub(crate) is_own: bool,
}

/// Where a program is.
#[derive(Clone, Debug)]
pub(crate) enum Source<'a> {
    /// In the arguments.
    Argument(Cow<'a, Word>),
    /// In a file.
    File(&'a Word),
    /// In what it reads.
    Input,
}

/// Shells that take the options of `sh`.
const SHELLS: &[&str] =
    &["ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "rbash", "sh", "tcsh", "zsh"];

/// Options after which nothing is run.
const ASKING: &[&str] = &["help", "version"];

impl<'a> Program<'a> {
    /// What a run runs, if it is a shell or an interpreter.
    pub(crate) fn of(run: &Run<'a>) -> Option<Self> {
        let words = run.arguments;
        let shell = |source| Some(Self { source, is_shell: true, is_own: true });
        let here = |source| Some(Self { source, is_shell: true, is_own: false });
        let line = |words: &[&'a Word]| Source::Argument(line(words));
        match run.program {
            "eval" => {
                let words: Vec<&Word> = words.iter().collect();
                if words.is_empty() { None } else { here(line(&words)) }
            }
            "source" | "." => here(file(words.first()?)),
            "trap" => {
                let parsed = Options::NONE.leading(words);
                let (action, signals) = parsed.rest.split_first()?;
                if signals.is_empty() { None } else { shell(line(&[action])) }
            }
            "env" => {
                let parsed =
                    Options::with("CPSu", &["chdir", "split-string", "unset"]).leading(words);
                let split = parsed.values(&["S", "split-string"]).next()?;
                let rest = parsed.rest.iter();
                let all = Word::joined(std::iter::once(&*split).chain(rest), " ");
                shell(Source::Argument(Cow::Owned(all)))
            }
            "su" | "runuser" => {
                let options = Options::with(
                    "cgGsTw",
                    &["command", "group", "session-command", "shell", "supp-group"],
                );
                let parsed = options.anywhere(words);
                let command = parsed.values(&["c", "command", "session-command"]).next();
                shell(command.map_or(Source::Input, Source::Argument))
            }
            "script" => {
                let options = Options::with("cEIOBTmo", &["command"]);
                let command = options.anywhere(words).values(&["c", "command"]).next()?;
                shell(Source::Argument(command))
            }
            "ssh" => {
                let options = Options::valued("BbcDEeFIiJLlmOoPpQRSWw");
                let (_, rest) = options.leading(words).rest.split_first()?;
                // There can be more options behind the host.
                let rest: Vec<&Word> = options.leading(rest).rest.iter().collect();
                shell(if rest.is_empty() { Source::Input } else { line(&rest) })
            }
            "watch" => {
                let parsed = Options::with("nq", &["equexit", "interval"]).leading(words);
                let rest: Vec<&Word> = parsed.rest.iter().collect();
                if rest.is_empty() { None } else { shell(line(&rest)) }
            }
            "parallel" => {
                let options = Options::with(
                    "aCdEIJjLlnNPSs",
                    &["colsep", "delay", "jobs", "joblog", "max-args", "results", "sshlogin"],
                );
                let rest = options.leading(words).rest.iter();
                let rest: Vec<&Word> =
                    rest.take_while(|word| !word.text.starts_with(":::")).collect();
                shell(if rest.is_empty() { Source::Input } else { line(&rest) })
            }
            "at" | "batch" => {
                let parsed = Options::valued("fqt").anywhere(words);
                let is_other = parsed.has(&["f", "l", "d", "r", "c", "V"]);
                if is_other { None } else { shell(Source::Input) }
            }
            "awk" | "gawk" | "mawk" | "nawk" => {
                let names = &["assign", "field-separator", "file", "include"];
                let parsed = Options::with("Ffiv", names).leading(words);
                let code = parsed.rest.first().filter(|_| !parsed.has(&["f", "file"]))?;
                let source = Source::Argument(Cow::Borrowed(code));
                Some(Self { source, is_shell: false, is_own: true })
            }
            name if SHELLS.contains(&name) => shell(shell_source(run)?),
            name => {
                if let Some(lines) = nested::lines(run) {
                    return shell(Source::Argument(lines));
                }
                let source = interpreter(name)?.source(run)?;
                Some(Self { source, is_shell: false, is_own: true })
            }
        }
    }
}

fn line<'a>(words: &[&'a Word]) -> Cow<'a, Word> {
    match words {
        [word] => Cow::Borrowed(word),
        _ => Cow::Owned(Word::joined(words.iter().copied(), " ")),
    }
}

/// A file that is named, or what is read by that name.
fn file(name: &Word) -> Source<'_> {
    match name.text.as_str() {
        "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" => Source::Input,
        _ => Source::File(name),
    }
}

fn shell_source<'a>(run: &Run<'a>) -> Option<Source<'a>> {
    let options = Options {
        long_valued: &["init-file", "rcfile", "command", "init-command"],
        plus: true,
        ..Options::valued("oO")
    };
    let parsed = options.leading(run.arguments);
    if parsed.has(ASKING) {
        return None;
    }
    if let Some(command) = parsed.values(&["command"]).next() {
        return Some(Source::Argument(command));
    }
    // `-` alone ends the options.
    let rest = match parsed.rest.split_first() {
        Some((first, rest)) if first.text == "-" => rest,
        _ => parsed.rest,
    };
    let first = rest.first();
    if parsed.has(&["c"]) {
        let given = (run.given == Given::Piped).then_some(Source::Input);
        return first.map(|line| Source::Argument(Cow::Borrowed(line))).or(given);
    }
    if parsed.has(&["s"]) {
        return Some(Source::Input);
    }
    Some(first.map_or(Source::Input, file))
}

/// A program that runs what is written in a language of its own.
struct Interpreter {
    options: Options,
    /// Options whose value is the program.
    code: &'static [&'static str],
    /// Options with which it runs something else.
    other: &'static [&'static str],
    /// Words that can come before the file.
    commands: &'static [&'static str],
}

impl Interpreter {
    fn source<'a>(&self, run: &Run<'a>) -> Option<Source<'a>> {
        // Both letters are about the same code, which the first would have as its value.
        let both =
            |pair: &&[Word]| pair.first().is_some_and(|word| matches!(&*word.text, "-pe" | "-ep"));
        if self.code.contains(&"print")
            && let Some(pair) = run.arguments.windows(2).take_while(is_before).find(both)
        {
            return pair.get(1).map(|code| Source::Argument(Cow::Borrowed(code)));
        }
        let parsed: Parsed<'a> = self.options.leading(run.arguments);
        if let Some(code) = parsed.values(self.code).next() {
            return Some(Source::Argument(code));
        }
        if parsed.has(self.other) || parsed.has(self.code) || parsed.has(ASKING) {
            return None;
        }
        let mut rest = parsed.rest;
        if let Some((first, after)) = rest.split_first()
            && self.commands.contains(&first.text.as_str())
        {
            rest = Options::NONE.leading(after).rest;
            if first.text == "eval" {
                return rest.first().map(|code| Source::Argument(Cow::Borrowed(code)));
            }
        }
        Some(rest.first().map_or(Source::Input, file))
    }
}

/// Whether options have not ended.
fn is_before(pair: &&[Word]) -> bool {
    pair.first().is_some_and(|word| word.text.starts_with('-') && word.text != "--")
}

fn interpreter(name: &str) -> Option<Interpreter> {
    // With the number of a version: `python3.12`, `perl5.36`.
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let of = |valued, code, other| {
        Some(Interpreter { options: Options::valued(valued), code, other, commands: &[] })
    };
    match plain {
        "python" | "pypy" | "ipython" => of("cmQWX", &["c"], &["m", "V"]),
        "perl" => {
            let options = Options { attached: "CDdFiImMVx", ..Options::valued("eE") };
            Some(Interpreter { options, code: &["e", "E"], other: &["v", "V"], commands: &[] })
        }
        "ruby" => {
            let options = Options { attached: "FiKTWx", ..Options::valued("CEeIr") };
            Some(Interpreter { options, code: &["e"], other: &["v"], commands: &[] })
        }
        "php" => of("Bcdefrz", &["r"], &["a", "f", "i", "m", "S", "t", "v"]),
        "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node" => Some(Interpreter {
            options: Options::with(
                "Ceprc",
                &[
                    "conditions",
                    "config",
                    "env-file",
                    "eval",
                    "experimental-loader",
                    "import",
                    "input-type",
                    "loader",
                    "preload",
                    "print",
                    "require",
                    "test-reporter",
                ],
            ),
            code: &["e", "p", "eval", "print"],
            other: &["v", "test", "check"],
            commands: &["run", "eval"],
        }),
        "lua" | "luajit" => of("elW", &["e"], &["v"]),
        "Rscript" | "julia" | "tclsh" | "osascript" => of("eEL", &["e", "E"], &["v"]),
        _ => None,
    }
}
