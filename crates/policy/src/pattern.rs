//! Patterns of rules: of commands, of paths, and what both are made of.

use crate::call::Place;

/// Whether a command fits the pattern of a rule: `npm test:*`, `git push *`, or the command itself.
#[must_use]
pub fn command_fits(pattern: &str, command: &str) -> bool {
    if let Some(prefix) = pattern.strip_suffix(":*") {
        return command == prefix
            || command.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(' '));
    }
    if let Some(prefix) = pattern.strip_suffix(" *")
        && command == prefix
    {
        return true;
    }
    glob(pattern, command, false)
}

/// Whether a path fits the pattern of a rule: `//x` is absolute, `~/x` in the home, `/x` and `x` in the
/// folder.
#[must_use]
pub fn path_fits(place: &Place<'_>, pattern: &str, path: &str) -> bool {
    let absolute = if let Some(rest) = pattern.strip_prefix("//") {
        format!("/{rest}")
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        let Some(home) = place.home else { return false };
        format!("{}/{rest}", home.display())
    } else {
        let inside =
            pattern.strip_prefix('/').or_else(|| pattern.strip_prefix("./")).unwrap_or(pattern);
        format!("{}/{inside}", place.folder.display())
    };
    let folder = absolute.strip_suffix("/**").is_some_and(|folder| path == folder);
    folder || glob(&absolute, path, true)
}

/// Whether a text fits a pattern with `*`, `**` and `?`. In paths a single `*` and a `?` stay within
/// a name.
#[must_use]
pub fn glob(pattern: &str, text: &str, in_path: bool) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    // For each position of the text: whether the pattern so far can end there.
    let mut ends = vec![false; text.len() + 1];
    if let Some(first) = ends.first_mut() {
        *first = true;
    }
    let mut at = 0;
    while let Some(&token) = pattern.get(at) {
        let deep = token == '*' && (!in_path || pattern.get(at + 1) == Some(&'*'));
        if token == '*' {
            while pattern.get(at) == Some(&'*') {
                at += 1;
            }
            // `**/` also stands for no folder at all.
            if deep && in_path && pattern.get(at) == Some(&'/') {
                at += 1;
                ends = after_folders(&ends, &text);
                continue;
            }
            let mut open = false;
            for (position, end) in ends.iter_mut().enumerate() {
                open |= *end;
                *end = open;
                if !deep && text.get(position) == Some(&'/') {
                    open = false;
                }
            }
            continue;
        }
        let mut next = vec![false; text.len() + 1];
        for (position, character) in text.iter().enumerate() {
            let fits = token == *character || (token == '?' && !(in_path && *character == '/'));
            if fits
                && ends.get(position) == Some(&true)
                && let Some(end) = next.get_mut(position + 1)
            {
                *end = true;
            }
        }
        ends = next;
        at += 1;
    }
    ends.last() == Some(&true)
}

fn after_folders(ends: &[bool], text: &[char]) -> Vec<bool> {
    let mut next = ends.to_vec();
    let mut open = false;
    for (position, end) in ends.iter().enumerate() {
        open |= *end;
        if open
            && text.get(position) == Some(&'/')
            && let Some(after) = next.get_mut(position + 1)
        {
            *after = true;
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stays_within_a_name_and_two_stars_do_not() {
        assert!(glob("/a/*.rs", "/a/b.rs", true));
        assert!(!glob("/a/*.rs", "/a/b/c.rs", true));
        assert!(glob("/a/**", "/a/b/c.rs", true));
        assert!(glob("/a/**/c.rs", "/a/c.rs", true));
        assert!(glob("/a/**/c.rs", "/a/x/y/c.rs", true));
        assert!(glob("touch *", "touch a/b c", false));
    }
}
