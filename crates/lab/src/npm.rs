//! The package manager: packages, each installed once into a cache folder.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::Stdio;

use crate::process::{inheriting, on_path};
use crate::versions::InstallError;

/// A package that is to be in a folder of its own in a cache.
#[derive(Debug)]
pub(crate) struct Package<'a> {
    /// The cache.
    pub(crate) cache: &'a Path,
    /// The name of its folder there.
    pub(crate) folder: &'a str,
    /// What the package manager calls it: name and version.
    pub(crate) spec: &'a str,
    /// What the package manager is told besides.
    pub(crate) flags: &'a [&'a str],
}

impl Package<'_> {
    /// What is found in the folder of the package, which is installed now if it was not yet.
    ///
    /// Nothing, if the package was installed and does not have what is looked for; then it is not
    /// kept.
    pub(crate) async fn install<T>(
        &self,
        find: impl Fn(&Path) -> Option<T>,
    ) -> Result<Option<T>, InstallError> {
        let place = self.cache.join(self.folder);
        if let Some(found) = find(&place) {
            return Ok(Some(found));
        }
        let failed = |source| InstallError::Folder { folder: self.cache.to_owned(), source };
        fs::create_dir_all(self.cache).map_err(failed)?;
        let _lock = self.lock().await.map_err(failed)?;
        if let Some(found) = find(&place) {
            return Ok(Some(found));
        }

        // Installed beside its place and then moved, so that a broken install is never found. Each
        // try has a folder of its own: the npm of one that was killed may still write to its.
        let prefix = format!(".{}.part", self.folder);
        remove_all(self.cache, &prefix).map_err(failed)?;
        let scratch =
            tempfile::Builder::new().prefix(&prefix).tempdir_in(self.cache).map_err(failed)?;
        let draft = scratch.path().join("package");
        let draft_text = draft.to_string_lossy();
        let mut arguments = vec!["install", "--prefix", &draft_text, "--no-audit", "--no-fund"];
        // No package's own script is run.
        arguments.extend(["--ignore-scripts", "--loglevel=error"]);
        arguments.extend(self.flags);
        arguments.push(self.spec);
        npm(arguments).await?;
        if find(&draft).is_none() {
            return Ok(None);
        }
        remove(&place).and_then(|()| fs::rename(&draft, &place)).map_err(failed)?;
        Ok(find(&place))
    }

    /// Waits until nobody else installs this package. The lock goes with the file, also when the
    /// process is killed.
    async fn lock(&self) -> io::Result<File> {
        let path = self.cache.join(format!(".{}.lock", self.folder));
        let locked = tokio::task::spawn_blocking(move || {
            let file = File::create(path)?;
            file.lock()?;
            Ok(file)
        });
        locked.await.map_err(io::Error::other)?
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes the folders whose names begin with this: what earlier tries left.
fn remove_all(folder: &Path, prefix: &str) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Runs the package manager, and returns what it says.
pub(crate) async fn npm<'a>(
    arguments: impl IntoIterator<Item = &'a str>,
) -> Result<String, InstallError> {
    let npm = on_path("npm").ok_or(InstallError::NoNpm)?;
    let output = inheriting(npm)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .await
        .map_err(|source| InstallError::Start { source })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(InstallError::Npm { said });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
