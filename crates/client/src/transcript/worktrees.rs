//! The working trees of a git repository, read from its files.

use std::fs;
use std::path::{Path, PathBuf};

/// How many working trees are looked at.
const MOST: usize = 1000;

/// The roots of all working trees of the repository that a folder is in; none if it is in none.
///
/// Git itself is not run. A repository says in `.git/worktrees/*/gitdir` where its other working
/// trees are; one that was removed by hand is listed until git prunes it, which does no harm.
pub(super) fn of(directory: &Path) -> Vec<PathBuf> {
    let Some(common) = directory.ancestors().find_map(common_folder) else { return Vec::new() };
    let mut roots = Vec::new();
    if common.file_name().is_some_and(|name| name == ".git") {
        roots.extend(common.parent().map(Path::to_owned));
    }
    let linked = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
    for tree in linked.take(MOST) {
        let Some(file) = first_line(&tree.path().join("gitdir")) else { continue };
        // It names the file `.git` of the tree, from the folder it stands in on if not from the
        // root.
        let file = tree.path().join(file);
        roots.extend(file.parent().map(|root| root.canonicalize().unwrap_or_else(|_| root.into())));
    }
    roots
}

/// The folder that all working trees share, if this is the root of one.
fn common_folder(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    let folder = if git.is_dir() {
        git
    } else {
        root.join(first_line(&git)?.strip_prefix("gitdir:")?.trim_start())
    };
    let common = match first_line(&folder.join("commondir")) {
        Some(common) => folder.join(common),
        None => folder,
    };
    common.canonicalize().ok()
}

fn first_line(file: &Path) -> Option<String> {
    // A file of git that names a folder is short.
    let metadata = fs::metadata(file).ok()?;
    if !metadata.is_file() || metadata.len() > 64 << 10 {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    text.lines().next().map(|line| line.trim_end().to_owned())
}
