//! Keys that type no character.

/// A key that types no character. WebDriver gives each a character from a private area of Unicode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The tab key.
    Tab,
    /// The enter key.
    Enter,
    /// A control key.
    Control,
    /// The escape key.
    Escape,
    /// The right arrow key.
    Right,
    /// The down arrow key.
    Down,
}

impl From<Key> for char {
    fn from(key: Key) -> Self {
        match key {
            Key::Tab => '\u{e004}',
            Key::Enter => '\u{e007}',
            Key::Control => '\u{e009}',
            Key::Escape => '\u{e00c}',
            Key::Right => '\u{e014}',
            Key::Down => '\u{e015}',
        }
    }
}
