//! Keys, as dialogs and prompts know them.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// Something that comes from the keyboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Ctrl(char),
    Alt(char),
    Enter,
    AltEnter,
    Escape,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    Backspace,
    Delete,
    Tab,
    BackTab,
    /// Text that was pasted, with its line breaks.
    Paste(String),
}

/// What an event of the terminal means here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Key(Key),
    /// The window has this many columns and rows.
    Resized(u16, u16),
}

impl Input {
    pub(crate) fn of(event: Event) -> Option<Self> {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => key_of(key).map(Self::Key),
            Event::Paste(text) => Some(Self::Key(Key::Paste(unified(&text)))),
            Event::Resize(columns, rows) => Some(Self::Resized(columns, rows)),
            _ => None,
        }
    }
}

/// Terminals paste line breaks as the key that makes them.
fn unified(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn key_of(key: KeyEvent) -> Option<Key> {
    let alt = key.modifiers.contains(KeyModifiers::ALT);
    let shift = key.modifiers.contains(KeyModifiers::SHIFT);
    Some(match key.code {
        KeyCode::Char(c) if key.modifiers.contains(KeyModifiers::CONTROL) => {
            Key::Ctrl(c.to_ascii_lowercase())
        }
        KeyCode::Char(c) if alt => Key::Alt(c),
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter if alt || shift => Key::AltEnter,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        _ => return None,
    })
}
