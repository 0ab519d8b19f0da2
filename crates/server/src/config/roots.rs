//! The folders that sessions may use.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use thiserror::Error;

/// The folders that sessions may use, each with all that is in it.
///
/// Paths are compared by component, as they are on the disk: `/srv/work` does not contain
/// `/srv/workshop`, and a link that leads out of a root is out of it. The answer is the resolved path,
/// and it is what a session has to be started in, not what was asked for.
///
/// A path that does not even read like one within a root is refused without a look at the disk, so
/// that nobody learns what there is elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    roots: Vec<Root>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Root {
    /// As it was configured, which people go on writing.
    configured: PathBuf,
    /// As it is on the disk.
    resolved: PathBuf,
}

/// Why a root cannot be one.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RootsError {
    /// Nobody could say what it is relative to.
    #[error("the root {root} is not an absolute path; write it with a `/` at its front")]
    Relative {
        /// The root.
        root: PathBuf,
    },
    /// It is not there, or not for us.
    #[error("the root {root} cannot be used: {source}; create it, or take it out of `roots`")]
    Unusable {
        /// The root.
        root: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is a file.
    #[error("the root {root} is not a folder; name the folder that it is in")]
    NotAFolder {
        /// The root.
        root: PathBuf,
    },
}

/// Why a session may not use a folder.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FolderError {
    /// There is none that it might use.
    #[error(
        "no folder is open to sessions yet; add one to `roots` in the configuration, or start the \
         server with --root FOLDER"
    )]
    NoRoots,
    /// Nobody could say what it is relative to.
    #[error("the folder is not an absolute path; write it with a `/` at its front")]
    Relative,
    /// It goes up.
    #[error("the folder has `..` in it; write the path that it leads to")]
    GoesUp,
    /// It is in no root.
    #[error("the folder is not within a root of this server; the roots are {roots}")]
    Outside {
        /// The roots.
        roots: String,
    },
    /// A link on the way leads out of the roots.
    #[error("the folder leads out of the roots of this server by a link; the roots are {roots}")]
    LeadsOut {
        /// The roots.
        roots: String,
    },
    /// It is not there, or not for us.
    #[error("the folder cannot be used: {0}; create it first")]
    Unusable(#[source] io::Error),
    /// It is a file.
    #[error("this is not a folder; name the folder that it is in")]
    NotAFolder,
}

/// A folder that a session was made for is not what it was.
#[derive(Debug, Error)]
#[error(
    "the folder {folder} leads to another place now, or is in no root any more: put it back, or start \
     a session there ({why})"
)]
pub struct FolderMoved {
    /// The folder.
    pub folder: String,
    /// What is wrong with it.
    pub why: String,
}

impl Roots {
    /// Resolves the roots, all of which have to be there.
    ///
    /// # Errors
    ///
    /// A root is not an absolute path of a folder that can be looked up.
    pub fn new(roots: &[PathBuf]) -> Result<Self, RootsError> {
        let resolve = |root: &PathBuf| {
            if !root.is_absolute() {
                return Err(RootsError::Relative { root: root.clone() });
            }
            let unusable = |source| RootsError::Unusable { root: root.clone(), source };
            let resolved = fs::canonicalize(root).map_err(unusable)?;
            if !fs::metadata(&resolved).map_err(unusable)?.is_dir() {
                return Err(RootsError::NotAFolder { root: root.clone() });
            }
            Ok(Root { configured: root.clone(), resolved })
        };
        Ok(Self { roots: roots.iter().map(resolve).collect::<Result<_, _>>()? })
    }

    /// The roots, as they are on the disk.
    pub fn iter(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|root| root.resolved.as_path())
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// The folder as it is on the disk, if sessions may use it.
    ///
    /// It touches the disk, so call it where that is allowed.
    ///
    /// # Errors
    ///
    /// The folder is not within a root, or there is none.
    pub fn folder(&self, asked: &Path) -> Result<PathBuf, FolderError> {
        if self.is_empty() {
            return Err(FolderError::NoRoots);
        }
        if !asked.is_absolute() {
            return Err(FolderError::Relative);
        }
        if asked.components().any(|part| part == Component::ParentDir) {
            return Err(FolderError::GoesUp);
        }
        let reads_as_within =
            |root: &Root| asked.starts_with(&root.configured) || asked.starts_with(&root.resolved);
        if !self.roots.iter().any(reads_as_within) {
            return Err(FolderError::Outside { roots: self.list() });
        }
        let resolved = match fs::canonicalize(asked) {
            Ok(resolved) => resolved,
            // What is not there must not tell where a link leads, so it is the same for all.
            Err(error) => return Err(FolderError::Unusable(error)),
        };
        if !self.contains(&resolved) {
            return Err(FolderError::LeadsOut { roots: self.list() });
        }
        if !fs::metadata(&resolved).map_err(FolderError::Unusable)?.is_dir() {
            return Err(FolderError::NotAFolder);
        }
        Ok(resolved)
    }

    /// Looks whether folders that were resolved once are still where they were, and within a root.
    ///
    /// # Errors
    ///
    /// One of them is not.
    pub async fn unchanged(self, folders: Vec<String>) -> Result<(), FolderMoved> {
        let look = move || {
            for folder in folders {
                let why = match self.folder(Path::new(&folder)) {
                    Ok(found) if found == Path::new(&folder) => continue,
                    Ok(_) => "a link leads elsewhere".to_owned(),
                    Err(error) => error.to_string(),
                };
                return Err(FolderMoved { folder, why });
            }
            Ok(())
        };
        let looked = tokio::task::spawn_blocking(look).await;
        // It does not panic, and nobody aborts it.
        looked.unwrap_or_else(|error| {
            Err(FolderMoved { folder: String::new(), why: error.to_string() })
        })
    }

    /// Whether a resolved path is within a root.
    #[must_use]
    pub fn contains(&self, resolved: &Path) -> bool {
        self.iter().any(|root| resolved.starts_with(root))
    }

    fn list(&self) -> String {
        let roots: Vec<_> =
            self.roots.iter().map(|root| root.configured.to_string_lossy()).collect();
        roots.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};

    use super::{FolderError, Roots, RootsError};

    /// A root `work` with a project, and beside it things that no session may use.
    struct Disk {
        folder: tempfile::TempDir,
        roots: Roots,
    }

    impl Disk {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            for name in ["work/project", "workshop", "secret"] {
                fs::create_dir_all(folder.path().join(name)).unwrap();
            }
            fs::write(folder.path().join("work/file"), "").unwrap();
            let roots = Roots::new(&[folder.path().join("work")]).unwrap();
            Self { folder, roots }
        }

        fn at(&self, path: &str) -> PathBuf {
            self.folder.path().join(path)
        }

        fn ask(&self, path: &str) -> Result<PathBuf, FolderError> {
            self.roots.folder(&self.at(path))
        }
    }

    #[test]
    fn a_root_and_what_is_in_it_can_be_used() {
        let disk = Disk::new();
        let resolved = fs::canonicalize(disk.at("work/project")).unwrap();
        assert_eq!(disk.ask("work/project").unwrap(), resolved);
        assert_eq!(disk.ask("work/./project/").unwrap(), resolved);
        assert_eq!(disk.ask("work").unwrap(), fs::canonicalize(disk.at("work")).unwrap());
    }

    #[test]
    fn a_name_that_only_begins_like_a_root_is_outside() {
        assert!(matches!(Disk::new().ask("workshop"), Err(FolderError::Outside { .. })));
    }

    #[test]
    fn a_path_that_goes_up_is_refused_even_when_it_comes_back() {
        let disk = Disk::new();
        for path in ["work/../secret", "work/project/..", "work/../work/project"] {
            assert!(matches!(disk.ask(path), Err(FolderError::GoesUp)), "{path}");
        }
    }

    #[test]
    fn a_link_that_leads_out_is_refused() {
        let disk = Disk::new();
        symlink(disk.at("secret"), disk.at("work/out")).unwrap();
        symlink(disk.at("work/out"), disk.at("work/twice")).unwrap();
        for path in ["work/out", "work/twice"] {
            assert!(matches!(disk.ask(path), Err(FolderError::LeadsOut { .. })), "{path}");
        }
    }

    #[test]
    fn a_link_that_stays_within_is_followed() {
        let disk = Disk::new();
        symlink(disk.at("work/project"), disk.at("work/alias")).unwrap();
        assert_eq!(disk.ask("work/alias").unwrap(), disk.ask("work/project").unwrap());
    }

    #[test]
    fn a_root_behind_a_link_is_known_by_both_its_names() {
        let disk = Disk::new();
        symlink(disk.at("work"), disk.at("link")).unwrap();
        let roots = Roots::new(&[disk.at("link")]).unwrap();
        let resolved = fs::canonicalize(disk.at("work/project")).unwrap();
        assert_eq!(roots.folder(&disk.at("link/project")).unwrap(), resolved);
        assert_eq!(roots.folder(&resolved).unwrap(), resolved);
    }

    #[test]
    fn whether_something_outside_exists_is_not_told() {
        let disk = Disk::new();
        let [there, not_there] =
            ["secret", "nothing"].map(|path| disk.ask(path).unwrap_err().to_string());
        assert_eq!(there, not_there);
    }

    #[test]
    fn what_is_not_a_folder_or_not_there_is_refused() {
        let disk = Disk::new();
        assert!(matches!(disk.ask("work/file"), Err(FolderError::NotAFolder)));
        assert!(matches!(disk.ask("work/nothing"), Err(FolderError::Unusable(_))));
        assert!(matches!(disk.roots.folder(Path::new("project")), Err(FolderError::Relative)));
        assert!(matches!(disk.roots.folder(Path::new("")), Err(FolderError::Relative)));
        assert!(matches!(disk.ask("work/a\0b"), Err(FolderError::Unusable(_))));
    }

    #[test]
    fn without_roots_it_is_said_how_to_add_one() {
        let error = Roots::default().folder(Path::new("/tmp")).unwrap_err();
        assert!(error.to_string().contains("--root"), "{error}");
    }

    #[test]
    fn a_root_has_to_be_a_folder_that_is_there() {
        let disk = Disk::new();
        let wrong = |path: PathBuf| Roots::new(&[path]).unwrap_err();
        assert!(matches!(wrong(disk.at("nothing")), RootsError::Unusable { .. }));
        assert!(matches!(wrong(disk.at("work/file")), RootsError::NotAFolder { .. }));
        assert!(matches!(wrong(PathBuf::from("work")), RootsError::Relative { .. }));
    }
}
