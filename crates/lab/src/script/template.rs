//! Variables in the texts of a script: `${name}`, and `$${` for a `${` that is meant.

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// As it stands.
    Text(&'a str),
    /// The name between the braces.
    Variable(&'a str),
}

/// A `${` without its `}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unclosed;

/// Cuts a text into its pieces. Nothing comes after an error.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Result<Piece<'_>, Unclosed>> {
    let mut pending = None;
    let mut rest = text;
    std::iter::from_fn(move || {
        if let Some(piece) = pending.take() {
            return Some(piece);
        }
        if rest.is_empty() {
            return None;
        }
        let Some((before, after)) = rest.split_once("${") else {
            return Some(Ok(Piece::Text(std::mem::take(&mut rest))));
        };
        if let Some(before) = before.strip_suffix('$') {
            rest = after;
            pending = Some(Ok(Piece::Text("${")));
            return Some(Ok(Piece::Text(before)));
        }
        match after.split_once('}') {
            Some((name, after)) => {
                rest = after;
                pending = Some(Ok(Piece::Variable(name)));
            }
            None => {
                rest = "";
                pending = Some(Err(Unclosed));
            }
        }
        Some(Ok(Piece::Text(before)))
    })
}

/// What a variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variable<'a> {
    /// `${cwd}`
    Cwd,
    /// `${home}`
    Home,
    /// `${plan_file}`
    PlanFile,
    /// `${text}`
    Text,
    /// `${turn}`
    Turn,
    /// `${result}`
    Result,
    /// `${result.label}`
    ResultOf(&'a str),
    /// `${match.group}`
    Match(&'a str),
    /// A name of the script or of the caller.
    Named(&'a str),
}

impl<'a> Variable<'a> {
    pub(super) fn from_name(name: &'a str) -> Self {
        match name {
            "cwd" => Self::Cwd,
            "home" => Self::Home,
            "plan_file" => Self::PlanFile,
            "text" => Self::Text,
            "turn" => Self::Turn,
            "result" => Self::Result,
            other => match other.split_once('.') {
                Some(("result", label)) => Self::ResultOf(label),
                Some(("match", group)) => Self::Match(group),
                _ => Self::Named(other),
            },
        }
    }
}

/// Whether a script or its caller may give this name a value.
///
/// `cwd`, `home` and `plan_file` may be given; what comes from the request may not.
pub(super) fn may_be_set(name: &str) -> bool {
    is_name(name) && !matches!(name, "text" | "turn" | "result" | "match")
}

/// Whether this is a name: letters, digits, `_` and `-`, with a letter in front.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Writes a text so that [`pieces`] gives it back as it stands.
    fn escape(text: &str) -> String {
        text.replace("${", "$${")
    }

    fn show(text: &str) -> Vec<Result<Piece<'_>, Unclosed>> {
        pieces(text).filter(|piece| *piece != Ok(Piece::Text(""))).collect()
    }

    #[test]
    fn variables_stand_between_braces() {
        assert_eq!(
            show("a ${b} c${d.1}"),
            [
                Ok(Piece::Text("a ")),
                Ok(Piece::Variable("b")),
                Ok(Piece::Text(" c")),
                Ok(Piece::Variable("d.1")),
            ]
        );
    }

    #[test]
    fn a_second_dollar_sign_takes_the_meaning_away() {
        assert_eq!(show("$${b} $c {d}"), [Ok(Piece::Text("${")), Ok(Piece::Text("b} $c {d}"))]);
    }

    #[test]
    fn an_open_brace_is_an_error() {
        assert_eq!(show("a ${b"), [Ok(Piece::Text("a ")), Err(Unclosed)]);
    }

    proptest! {
        #[test]
        fn any_text_can_be_written(text in "[a$\\{\\} ]{0,12}") {
            let escaped = escape(&text);
            let read: String = pieces(&escaped)
                .map(|piece| match piece {
                    Ok(Piece::Text(text)) => text,
                    other => panic!("{other:?}"),
                })
                .collect();
            prop_assert_eq!(read, text);
        }

        #[test]
        fn pieces_of_anything_end(text in any::<String>()) {
            let count = pieces(&text).count();
            prop_assert!(count <= 2 * text.len() + 1);
        }
    }
}
