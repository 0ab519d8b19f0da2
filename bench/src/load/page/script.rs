//! What the model says: in a session that is to become a long one, and in one that is watched.

use std::io;
use std::path::Path;

use countersign_lab::script::{Script, ScriptError};

use crate::clocked::MARK;

/// The end of what is said in each turn of a long session.
pub(super) const LAST_WORDS: &str = "The tests of the pilot office pass as before.";

/// The times between two words of what is watched.
#[cfg(feature = "browser")]
pub(super) const PACES: [&str; 2] = [PACE, FAST];
const PACE: &str = "20ms";
const FAST: &str = "5ms";

/// The file that is changed, in the working folder.
const FILE: &str = "harbour.rs";

/// What a session is told to do that is to become a long one: the same in each turn, there and back.
pub(super) const ERRANDS: [&str; 2] = [
    "Rename `arrive` to `moor` in harbour.rs.\n\nIt is called that way in the **pilot office**, and \
     everybody mixes the two up. Leave the tests as they are, please.",
    "Rename `moor` to `arrive` in harbour.rs.\n\nThe pilot office has changed its mind: see the \
     minutes of *Tuesday*. Leave the tests as they are, please.",
];

/// What a session is told that is watched.
#[cfg(feature = "browser")]
pub(super) fn speak(pace: &str) -> String {
    format!("Speak, a word every {pace}.")
}

/// Puts the file that is changed into the working folder.
pub(super) fn lay_out(work: &Path) -> io::Result<()> {
    std::fs::write(work.join(FILE), CODE)
}

pub(super) fn script(pieces: u64) -> Result<Script, ScriptError> {
    let speech = speech(pieces);
    let said = [PACE, FAST].map(|pace| {
        let when = format!("when = {{ text = 'a word every {pace}.' }}\npace = '{pace}'");
        format!("\n[[answer]]\n{when}\ntext = '''\n{speech}'''\n")
    });
    let text = CHANGES.replace("LAST_WORDS", LAST_WORDS) + &said.concat();
    Script::parse(&text, "page.toml")
}

/// Words, every second of which is the time, in paragraphs.
fn speech(pieces: u64) -> String {
    const WORDS: [&str; 7] = ["tide,", "**ship**", "and", "pilot", "`lock`", "of", "harbour"];
    const PARAGRAPH: u64 = 20;
    let words = (1..=pieces).zip(WORDS.iter().cycle()).map(|(number, word)| {
        let end = if number % PARAGRAPH == 0 { ".\n\n" } else { " " };
        format!("{word} {MARK}{end}")
    });
    words.chain(["That was all.".to_owned()]).collect()
}

const CHANGES: &str = r##"
otherwise = "I have nothing to add."

[[answer]]
when = { text = '/^Rename `(\w+)` to `(\w+)`/' }
text = """
I look at the file first, and then rename the function. Three things need care:

1. **Callers** outside of the file: there is one, in the pilot office.
2. The *documentation*, which names it twice.
3. What is [written down](https://example.org/minutes) about it.

```rust
/// What comes of a ship that asks.
pub fn answer(ship: &Ship, berths: &[Berth]) -> Option<Berth> {
    let mut free = berths.iter().filter(|berth| berth.ship.is_none());
    let fits = free.find(|berth| berth.depth > ship.draught)?;
    Some(fits.clone())
}
```

| what | before | after |
|---|---|---:|
| function | `${match.1}` | `${match.2}` |
| callers | 1 | 1 |
"""
tools = [
  { name = "Read", input = { file_path = "${cwd}/harbour.rs" } },
  { name = "Edit", input = { file_path = "${cwd}/harbour.rs", old_string = "pub fn ${match.1}(", new_string = "pub fn ${match.2}(" } },
]

[[answer]]
when = { error = true }
text = "It did not work: ${result}"

[[answer]]
when = { tool = "Edit", error = false }
text = """
The function has its new name. I have left everything else as it was:

- the **signature** and what it does,
- the `tests`, which do not name it.

LAST_WORDS
"""
"##;

const CODE: &str = r#"//! The harbour: ships, berths, and who lies where.

use std::collections::BTreeMap;

/// A ship.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ship {
    /// Its name.
    pub name: String,
    /// How deep it goes, in decimetres.
    pub draught: u32,
}

/// A place for a ship.
#[derive(Clone, Debug)]
pub struct Berth {
    /// How deep the water is, in decimetres.
    pub depth: u32,
    /// The ship that lies there.
    pub ship: Option<Ship>,
}

/// All berths, by their numbers.
#[derive(Debug, Default)]
pub struct Harbour {
    berths: BTreeMap<u32, Berth>,
}

impl Harbour {
    /// A ship comes, and lies where there is room for it.
    pub fn arrive(&mut self, ship: Ship) -> Result<u32, Ship> {
        let fits = |berth: &Berth| berth.ship.is_none() && berth.depth > ship.draught;
        match self.berths.iter_mut().find(|(_, berth)| fits(berth)) {
            Some((number, berth)) => {
                berth.ship = Some(ship);
                Ok(*number)
            }
            None => Err(ship),
        }
    }

    /// A ship leaves.
    pub fn leave(&mut self, number: u32) -> Option<Ship> {
        self.berths.get_mut(&number)?.ship.take()
    }
}
"#;

#[cfg(test)]
mod tests {
    use super::{MARK, script, speech};

    #[test]
    fn the_script_can_be_played() {
        script(50).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(speech(50).matches(MARK).count(), 50);
    }
}
