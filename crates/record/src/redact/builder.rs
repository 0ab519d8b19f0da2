//! Making a redactor.

use regex::bytes::Regex;

use super::Redactor;
use super::error::BuildError;
use super::placeholder::MAX_KIND;
use super::rules::Rules;

/// Says what a [`Redactor`] is to look for besides what it knows, and what not.
#[derive(Debug, Default)]
#[must_use]
pub struct RedactorBuilder {
    customs: Vec<Custom>,
    without: Vec<String>,
}

#[derive(Debug)]
struct Custom {
    name: String,
    regex: Regex,
    literal: bool,
}

impl RedactorBuilder {
    /// Looks for a regular expression, too; its placeholders are `redacted-NAME-1` and so on.
    ///
    /// Where the expression has a group, only what the first group matches is taken out.
    ///
    /// # Errors
    ///
    /// When the name cannot be part of a placeholder, or the expression cannot be used.
    pub fn pattern(mut self, name: &str, regex: &str) -> Result<Self, BuildError> {
        check_name(name)?;
        let regex = Regex::new(regex)
            .map_err(|source| BuildError::Pattern { name: name.to_owned(), source })?;
        if regex.is_match(b"") {
            return Err(BuildError::Empty(name.to_owned()));
        }
        self.customs.push(Custom { name: name.to_owned(), regex, literal: false });
        Ok(self)
    }

    /// Looks for a text, too, exactly as it is.
    ///
    /// # Errors
    ///
    /// When the name cannot be part of a placeholder, or the text is empty.
    pub fn literal(mut self, name: &str, text: &str) -> Result<Self, BuildError> {
        check_name(name)?;
        if text.is_empty() {
            return Err(BuildError::Empty(name.to_owned()));
        }
        let regex = Regex::new(&regex::escape(text))
            .map_err(|source| BuildError::Pattern { name: name.to_owned(), source })?;
        self.customs.push(Custom { name: name.to_owned(), regex, literal: true });
        Ok(self)
    }

    /// Does not use a rule, one of [`RedactorBuilder::rules`].
    pub fn without(mut self, rule: &str) -> Self {
        self.without.push(rule.to_owned());
        self
    }

    /// The names of the built-in rules.
    ///
    /// # Errors
    ///
    /// None in practice: the built-in rules are tested.
    pub fn rules() -> Result<Vec<String>, BuildError> {
        Ok(built_in()?.names().map(str::to_owned).collect())
    }

    /// Makes the redactor.
    ///
    /// # Errors
    ///
    /// When a rule that is not to be used does not exist, or one of the user has the name of a
    /// built-in one.
    pub fn build(self) -> Result<Redactor, BuildError> {
        let mut rules = built_in()?;
        for name in &self.without {
            if !rules.disable(name) {
                let rules = rules.names().collect::<Vec<_>>().join(", ");
                return Err(BuildError::NoRule { name: name.clone(), rules });
            }
        }
        let taken: Vec<String> = rules.names().map(str::to_owned).collect();
        for Custom { name, regex, literal } in self.customs {
            if taken.contains(&name) {
                return Err(BuildError::Taken(name));
            }
            rules.add(&name, regex, literal);
        }
        Ok(Redactor::new(rules))
    }
}

fn built_in() -> Result<Rules, BuildError> {
    Rules::built_in()
        .map_err(|source| BuildError::Pattern { name: "a built-in rule".to_owned(), source })
}

/// A name becomes part of placeholders, which must be recognised later.
fn check_name(name: &str) -> Result<(), BuildError> {
    let is_part = |part: &str| {
        part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            && part.bytes().any(|byte| byte.is_ascii_lowercase())
    };
    if name.len() < MAX_KIND && name.split('-').all(is_part) {
        Ok(())
    } else {
        Err(BuildError::Name(name.to_owned()))
    }
}
