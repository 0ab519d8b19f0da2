//! Substitutions that the parser does not see.
//!
//! It takes some texts as they are in which a shell would still run commands: those that are given to a
//! command to read, and the values that variables have when they have none.

/// The commands in the substitutions of a text, or none where it cannot be told where one ends.
pub(super) fn commands(text: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '`', '$']) {
        let (_, from) = rest.split_at_checked(at)?;
        if let Some(escaped) = from.strip_prefix('\\') {
            let mut characters = escaped.chars();
            characters.next();
            rest = characters.as_str();
        } else if let Some(begun) = from.strip_prefix('`') {
            let (inner, after) = until_tick(begun, false)?;
            found.push(inner);
            rest = after;
        } else if let Some(begun) = from.strip_prefix("$((") {
            // A calculation, in which there can be another substitution.
            rest = begun;
        } else if let Some(begun) = from.strip_prefix("$(") {
            let (inner, after) = until_bracket(begun)?;
            found.push(inner.to_owned());
            rest = after;
        } else {
            rest = from.strip_prefix('$')?;
        }
    }
    Some(found)
}

/// Whether a substitution is written with ticks and has backslashes in it, which are taken away before
/// it is read.
pub(super) fn has_escapes(substitution: &str) -> bool {
    substitution.starts_with('`') && substitution.contains('\\')
}

/// The line in a substitution that is written with ticks.
pub(super) fn unescaped(substitution: &str, in_quotes: bool) -> Option<String> {
    let (inner, _) = until_tick(substitution.strip_prefix('`')?, in_quotes)?;
    Some(inner)
}

/// In double quotes those in it have backslashes, too.
fn until_tick(text: &str, in_quotes: bool) -> Option<(String, &str)> {
    let mut inner = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '`' => return Some((inner, characters.as_str())),
            '\\' => match characters.next()? {
                escaped @ ('`' | '\\' | '$') => inner.push(escaped),
                '"' if in_quotes => inner.push('"'),
                other => inner.extend(['\\', other]),
            },
            _ => inner.push(character),
        }
    }
    None
}

fn until_bracket(text: &str) -> Option<(&str, &str)> {
    let mut depth = 1_usize;
    let mut quote = None;
    let mut is_escaped = false;
    for (at, character) in text.char_indices() {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        match (character, quote) {
            ('\\', None | Some('"')) => is_escaped = true,
            ('\'' | '"', None) => quote = Some(character),
            (_, Some(open)) if character == open => quote = None,
            ('(', None) => depth += 1,
            (')', None) => {
                depth -= 1;
                if depth == 0 {
                    return Some((text.get(..at)?, text.get(at + 1..)?));
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_where_they_end() {
        let found = |text| commands(text).unwrap();
        assert_eq!(found("a `b c` $(d $(e) ')' f) \\`g\\` \\$(h)"), ["b c", "d $(e) ')' f"]);
        assert_eq!(found("$((1 + $(a))) $x ${y} $"), ["a"]);
        assert_eq!(found("`a \\`b\\``"), ["a `b`"]);
        assert_eq!(unescaped("`a \\`b\\` \\\"`", true).unwrap(), "a `b` \"");
        assert_eq!(unescaped("`a \\\"`", false).unwrap(), "a \\\"");
        assert_eq!(commands("`a"), None);
        assert_eq!(commands("$(a"), None);
    }
}
