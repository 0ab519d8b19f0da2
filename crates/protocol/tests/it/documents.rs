//! What the documents name is there.

use std::fs;
use std::path::Path;

/// Paths in backticks that begin with one of these are promises.
const ROOTS: [&str; 5] = ["crates/", "bench/", "fixtures/", "fuzz/", "docs/"];

#[test]
fn paths_in_documents_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for document in
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/performance.md"]
    {
        let text = fs::read_to_string(root.join(document)).unwrap();
        let code = text.split('`').skip(1).step_by(2);
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let mut found = 0;
        for path in code.filter(|code| ROOTS.iter().any(|root| code.starts_with(root))).chain(links)
        {
            if path.starts_with("http") || path.contains(['<', ' ', '*']) {
                continue;
            }
            found += 1;
            assert!(root.join(path).exists(), "{document} names {path}, which is not there");
        }
        assert!(found > 0 || document == "CHANGELOG.md" || document.starts_with("docs/"));
    }
}
