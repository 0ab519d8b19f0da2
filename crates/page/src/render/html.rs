//! HTML that was made here, and texts that were not.

use std::fmt;

/// HTML that is safe to be shown: every text in it was escaped.
///
/// There is no way to make one of a text as it is. What is put into it goes through
/// [`text`](Self::text), or is HTML already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Html(String);

impl Html {
    /// Nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(String::new())
    }

    /// A text, escaped.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut html = Self::new();
        html.text(text);
        html
    }

    /// What a template makes. It escapes whatever is not HTML.
    #[must_use]
    pub fn of_template(template: &impl askama::Template) -> Self {
        // A template that writes to a string fails when something in it cannot be shown at all, and
        // nothing here is like that.
        Self(template.render().unwrap_or_default())
    }

    /// Adds markup, which is a part of this program.
    pub fn tag(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Adds a text. It can stand between tags, and in an attribute with double quotes.
    pub fn text(&mut self, text: &str) -> &mut Self {
        // Nothing but quotes and brackets can end a text or an attribute.
        for piece in text.split_inclusive(['&', '<', '>', '"', '\'', '\0']) {
            let mut plain = piece;
            let mut entity = "";
            if let Some(last) = piece.chars().next_back() {
                entity = match last {
                    '&' => "&amp;",
                    '<' => "&lt;",
                    '>' => "&gt;",
                    '"' => "&quot;",
                    '\'' => "&#39;",
                    '\0' => "\u{fffd}",
                    _ => "",
                };
                if !entity.is_empty() {
                    plain = piece.strip_suffix(last).unwrap_or(piece);
                }
            }
            self.0.push_str(plain);
            self.0.push_str(entity);
        }
        self
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) -> &mut Self {
        self.0.push_str(&number.to_string());
        self
    }

    /// Adds HTML.
    pub fn html(&mut self, html: &Self) -> &mut Self {
        self.0.push_str(&html.0);
        self
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The markup.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The markup.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Display for Html {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl askama::filters::HtmlSafe for Html {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_text() {
        let hostile = "a<b>&\"'\0</script>é";
        assert_eq!(
            Html::of(hostile).as_str(),
            "a&lt;b&gt;&amp;&quot;&#39;\u{fffd}&lt;/script&gt;é"
        );
        assert_eq!(Html::of("").as_str(), "");
        assert_eq!(Html::of("plain").as_str(), "plain");
    }
}
