//! Checks of what a page is for people who use it in another way: axe-core, from the npm registry.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// The version that is used.
const VERSION: &str = "4.14.0";

/// The source of axe-core, for a script on a page. It is installed the first time.
pub fn axe() -> &'static str {
    static SOURCE: OnceLock<String> = OnceLock::new();
    SOURCE.get_or_init(|| {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/axe"));
        let kept = folder.join(format!("axe-{VERSION}.js"));
        if let Ok(source) = fs::read_to_string(&kept) {
            return source;
        }
        fs::create_dir_all(folder).expect("no folder for axe-core");
        // Under its name when it is complete: other tests may do the same at the same time.
        let scratch = tempfile::tempdir_in(folder).expect("no folder for axe-core");
        #[expect(clippy::disallowed_methods, reason = "npm is a program, and is waited for")]
        let installed = Command::new("npm")
            .args([
                "install",
                "--no-save",
                "--no-audit",
                "--no-fund",
                "--ignore-scripts",
                "--prefix",
            ])
            .arg(scratch.path())
            .arg(format!("axe-core@{VERSION}"))
            .output()
            .expect("npm cannot be started");
        assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
        let file = scratch.path().join("node_modules/axe-core/axe.min.js");
        let source = fs::read_to_string(&file).expect("axe-core is not where it should be");
        fs::rename(&file, &kept).expect("axe-core cannot be kept");
        source
    })
}
