//! What a browser loads before anything is to be seen: the page of a server without sessions.

use super::visitor::Visitor;
use crate::load::Failure;
use crate::load::report::{Cell, Report, Table};

/// The page, and what it names.
const PARTS: [&str; 5] =
    ["/", "/assets/page.css", "/assets/page.js", "/assets/icon.svg", "/manifest.webmanifest"];

/// How much all of it may be, in bytes.
const MOST: u64 = 150_000;

pub(super) async fn measure(visitor: &Visitor, report: &mut Report) -> Result<(), Failure> {
    let mut table = Table::new("page, weight", "a server without sessions", &["bytes"]);
    let (mut sum, mut page) = (0, String::new());
    for path in PARTS {
        let loaded = visitor.get(path).await?;
        let bytes = u64::try_from(loaded.text.len())?;
        sum += bytes;
        table.row(path, &[Cell::Count(bytes)]);
        if path == "/" {
            page = loaded.text;
        }
    }
    table.row("all of it", &[Cell::Count(sum)]);
    report.add(table);
    report.expect("things that the page loads", PARTS.len() as u64 - 1, named_in(&page));
    report.expect_below("bytes of the first view", MOST, sum);
    Ok(())
}

/// How many things a page loads that are not the page.
fn named_in(page: &str) -> u64 {
    let is_loaded = |address: &&str| {
        address.starts_with("/assets/")
            || address.starts_with("/manifest")
            || address.contains("//")
    };
    let named = |attribute: &str| {
        let values = page.split(attribute).skip(1);
        let addresses = values.filter_map(|rest| rest.split(['"', '?']).next());
        addresses.filter(is_loaded).map(str::to_owned).collect::<Vec<_>>()
    };
    let mut all = named("href=\"");
    all.extend(named("src=\""));
    all.sort_unstable();
    all.dedup();
    all.len() as u64
}

#[cfg(test)]
mod tests {
    use super::named_in;

    #[test]
    fn what_is_named_twice_is_loaded_once() {
        let page = r#"<link href="/assets/a.css?1"><img src="/assets/i.svg"><a href="/new">
            <link href="/assets/i.svg"><script src="https://elsewhere/x.js"></script>"#;
        assert_eq!(named_in(page), 3);
    }
}
