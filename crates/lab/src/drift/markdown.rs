//! What changed, for people to read: counted, grouped, the most important first.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::names::{Kind, Name, Names};
use super::types::{Declared, Types};
use super::{Drift, Entry, EntryChanges, ExperimentChanges, HelpChanges, Part};
use crate::report::inert;

/// How many lines of a declaration that changed are shown.
const SHOWN: usize = 14;

/// The longest value that is shown.
const LONGEST: usize = 300;

/// A text that grows by paragraphs.
#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn paragraph(&mut self, text: impl AsRef<str>) {
        self.text.push_str(text.as_ref().trim_end());
        self.text.push_str("\n\n");
    }

    fn list(&mut self, items: impl IntoIterator<Item = String>) {
        for item in items {
            // Writing to a text does not fail.
            let _ = writeln!(self.text, "- {item}");
        }
        self.text.push('\n');
    }

    /// Something as it is: indented by four, nothing in it means anything.
    fn verbatim<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) {
        for line in lines {
            let _ = writeln!(self.text, "    {line}");
        }
        self.text.push('\n');
    }
}

pub(super) fn write(drift: &Drift) -> String {
    let mut page = Page::default();
    page.paragraph(format!("# Claude Code {} → {}", inert(&drift.old), inert(&drift.new)));
    summary(drift, &mut page);
    let unseen = drift.unseen();
    if !unseen.is_empty() {
        page.paragraph("## Not looked at");
        page.list(unseen.iter().map(|why| inert(why)));
    }
    if let Some(names) = drift.names.compared() {
        to_write_code_for(names, &mut page);
    }
    if let Some(found) = drift.experiments.compared() {
        experiments(found, drift, &mut page);
    }
    if let Some(names) = drift.names.compared() {
        protocol(names, &mut page);
    }
    if let Some(help) = drift.help.compared() {
        flags(help, drift.names.compared(), &mut page);
    }
    if let Some(found) = drift.types.compared() {
        types(found, &mut page);
    }
    let mut text = page.text.trim_end().to_owned();
    text.push('\n');
    text
}

/// What changed, in numbers.
fn summary(drift: &Drift, page: &mut Page) {
    let mut rows = Vec::new();
    rows.push(match drift.names.compared() {
        Some(names) => {
            let count = |list: &[Name]| list.iter().filter(|name| name.kind != Kind::Flag).count();
            let (appeared, unknown) = (count(&names.appeared), names.unknown().count());
            row(
                "names of the protocol",
                &[
                    format!("{appeared}, {unknown} of them unknown to countersign-protocol"),
                    count(&names.vanished).to_string(),
                    "".to_owned(),
                ],
            )
        }
        None => missing("names of the protocol", &drift.names),
    });
    match drift.help.compared() {
        Some(help) => {
            for (what, EntryChanges { added, removed, changed, reworded }) in
                [("flags", &help.flags), ("commands", &help.commands)]
            {
                let other = reworded.len();
                rows.push(row(
                    &format!("{what} in `--help`"),
                    &[
                        added.len().to_string(),
                        removed.len().to_string(),
                        format!("{}, and {other} in other words", changed.len()),
                    ],
                ));
            }
        }
        None => rows.push(missing("flags and commands in `--help`", &drift.help)),
    }
    rows.push(match drift.types.compared() {
        Some(Types { old, new, added, removed, changed, unions, .. }) => row(
            &format!("published types (SDK {} → {})", inert(old), inert(new)),
            &[
                added.len().to_string(),
                removed.len().to_string(),
                (changed.len() + unions.len()).to_string(),
            ],
        ),
        None => missing("published types", &drift.types),
    });
    rows.push(match drift.experiments.compared() {
        Some(found) => {
            let verdicts = counted(found.verdicts.len(), "verdict");
            let findings = counted(found.findings.len(), "finding");
            let changed = format!("{verdicts}, {findings}");
            row(&counted(found.compared, "experiment"), &["".to_owned(), "".to_owned(), changed])
        }
        None => missing("experiments", &drift.experiments),
    });
    page.paragraph(format!("| | new | gone | changed |\n|---|---|---|---|\n{}", rows.join("\n")));
}

fn row(what: &str, cells: &[String; 3]) -> String {
    format!("| {what} | {} |", cells.join(" | "))
}

fn missing<T>(what: &str, part: &Part<T>) -> String {
    let why = match part {
        Part::Absent { why } => why.as_str(),
        Part::LeftOut => "left out",
        Part::Unseen { .. } | Part::Compared(_) => "not looked at",
    };
    row(what, &[inert(why), "".to_owned(), "".to_owned()])
}

fn to_write_code_for(names: &Names, page: &mut Page) {
    page.paragraph("## To write code for");
    let unknown: Vec<&Name> = names.unknown().collect();
    if unknown.is_empty() {
        page.paragraph("Nothing: countersign-protocol knows every name that appeared.");
        return;
    }
    page.paragraph("Names that appeared and that countersign-protocol does not know yet:");
    by_kind(&unknown, page);
}

fn protocol(names: &Names, page: &mut Page) {
    page.paragraph("## Names of the protocol");
    let lists = [
        ("Appeared", &names.appeared, ""),
        ("Vanished", &names.vanished, ""),
        (
            "Perhaps appeared",
            &names.perhaps_appeared,
            "The text stands in both executables, but only the new one was seen to use it as a name. \
             It may have been there all along.",
        ),
    ];
    let mut any = false;
    for (title, list, remark) in lists {
        let list: Vec<_> = list.iter().filter(|name| name.kind != Kind::Flag).collect();
        if list.is_empty() {
            continue;
        }
        any = true;
        page.paragraph(format!("### {title} ({})", list.len()));
        if !remark.is_empty() {
            page.paragraph(remark);
        }
        by_kind(&list, page);
    }
    if !any {
        page.paragraph("The same in both.");
    }
}

fn by_kind(names: &[&Name], page: &mut Page) {
    let of_kind = |kind: Kind| -> Vec<&str> {
        let list = names.iter().filter(|name| name.kind == kind);
        list.map(|name| name.name.as_str()).collect()
    };
    let lists = Kind::ALL.into_iter().map(|kind| (kind, of_kind(kind)));
    let lists = lists.filter(|(_, list)| !list.is_empty());
    page.list(lists.map(|(kind, list)| {
        format!("{} ({}): {}", kind.title(), list.len(), codes(list.iter().copied()))
    }));
}

fn experiments(found: &ExperimentChanges, drift: &Drift, page: &mut Page) {
    page.paragraph("## Experiments");
    if found.verdicts.is_empty() && found.findings.is_empty() {
        let count = counted(found.compared, "experiment");
        page.paragraph(format!("{count} found the same on both."));
        return;
    }
    if !found.verdicts.is_empty() {
        page.paragraph(format!("### Verdicts ({})", found.verdicts.len()));
        page.list(found.verdicts.iter().map(|change| {
            let (id, name) = (inert(&change.experiment), inert(&change.name));
            format!("{id} {name}: {} → {}", change.old, change.new)
        }));
    }
    if !found.findings.is_empty() {
        page.paragraph(format!("### Findings ({})", found.findings.len()));
        let value = |value: &Option<String>| match value {
            Some(text) => inert(&bounded(text)),
            None => "not asked".to_owned(),
        };
        let rows: Vec<_> = found
            .findings
            .iter()
            .map(|change| {
                let (id, finding) = (inert(&change.experiment), inert(&change.finding));
                format!("| {id} | {finding} | {} | {} |", value(&change.old), value(&change.new))
            })
            .collect();
        let (old, new) = (inert(&drift.old), inert(&drift.new));
        page.paragraph(format!(
            "| | finding | {old} | {new} |\n|---|---|---|---|\n{}",
            rows.join("\n")
        ));
    }
}

fn flags(help: &HelpChanges, names: Option<&Names>, page: &mut Page) {
    for (title, changes) in [("Flags", &help.flags), ("Commands", &help.commands)] {
        page.paragraph(format!("## {title}"));
        if *changes == EntryChanges::default() {
            page.paragraph("`--help` tells of the same ones in both.");
        }
        for (what, list) in [("Added", &changes.added), ("Removed", &changes.removed)] {
            if !list.is_empty() {
                page.paragraph(format!("### {what} ({})", list.len()));
                page.list(list.iter().map(told));
            }
        }
        if !changes.changed.is_empty() {
            page.paragraph(format!("### Changed ({})", changes.changed.len()));
            page.list(
                changes
                    .changed
                    .iter()
                    .map(|(old, new)| format!("{}  \n  before: {}", told(new), told(old))),
            );
        }
        if !changes.reworded.is_empty() {
            let list = codes(changes.reworded.iter().map(|(_, new)| new.name()));
            let count = changes.reworded.len();
            page.paragraph(format!("Described in other words ({count}): {list}"));
        }
        if let Some(names) = names.filter(|_| title == "Flags") {
            hidden_flags(help, names, page);
        }
    }
}

/// Flags that stand in the executable and that the help text does not tell of.
fn hidden_flags(help: &HelpChanges, names: &Names, page: &mut Page) {
    let told: Vec<&String> = [&help.flags.added, &help.flags.removed]
        .into_iter()
        .flatten()
        .flat_map(|entry| &entry.names)
        .collect();
    let hidden = |list: &[Name]| -> Vec<String> {
        let flags = list.iter().filter(|name| name.kind == Kind::Flag);
        let hidden = flags.filter(|name| !told.contains(&&name.name));
        hidden.map(|name| name.name.clone()).collect()
    };
    let lists = [("appeared", hidden(&names.appeared)), ("vanished", hidden(&names.vanished))];
    if lists.iter().all(|(_, list)| list.is_empty()) {
        return;
    }
    page.paragraph("### Not in `--help`");
    page.paragraph(
        "Flags that the executable declares, hidden ones and those of its commands, and of programs \
         that it starts:",
    );
    let lists = lists.iter().filter(|(_, list)| !list.is_empty());
    page.list(lists.map(|(what, list)| {
        format!("{what} ({}): {}", list.len(), codes(list.iter().map(String::as_str)))
    }));
}

fn told(entry: &Entry) -> String {
    let mut term = entry.names.join(", ");
    if !entry.argument.is_empty() {
        let _ = write!(term, " {}", entry.argument);
    }
    format!("{}: {}", code(&term), inert(&bounded(&entry.words)))
}

fn types(types: &Types, page: &mut Page) {
    page.paragraph("## Published types");
    for (what, files) in [("new", &types.files_added), ("gone", &types.files_removed)] {
        for (file, count) in files {
            let count = counted(*count, "declaration");
            page.paragraph(format!("{} is {what}, with {count}.", code(file)));
        }
    }
    let Types { unions, added, removed, changed, .. } = types;
    if unions.is_empty() && added.is_empty() && removed.is_empty() && changed.is_empty() {
        page.paragraph("All other declarations are the same in both.");
        return;
    }
    if !unions.is_empty() {
        page.paragraph(format!("### Members of unions ({})", unions.len()));
        page.list(unions.iter().map(|union| {
            let mut item = code(&union.name);
            for (what, list) in [("new", &union.added), ("gone", &union.removed)] {
                if !list.is_empty() {
                    let _ = write!(item, "; {what}: {}", codes(list.iter().map(String::as_str)));
                }
            }
            item
        }));
    }
    for (what, list) in [("Added", added), ("Removed", removed)] {
        if !list.is_empty() {
            page.paragraph(format!("### {what} ({})", list.len()));
            by_group(list, page);
        }
    }
    if !changed.is_empty() {
        page.paragraph(format!("### Changed ({})", changed.len()));
        let mut ordered: Vec<_> = changed.iter().collect();
        ordered.sort_by_key(|changed| Group::of(&changed.file, &changed.name));
        for changed in ordered {
            page.paragraph(format!("{} in {}:", code(&changed.name), code(&changed.file)));
            page.verbatim(changed.diff.iter().take(SHOWN).map(String::as_str));
            if let Some(more) = changed.diff.len().checked_sub(SHOWN).filter(|more| *more > 0) {
                page.paragraph(format!("… and {} more", counted(more, "line")));
            }
        }
    }
}

/// What a declaration is about, the most important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Control,
    Messages,
    Hooks,
    Tools,
    Others,
}

impl Group {
    fn of(file: &str, name: &str) -> Self {
        if file.starts_with("sdk-tools") {
            Self::Tools
        } else if name.starts_with("SDKControl") {
            Self::Control
        } else if name.starts_with("SDK") {
            Self::Messages
        } else if name.contains("Hook") {
            Self::Hooks
        } else {
            Self::Others
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Control => "control requests and responses",
            Self::Messages => "messages",
            Self::Hooks => "hooks",
            Self::Tools => "tools",
            Self::Others => "others",
        }
    }
}

fn by_group(list: &[Declared], page: &mut Page) {
    let mut groups: BTreeMap<Group, Vec<&str>> = BTreeMap::new();
    for declared in list {
        groups.entry(Group::of(&declared.file, &declared.name)).or_default().push(&declared.name);
    }
    page.list(groups.into_iter().map(|(group, list)| {
        format!("{} ({}): {}", group.title(), list.len(), codes(list.iter().copied()))
    }));
}

fn counted(count: usize, what: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {what}{ending}")
}

fn codes<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().map(code).collect();
    names.join(", ")
}

/// A text between the marks within which nothing has a meaning, where that is possible.
fn code(text: &str) -> String {
    if text.is_empty() || text.contains('`') || text.contains(char::is_control) {
        inert(text)
    } else {
        format!("`{text}`")
    }
}

fn bounded(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let shown: String = text.chars().take(LONGEST).collect();
    format!("{shown}…")
}
