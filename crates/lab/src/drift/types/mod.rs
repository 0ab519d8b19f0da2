//! The types that the TypeScript SDK of a release publishes.

mod declarations;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use self::declarations::{Declaration, declarations};
use crate::sdk::Sdk;

/// What changed in the published types.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Types {
    /// The version of the SDK that belongs to the old CLI.
    pub old: String,
    /// The version of the SDK that belongs to the new CLI.
    pub new: String,
    /// Files that only the new package has, with the number of their declarations.
    pub files_added: BTreeMap<String, usize>,
    /// Files that only the old package has, with the number of their declarations.
    pub files_removed: BTreeMap<String, usize>,
    /// Unions of literals and of names that have other members.
    pub unions: Vec<Union>,
    /// Declarations that only the new package has.
    pub added: Vec<Declared>,
    /// Declarations that only the old package has.
    pub removed: Vec<Declared>,
    /// All other declarations that are not the same.
    pub changed: Vec<Changed>,
}

/// A union that has other members than before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Union {
    /// The file.
    pub file: String,
    /// Its name.
    pub name: String,
    /// The members that are new.
    pub added: Vec<String>,
    /// The members that are gone.
    pub removed: Vec<String>,
}

/// A declaration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Declared {
    /// The file.
    pub file: String,
    /// Its name.
    pub name: String,
    /// It can be imported.
    pub exported: bool,
    /// Its text, without comments.
    pub lines: Vec<String>,
}

/// A declaration that is not the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Changed {
    /// The file.
    pub file: String,
    /// Its name.
    pub name: String,
    /// It can be imported.
    pub exported: bool,
    /// The lines that went, after `- `, and those that came, after `+ `. A member of a union has the
    /// line to which it belongs before it, after two spaces.
    pub diff: Vec<String>,
}

impl Types {
    /// Compares two packages.
    ///
    /// # Errors
    ///
    /// When a file cannot be read, or a package publishes no types.
    pub fn compare(old: &Sdk, new: &Sdk) -> Result<Self, TypesError> {
        let mut types = Self {
            old: old.version().to_owned(),
            new: new.version().to_owned(),
            ..Self::default()
        };
        let (before, after) = (files(old.folder())?, files(new.folder())?);
        let only_in = |these: &Files, others: &Files| {
            let only = these.iter().filter(|(file, _)| !others.contains_key(*file));
            only.map(|(file, declared)| (file.clone(), declared.len())).collect()
        };
        types.files_added = only_in(&after, &before);
        types.files_removed = only_in(&before, &after);
        for (file, now) in &after {
            if let Some(then) = before.get(file) {
                types.compare_file(file, then, now);
            }
        }
        Ok(types)
    }

    fn compare_file(&mut self, file: &str, old: &Declarations, new: &Declarations) {
        let declared = |(name, declaration): (&String, &Declaration)| Declared {
            file: file.to_owned(),
            name: name.clone(),
            exported: declaration.exported,
            lines: declaration.lines.clone(),
        };
        let only_in = |these: &Declarations, others: &Declarations| -> Vec<Declared> {
            these.iter().filter(|(name, _)| !others.contains_key(*name)).map(declared).collect()
        };
        self.removed.extend(only_in(old, new));
        self.added.extend(only_in(new, old));
        for (name, now) in new {
            let Some(then) = old.get(name).filter(|then| *then != now) else { continue };
            let file = file.to_owned();
            let name = name.clone();
            if let (Some(before), Some(after)) = (then.members(), now.members()) {
                let only_in = |these: &BTreeSet<&str>, others: &BTreeSet<&str>| -> Vec<String> {
                    these.difference(others).map(|&member| member.to_owned()).collect()
                };
                let (added, removed) = (only_in(&after, &before), only_in(&before, &after));
                // The same members in another order are the same union.
                if !added.is_empty() || !removed.is_empty() {
                    self.unions.push(Union { file, name, added, removed });
                }
            } else {
                let diff = diff(&then.lines, &now.lines);
                self.changed.push(Changed { file, name, exported: now.exported, diff });
            }
        }
    }
}

type Declarations = BTreeMap<String, Declaration>;
type Files = BTreeMap<String, Declarations>;

/// The longest declaration file that is read.
const LONGEST: u64 = 32 << 20;

/// The declaration files of a package.
fn files(folder: &Path) -> Result<Files, TypesError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| TypesError::File { path, source }
    };
    let mut files = Files::new();
    for entry in fs::read_dir(folder).map_err(failed(folder))? {
        let path = entry.map_err(failed(folder))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if ![".d.ts", ".d.mts"].iter().any(|ending| name.ends_with(ending)) {
            continue;
        }
        let mut text = Vec::new();
        let file = fs::File::open(&path).map_err(failed(&path))?;
        file.take(LONGEST).read_to_end(&mut text).map_err(failed(&path))?;
        files.insert(name.to_owned(), declarations(&String::from_utf8_lossy(&text)));
    }
    if files.values().all(BTreeMap::is_empty) {
        return Err(TypesError::Nothing { folder: folder.to_owned() });
    }
    Ok(files)
}

fn diff(old: &[String], new: &[String]) -> Vec<String> {
    let old: Vec<&str> = old.iter().map(String::as_str).collect();
    let new: Vec<&str> = new.iter().map(String::as_str).collect();
    let mut lines = Vec::new();
    // To whom the members of a union belong.
    let mut owner = None;
    for change in TextDiff::from_slices(&old, &new).iter_all_changes() {
        let line = change.value();
        let mark = match change.tag() {
            ChangeTag::Equal => {
                if !is_member(line) {
                    owner = Some(line);
                }
                continue;
            }
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        if !is_member(line) {
            owner = None;
        } else if let Some(owner) = owner.take() {
            lines.push(format!("  {owner}"));
        }
        lines.push(format!("{mark} {line}"));
    }
    lines
}

fn is_member(line: &str) -> bool {
    line.trim_start().starts_with('|')
}

/// Why the published types could not be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TypesError {
    /// A file or the folder cannot be read.
    #[error("{} cannot be read", path.display())]
    File {
        /// The file or the folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The package has no declarations.
    #[error("there are no types in {}", folder.display())]
    Nothing {
        /// The folder of the package.
        folder: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_of_a_union_is_shown_with_its_owner() {
        let text = |members: &str| {
            let text = format!("type A = {{\n  a: 1;\n  b?: 'x'{members};\n  c: 2;\n}};\n");
            declarations(&text).remove("A").unwrap().lines
        };
        let found = diff(&text(" | 'y' | 'z'"), &text(" | 'y' | 'new' | 'z'"));
        assert_eq!(found, ["    b?: 'x'", "+     | 'new'"]);
    }

    #[test]
    fn unions_are_compared_by_their_members() {
        let (mut types, mut again) = (Types::default(), Types::default());
        let old = declarations("export type M = 'a' | 'b' | null;\ntype Gone = 1;\n");
        let new = declarations("export type M =\n  | 'c'\n  | 'b'\n  | null;\ntype N = {};\n");
        types.compare_file("f", &old, &new);
        assert_eq!(types.unions[0].added, ["'c'"]);
        assert_eq!(types.unions[0].removed, ["'a'"]);
        assert_eq!((types.added[0].name.as_str(), types.removed[0].name.as_str()), ("N", "Gone"));
        assert!(types.changed.is_empty());
        again.compare_file(
            "f",
            &old,
            &declarations("export type M = 'b' | 'a' | null;\ntype Gone = 1;"),
        );
        assert_eq!(again, Types::default(), "another order is no change");
    }
}
