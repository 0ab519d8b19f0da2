//! Puts defaults, file, environment and flags together.
//!
//! Each layer is a table. It is read as a configuration of its own first, so that a mistake is
//! reported where it was made: in the file with its line, and for variables and flags one by one.
//! Only then the tables are laid over one another.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::Config;
use super::error::{ConfigError, Origin};
use super::flags::{Flags, single};
use super::keys::{self, FILE_ONLY, KEYS, Kind};

/// Where a configuration comes from.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// The working folder, which paths in the environment and in flags are relative to. Paths in the
    /// file are relative to its folder.
    pub folder: PathBuf,
    /// The command line.
    pub flags: Flags,
}

impl Source {
    /// The environment and the working folder of this process, and these flags.
    ///
    /// # Errors
    ///
    /// The working folder is gone.
    pub fn of_this_process(flags: Flags) -> io::Result<Self> {
        let environment = std::env::vars_os().collect();
        Ok(Self { environment, folder: std::env::current_dir()?, flags })
    }

    fn variable(&self, name: &str) -> Option<&Path> {
        self.environment.get(&OsString::from(name)).filter(|value| !value.is_empty()).map(Path::new)
    }

    /// A folder of the user: what the variable says, or else this one in the home folder.
    fn folder_of_user(&self, variable: &str, in_home: &str) -> Option<PathBuf> {
        // The base directory specification says to ignore paths that are not absolute.
        let said = self.variable(variable).filter(|path| path.is_absolute());
        said.map(Path::to_owned).or_else(|| Some(self.variable("HOME")?.join(in_home)))
    }
}

/// A configuration, and where each value of it was set.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// The file that was read, if there was one.
    pub file: Option<PathBuf>,
    /// Where keys were set that were set.
    pub(super) origins: BTreeMap<String, Origin>,
    /// Variables that look as if they were meant for the server.
    pub(super) unknown_variables: Vec<String>,
}

impl Loaded {
    /// Where a key was set.
    #[must_use]
    pub fn origin(&self, key: &str) -> &Origin {
        self.origins.get(key).unwrap_or(&Origin::Default)
    }
}

pub(super) fn load(source: &Source) -> Result<Loaded, ConfigError> {
    let mut table = Table::new();
    let mut origins = BTreeMap::new();
    let home = source.variable("HOME");

    let file = find_file(source);
    if let Some(file) = &file {
        let text = fs::read_to_string(file)
            .map_err(|source| ConfigError::Read { file: file.clone(), source })?;
        table = read_file(file, &text, &mut origins)?;
        resolve_paths(&mut table, file.parent().unwrap_or(Path::new("")), home);
    }

    let mut unknown_variables = Vec::new();
    // An empty variable is one that is not set: that is how it is taken back where it cannot be unset.
    for (name, text) in source.environment.iter().filter(|(_, text)| !text.is_empty()) {
        // A variable of ours has a name that can be read.
        let Some(name) = name.to_str().filter(|name| name.starts_with("COUNTERSIGN_")) else {
            continue;
        };
        if let Some((key, mut over)) = read_variable(name, text)? {
            resolve_paths(&mut over, &source.folder, home);
            keys::merge(&mut table, over);
            origins.insert(key.to_owned(), Origin::Environment(name.to_owned()));
        } else if keys::is_unknown(name) {
            unknown_variables.push(name.to_owned());
        }
    }

    let flags = source.flags.values().map_err(|key| ConfigError::Flag {
        key,
        message: "the path is not Unicode; give it another name".to_owned(),
    })?;
    for (key, value) in flags {
        let mut over = single(key, value);
        understood(&over).map_err(|message| ConfigError::Flag { key, message })?;
        resolve_paths(&mut over, &source.folder, home);
        keys::merge(&mut table, over);
        origins.insert(key.to_owned(), Origin::Flag);
    }

    // Every layer was understood alone, so what is left to go wrong is how they fit together.
    let mut config: Config =
        table.try_into().map_err(|error: toml::de::Error| ConfigError::File {
            file: file.clone().unwrap_or_default(),
            line: 1,
            key: None,
            message: error.message().to_owned(),
        })?;
    if config.data.as_os_str().is_empty() {
        let folder = source.folder_of_user("XDG_DATA_HOME", ".local/share");
        config.data = folder.ok_or(ConfigError::NoHome)?.join("countersign");
    }
    config.store = config.store.within(&config.data);
    Ok(Loaded { config, file, origins, unknown_variables })
}

/// The file that was asked for, or the one at its usual place if there is one.
fn find_file(source: &Source) -> Option<PathBuf> {
    let asked = source.flags.config.as_deref().or_else(|| source.variable("COUNTERSIGN_CONFIG"));
    asked.map(|path| source.folder.join(path)).or_else(|| {
        let folder = source.folder_of_user("XDG_CONFIG_HOME", ".config")?;
        // Something at that place that cannot be read is an error, not the absence of a file.
        Some(folder.join("countersign/server.toml")).filter(|file| file.symlink_metadata().is_ok())
    })
}

/// Reads the file, and notes where each key was set.
fn read_file(
    file: &Path,
    text: &str,
    origins: &mut BTreeMap<String, Origin>,
) -> Result<Table, ConfigError> {
    let tree = DeTable::parse(text);
    let wrong = |error: &toml::de::Error| {
        let span = error.span().unwrap_or(0..0);
        let key = tree.as_ref().ok().and_then(|tree| key_at(tree.get_ref(), &span, ""));
        ConfigError::File {
            file: file.to_owned(),
            line: line_of(text, span.start),
            key,
            message: error.message().trim_end().replace('\n', "; "),
        }
    };
    let tree = match &tree {
        Ok(tree) => tree,
        Err(error) => return Err(wrong(error)),
    };
    toml::from_str::<Config>(text).map_err(|error| wrong(&error))?;
    note_origins(tree.get_ref(), "", &mut |key, offset| {
        let line = line_of(text, offset);
        origins.insert(key, Origin::File { file: file.to_owned(), line });
    });
    toml::from_str(text).map_err(|error| wrong(&error))
}

/// The key of a variable, and a table with its value. Nothing for a variable that sets no key.
fn read_variable(
    name: &str,
    text: &OsString,
) -> Result<Option<(&'static str, Table)>, ConfigError> {
    let wrong = |message: String| ConfigError::Environment { name: name.to_owned(), message };
    if let Some(key) = FILE_ONLY.iter().find(|key| keys::variable(key) == name) {
        return Err(wrong(format!("`{key}` does not fit into a variable; write it into the file")));
    }
    let Some((key, kind)) = KEYS.iter().find(|(key, _)| keys::variable(key) == name) else {
        return Ok(None);
    };
    let text = text.to_str().ok_or_else(|| wrong("its value is not Unicode".to_owned()))?;
    let table = single(key, keys::value(name, *kind, text)?);
    understood(&table).map_err(wrong)?;
    Ok(Some((key, table)))
}

/// Whether a table alone is a configuration, and if not, why.
fn understood(table: &Table) -> Result<(), String> {
    let config: Result<Config, _> = table.clone().try_into();
    config.map(drop).map_err(|error| error.message().trim_end().replace('\n', "; "))
}

/// Makes all paths absolute.
fn resolve_paths(table: &mut Table, folder: &Path, home: Option<&Path>) {
    let resolve = |value: &mut Value| {
        if let Value::String(text) = value {
            let path = match (text.strip_prefix('~'), home) {
                (Some(""), Some(home)) => home.to_owned(),
                (Some(rest), Some(home)) if rest.starts_with('/') => {
                    home.join(rest.trim_start_matches('/'))
                }
                _ => folder.join(&*text),
            };
            // All parts were Unicode but perhaps the folder, and then the path is left as it was.
            if let Some(path) = path.to_str() {
                path.clone_into(text);
            }
        }
    };
    for (key, kind) in KEYS {
        match (kind, keys::get_mut(table, key)) {
            (Kind::Path, Some(value)) => resolve(value),
            (Kind::Paths, Some(Value::Array(values))) => values.iter_mut().for_each(resolve),
            _ => {}
        }
    }
    if let Some(Value::Array(hooks)) = table.get_mut("webhooks") {
        for hook in hooks {
            if let Some(file) = hook.get_mut("secret_file") {
                resolve(file);
            }
        }
    }
}

/// The line that a place in the text is in, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

fn joined(front: &str, key: &str) -> String {
    if front.is_empty() { key.to_owned() } else { format!("{front}.{key}") }
}

/// The innermost key that a span belongs to.
fn key_at(table: &DeTable<'_>, span: &Range<usize>, front: &str) -> Option<String> {
    let within = |outer: Range<usize>| outer.start <= span.start && span.end <= outer.end;
    table.iter().find_map(|(key, value)| {
        let name = joined(front, key.get_ref());
        if within(key.span()) {
            return Some(name);
        }
        let inner = match value.get_ref() {
            // The span of a table is its heading, or nothing, so its keys have to be asked.
            DeValue::Table(inner) => key_at(inner, span, &name),
            DeValue::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
                let name = format!("{name}[{index}]");
                let table = item.get_ref().as_table();
                table
                    .and_then(|table| key_at(table, span, &name))
                    .or_else(|| within(item.span()).then_some(name))
            }),
            _ => None,
        };
        inner.or_else(|| within(value.span()).then_some(name))
    })
}

/// Names each key that has a value, with the place of the key.
fn note_origins(table: &DeTable<'_>, front: &str, note: &mut impl FnMut(String, usize)) {
    for (key, value) in table {
        let name = joined(front, key.get_ref());
        match value.get_ref() {
            DeValue::Table(inner) => note_origins(inner, &name, note),
            DeValue::Array(items) => {
                note_tables(items, &name, note);
                note(name, key.span().start);
            }
            _ => note(name, key.span().start),
        }
    }
}

fn note_tables(items: &[Spanned<DeValue<'_>>], front: &str, note: &mut impl FnMut(String, usize)) {
    for (index, item) in items.iter().enumerate() {
        if let DeValue::Table(inner) = item.get_ref() {
            let name = format!("{front}[{index}]");
            note_origins(inner, &name, note);
            note(name, item.span().start);
        }
    }
}
