//! A report as one HTML page, with the sequence diagrams of its conversations.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use countersign_record::page::{Diagram, SCRIPT, STYLE, Section, escape, policy};

use super::block::{Block, Cell, Table, Tone};

/// The style of what is not a diagram.
const OWN_STYLE: &str = include_str!("report.css");

/// Writes the blocks of a report. Tapes are looked for in `folder`.
pub(super) fn write(blocks: &[Block], folder: &Path, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    let title = blocks.iter().find_map(|block| match block {
        Block::Heading { level: 1, text, .. } => Some(text.as_str()),
        _ => None,
    });
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n<style>{OWN_STYLE}</style>\n</head>\n\
         <body class=\"cs-page\">\n<main class=\"report\">\n",
        policy = policy(&[STYLE, OWN_STYLE], &[SCRIPT]),
        title = escape(title.unwrap_or("Experiments")),
    )?;
    for block in blocks {
        write_block(block, folder, &mut out)?;
    }
    write!(out, "</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n")?;
    out.flush()
}

fn write_block(block: &Block, folder: &Path, out: &mut impl Write) -> io::Result<()> {
    match block {
        Block::Heading { level, text, anchor } => {
            let (text, anchor) = (escape(text), escape(anchor));
            writeln!(out, "<h{level} id=\"{anchor}\">{text}</h{level}>")?;
        }
        Block::Text(words) => writeln!(out, "<p>{}</p>", emphasis(&escape(words)))?,
        Block::Question(words) => writeln!(out, "<p class=\"question\">{}</p>", escape(words))?,
        Block::Verbatim(words) => {
            // Line by line: what is escaped has no line breaks of its own.
            writeln!(out, "<pre>")?;
            for line in words.lines() {
                writeln!(out, "{}", escape(line))?;
            }
            writeln!(out, "</pre>")?;
        }
        Block::Table(table) => write_table(table, out)?,
        Block::Tapes { title, tapes } => {
            writeln!(out, "<div class=\"tapes\">")?;
            for tape in tapes {
                match Diagram::open(folder.join(tape)) {
                    Ok(diagram) => {
                        let name = Path::new(tape).file_stem().unwrap_or_default();
                        let name = format!("{title} · {}", name.to_string_lossy());
                        Section::new(&diagram, name).with_id(tape).folded().write(&mut *out)?;
                    }
                    // The rest of the report is worth reading without it.
                    Err(error) => {
                        let (tape, error) = (escape(tape), escape(&error.to_string()));
                        writeln!(out, "<p class=\"faint\">{tape} cannot be drawn: {error}</p>")?;
                    }
                }
            }
            writeln!(out, "</div>")?;
        }
    }
    Ok(())
}

fn write_table(table: &Table, out: &mut impl Write) -> io::Result<()> {
    write!(out, "<div class=\"scroll\"><table>\n<thead><tr>")?;
    for head in &table.head {
        write!(out, "<th scope=\"col\">{}</th>", escape(head))?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")?;
    for row in &table.rows {
        write!(out, "<tr>")?;
        for (at, cell) in row.iter().enumerate() {
            write_cell(at == 0, cell, out)?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody>\n</table></div>")
}

fn write_cell(first: bool, cell: &Cell, out: &mut impl Write) -> io::Result<()> {
    let class = match cell.tone {
        Tone::Plain => "",
        Tone::Good => " class=\"good\"",
        Tone::Bad => " class=\"bad\"",
        Tone::Faint => " class=\"faint\"",
    };
    let (open, close) = if first { ("th scope=\"row\"", "th") } else { ("td", "td") };
    let text = escape(&cell.text);
    match &cell.to {
        Some(anchor) => {
            let anchor = escape(anchor);
            write!(out, "<{open}{class}><a href=\"#{anchor}\">{text}</a></{close}>")
        }
        None => write!(out, "<{open}{class}>{text}</{close}>"),
    }
}

/// Words between stars, in a text that is escaped, are emphasised.
fn emphasis(text: &str) -> String {
    let mut shown = String::new();
    for (at, part) in text.split('*').enumerate() {
        if at % 2 == 1 {
            shown.push_str("<em>");
            shown.push_str(part);
            shown.push_str("</em>");
        } else {
            shown.push_str(part);
        }
    }
    shown
}
