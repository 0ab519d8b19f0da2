//! Which programs a command runs, behind those that only run others.

use std::borrow::Cow;

use super::option::Options;
use super::word::Word;
use super::wrapper::{CONTAINERS, Wrapper, wrapper};

/// How many programs of a command are looked at. `find` can run others, which can be `find`.
const PROGRAMS: usize = 64;

/// A program that a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run<'a> {
    /// The program, without its folder.
    pub program: &'a str,
    /// The word that names it, if there is one.
    pub name: Option<&'a Word>,
    /// Its arguments.
    pub arguments: &'a [Word],
    /// The programs that run it, the outermost first: `sudo`, `env`.
    pub by: Vec<&'a str>,
    /// The folder that it is run in, where one of those says that.
    pub folder: Option<Cow<'a, Word>>,
    /// Which one of those has options that are not known. What it runs is a guess then.
    pub unclear: Option<&'a str>,
    /// What it is given besides its arguments.
    pub given: Given<'a>,
    /// What stands in its arguments for that, besides `{}`.
    pub mark: Option<Cow<'a, Word>>,
    /// The container that it runs in, if it runs in one.
    pub container: Option<Container<'a>>,
}

/// A container that a program runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Container<'a> {
    /// The arguments of what makes it, or enters it, those of the program among them.
    pub arguments: &'a [Word],
}

/// What a program is given besides the arguments that are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Given<'a> {
    /// Nothing.
    #[default]
    Nothing,
    /// What is found in these places: `find`.
    Found(&'a [Word]),
    /// What is piped to the program that runs it: `xargs`.
    Piped,
}

impl<'a> Run<'a> {
    fn of(words: &'a [Word]) -> Self {
        let (name, arguments) = match words.split_first() {
            Some((name, arguments)) => (Some(name), arguments),
            None => (None, words),
        };
        Self {
            program: name.map_or("", |name| base_name(&name.text)),
            name,
            arguments,
            by: Vec::new(),
            folder: None,
            unclear: None,
            given: Given::Nothing,
            mark: None,
            container: None,
        }
    }

    /// Whether a word stands for what it is given.
    pub(crate) fn is_marked(&self, word: &Word) -> bool {
        let mark = self.mark.as_ref().map_or("", |mark| mark.text.as_str());
        word.text.contains("{}") || !mark.is_empty() && word.text.contains(mark)
    }

    /// What it runs, with these words.
    fn inner(&self, words: &'a [Word]) -> Self {
        let mut inner =
            Self { by: self.by.clone(), folder: self.folder.clone(), ..Self::of(words) };
        (inner.unclear, inner.given) = (self.unclear, self.given);
        inner.mark.clone_from(&self.mark);
        let is_container = CONTAINERS.contains(&self.program);
        let container = is_container.then_some(Container { arguments: self.arguments });
        inner.container = self.container.or(container);
        // Each once: there can be as many as there is room for in a line.
        if !inner.by.contains(&self.program) {
            inner.by.push(self.program);
        }
        inner
    }
}

/// All programs that these words run.
pub(super) fn runs(words: &[Word]) -> Vec<Run<'_>> {
    let mut runs = Vec::new();
    let mut open = vec![Run::of(words)];
    while let Some(run) = open.pop() {
        let mut run = unwrapped(run);
        if runs.len() + open.len() >= PROGRAMS {
            run.unclear = Some(run.program);
        } else {
            let found = executed(&run);
            open.extend(found.into_iter().rev());
        }
        runs.push(run);
    }
    runs
}

/// What runs in the end, behind all that only runs others.
fn unwrapped(mut run: Run<'_>) -> Run<'_> {
    while let Some(known) = wrapper(run.program) {
        match next(&run, known) {
            Some(inner) => run = inner,
            None => break,
        }
    }
    run
}

/// What a wrapper runs, if it runs something.
fn next<'a>(run: &Run<'a>, known: &Wrapper) -> Option<Run<'a>> {
    let mut parsed = known.options.leading(run.arguments);
    if parsed.has(known.looks) {
        return None;
    }
    if !known.after.is_empty() {
        let (mut first, mut rest) = parsed.rest.split_first()?;
        if known.groups.contains(&first.text.as_str()) {
            (first, rest) = known.options.leading(rest).rest.split_first()?;
        }
        if !known.after.contains(&first.text.as_str()) {
            return None;
        }
        parsed = known.options.leading(rest);
        if parsed.has(known.looks) {
            return None;
        }
    }
    let mut words = parsed.rest;
    if !known.behind.is_empty() {
        let ends = |word: &Word| known.behind.contains(&word.text.as_str());
        let at = run.arguments.iter().position(ends)?;
        words = run.arguments.get(at + 1..)?;
    }
    // `-` alone is an option of `env`.
    while let Some((first, rest)) = words.split_first()
        && (known.sets && is_assignment(&first.text) || run.program == "env" && first.text == "-")
    {
        words = rest;
    }
    // `time { a; }` and `coproc NAME { a; }` are taken for programs by the parser.
    if run.program == "coproc" && words.get(1).is_some_and(|word| word.text == "{") {
        words = words.get(2..).unwrap_or_default();
    }
    let (own, words) = words.split_at_checked(known.own)?;
    let mut inner = run.inner(words);
    if parsed.has_unknown && !known.is_lenient {
        inner.unclear = Some(run.program);
    }
    inner.folder = parsed.values(known.folder).last().or(inner.folder);
    match run.program {
        "xargs" | "gxargs" => {
            inner.given = Given::Piped;
            inner.mark = parsed.values(&["I", "J", "i", "replace"]).last();
        }
        "chroot" => inner.folder = own.first().map(Cow::Borrowed),
        "sudo" if parsed.has(&["e", "edit"]) => {
            return Some(Run { program: "sudoedit", name: None, arguments: words, ..inner });
        }
        "flock" if words.first().is_some_and(|word| matches!(&*word.text, "-c" | "--command")) => {
            return Some(Run { program: "sh", name: None, arguments: words, ..inner });
        }
        _ => {}
    }
    if words.is_empty() {
        return parsed.has(known.shell).then_some(Run { program: "sh", name: None, ..inner });
    }
    Some(inner)
}

/// What a program runs for each file that it finds.
fn executed<'a>(run: &Run<'a>) -> Vec<Run<'a>> {
    match run.program {
        "find" | "gfind" | "bfs" => {
            let is_test = |word: &Word| word.text.starts_with(['-', '(', '!']);
            let leading = Options::valued("D").leading(run.arguments);
            let places = run.arguments.split(is_test).next().filter(|places| !places.is_empty());
            let places = places.or_else(|| leading.rest.split(is_test).next()).unwrap_or_default();
            let mut found = Vec::new();
            let mut rest = run.arguments;
            while let Some(at) = rest.iter().position(is_execution) {
                let words = rest.get(at + 1..).unwrap_or_default();
                let ends = |word: &Word| matches!(&*word.text, ";" | "+");
                let end = words.iter().position(ends).unwrap_or(words.len());
                let (words, after) = words.split_at_checked(end).unwrap_or((words, &[]));
                let mut inner = run.inner(words);
                inner.given = Given::Found(places);
                found.push(inner);
                rest = after;
                if found.len() >= PROGRAMS {
                    break;
                }
            }
            found
        }
        "fd" | "fdfind" => {
            let executes =
                |word: &Word| matches!(&*word.text, "-x" | "-X" | "--exec" | "--exec-batch");
            let at = run.arguments.iter().position(executes);
            let words = at.and_then(|at| run.arguments.get(at + 1..));
            let inner = words.map(|words| {
                let mut inner = run.inner(words);
                inner.given = Given::Found(&[]);
                inner
            });
            inner.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn is_execution(word: &Word) -> bool {
    matches!(&*word.text, "-exec" | "-execdir" | "-ok" | "-okdir")
}

/// Whether a word sets a variable.
fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
