//! The page, and the pieces of it.

use std::fmt::Write as _;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use sha2::{Digest as _, Sha256};

use super::diagram::Diagram;
use crate::is_hidden;

/// The style of diagrams, for a `<style>` element.
pub const STYLE: &str = include_str!("assets/diagram.css");

/// The script that draws diagrams, for a `<script>` element at the end of the body.
pub const SCRIPT: &str = concat!(
    include_str!("assets/open.js"),
    include_str!("assets/text.js"),
    include_str!("assets/json.js"),
    include_str!("assets/rows.js"),
    include_str!("assets/layout.js"),
    include_str!("assets/marks.js"),
    include_str!("assets/overview.js"),
    include_str!("assets/frame.js"),
    include_str!("assets/head.js"),
    include_str!("assets/view.js"),
    include_str!("assets/start.js"),
    include_str!("assets/close.js"),
);

/// Writes a whole page with these diagrams. One is open; of several, each opens when it is wanted.
///
/// `title` may come from anywhere.
///
/// # Errors
///
/// When it cannot be written.
pub fn page(out: impl Write, title: &str, diagrams: &[Diagram]) -> io::Result<()> {
    let sections: Vec<Section<'_>> = match diagrams {
        [diagram] => vec![Section::new(diagram, title)],
        several => several
            .iter()
            .enumerate()
            .map(|(at, diagram)| {
                let number = at + 1;
                let name = format!("{title} {number}");
                Section::new(diagram, name).with_id(&format!("tape-{number}")).folded()
            })
            .collect(),
    };
    let mut out = io::BufWriter::new(out);
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body class=\"cs-page\">\n<main>\n",
        policy = policy(&[STYLE], &[SCRIPT]),
        title = escape(title),
    )?;
    if sections.len() > 1 {
        writeln!(out, "<h1>{}</h1>", escape(title))?;
    }
    for section in &sections {
        section.write(&mut out)?;
    }
    write!(out, "</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n")?;
    out.flush()
}

/// The content security policy of a page with these styles and scripts, and nothing else: for the
/// `content` of a `<meta http-equiv="Content-Security-Policy">`.
///
/// Each is the exact text of its element. Data in `<script type="application/json">` is no script.
#[must_use]
pub fn policy(styles: &[&str], scripts: &[&str]) -> String {
    let mut policy = String::from("default-src 'none'; base-uri 'none'; form-action 'none'");
    for (directive, texts) in [("style-src", styles), ("script-src", scripts)] {
        if texts.is_empty() {
            continue;
        }
        let _ = write!(policy, "; {directive}");
        for text in texts {
            let _ = write!(policy, " 'sha256-{}'", BASE64.encode(Sha256::digest(text)));
        }
    }
    policy
}

/// A text for a page, as the content of an element or in a quoted attribute. Characters that cannot
/// be seen, or that turn others around, become U+FFFD.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(' '),
            c if c.is_control() || is_hidden(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A diagram as a part of a page that has [`STYLE`] and [`SCRIPT`].
///
/// Its frames can be linked to as `#frame-N`, or `#ID-frame-N` where the section has an id, N being
/// the number of the record on the tape.
#[derive(Debug)]
pub struct Section<'a> {
    diagram: &'a Diagram,
    name: String,
    id: Option<String>,
    folded: bool,
}

impl<'a> Section<'a> {
    /// A section under this name, which may come from anywhere.
    pub fn new(diagram: &'a Diagram, name: impl Into<String>) -> Self {
        Self { diagram, name: name.into(), id: None, folded: false }
    }

    /// Gives the section an id, which a page with several has to tell them apart. What is neither an
    /// ASCII letter nor a digit becomes a hyphen.
    #[must_use]
    pub fn with_id(mut self, id: &str) -> Self {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        self.id = Some(id.chars().map(plain).collect());
        self
    }

    /// Shows the name and a few figures, and the diagram when it is opened.
    #[must_use]
    pub const fn folded(mut self) -> Self {
        self.folded = true;
        self
    }

    /// Writes the section.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        let id = self.id.as_deref().unwrap_or_default();
        let name = escape(&self.name);
        let frames = self.diagram.frames();
        if self.folded {
            let seconds = self.diagram.duration().as_secs_f64();
            writeln!(
                out,
                "<details class=\"cs-fold\"><summary><b>{name}</b> <span>{frames} frames, \
                 {seconds:.2} s</span></summary>"
            )?;
        }
        write!(out, "<section class=\"cs-tape\" data-id=\"{id}\" aria-label=\"{name}\"")?;
        if !id.is_empty() {
            write!(out, " id=\"{id}\"")?;
        }
        write!(out, ">\n<script type=\"application/json\">")?;
        self.diagram.write_data(&mut out, &self.name)?;
        write!(
            out,
            "</script>\n<p class=\"cs-wait\">This diagram of {frames} frames is drawn by a script, \
             which has not run.</p>\n</section>\n"
        )?;
        if self.folded {
            writeln!(out, "</details>")?;
        }
        Ok(())
    }
}
