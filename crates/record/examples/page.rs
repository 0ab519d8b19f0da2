//! Draws a tape: `cargo run -p countersign-record --example page -- session.tape session.html`

use std::error::Error;
use std::fs::File;

use countersign_record::page::{Diagram, page};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let tape = arguments.next().ok_or("which tape?")?;
    let out = arguments.next().ok_or("into which file?")?;
    let diagram = Diagram::open(&tape)?;
    page(File::create(out)?, &tape, &[diagram])?;
    Ok(())
}
