//! Markdown, as the model writes it, as HTML that is safe.
//!
//! It is safe by how it is made: only what is listed here becomes markup, and HTML in a text is shown
//! as the text that it is. Nothing is loaded from elsewhere: a picture is a link to it.

use std::ops::Range;

use pulldown_cmark::{
    Alignment, CodeBlockKind, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd,
};

use super::code::{self, Language};
use super::html::Html;
use super::visible;

/// How deep lists and quotes may be within each other. What is deeper is shown without its frame.
const DEEPEST: usize = 32;

/// A text as HTML.
///
/// ```
/// use countersign_page::render::markdown;
///
/// let html = markdown::html("**Done.** <script>");
/// assert_eq!(html.as_str(), "<p><strong>Done.</strong> &lt;script&gt;</p>\n");
/// ```
#[must_use]
pub fn html(text: &str) -> Html {
    let mut writer = Writer::default();
    for event in Parser::new_ext(text, options()) {
        writer.event(event);
    }
    writer.html
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// Whether there is something in a text that is not seen when it is drawn, as titles of links are not, or
/// what stands beside the columns of a table.
///
/// Whatever has letters or digits counts as unseen unless it was drawn as a text, is where a link leads to,
/// or says how something is drawn.
#[must_use]
pub fn has_unseen(text: &str) -> bool {
    let mut seen = vec![false; text.len()];
    let mut see = |range: Range<usize>| {
        seen.get_mut(range).into_iter().flatten().for_each(|seen| *seen = true);
    };
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        let written = text.get(range.clone()).unwrap_or_default();
        match event {
            Event::Text(_)
            | Event::Code(_)
            | Event::Html(_)
            | Event::InlineHtml(_)
            | Event::TaskListMarker(_) => see(range),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. })
                if is_address(&dest_url) =>
            {
                if let Some(at) = written.rfind(&*dest_url) {
                    see(range.start + at..range.start + at + dest_url.len());
                }
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                let name = info.trim();
                if Language::named(name).is_some()
                    && let Some(at) = written.find(name)
                {
                    see(range.start + at..range.start + at + name.len());
                }
            }
            // Points of a list are numbered when they are drawn.
            Event::Start(Tag::Item) => {
                let digits = written.bytes().take_while(u8::is_ascii_digit).count();
                see(range.start..range.start + digits);
            }
            _ => {}
        }
    }
    let is_word = |(at, letter): (usize, char)| {
        letter.is_alphanumeric() && !seen.get(at).copied().unwrap_or_default()
    };
    text.char_indices().any(is_word)
}

/// Where the last block of a text begins: what stands before it does not change any more when the text
/// goes on.
#[must_use]
pub fn settled(text: &str) -> usize {
    // A line that has no end yet may become something else, unless it begins as nothing but a text does:
    // a star is a point of a list, and with a word behind it, it goes on with what stands above.
    let (lines, open) =
        text.split_at_checked(text.rfind('\n').map_or(0, |at| at + 1)).unwrap_or((text, ""));
    let text = if open.starts_with(char::is_alphabetic) { text } else { lines };
    let mut depth = 0_usize;
    let mut last = 0;
    for (event, Range { start, .. }) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Start(_) => {
                if depth == 0 {
                    last = start;
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ if depth == 0 => last = start,
            _ => {}
        }
    }
    last
}

#[derive(Default)]
struct Writer {
    html: Html,
    /// What closes each tag that is open, and whether it is one that counts as deep.
    open: Vec<&'static str>,
    deep: usize,
    /// The code block that is being read: its language, and what it says.
    code: Option<(Option<Language>, String)>,
    /// How the columns of the table stand, and which one is next.
    columns: Vec<Alignment>,
    column: usize,
    in_head: bool,
}

impl Writer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.html.tag("<code>");
                visible::write(&mut self.html, &text);
                self.html.tag("</code>");
            }
            Event::SoftBreak => drop(self.html.tag("\n")),
            Event::HardBreak => drop(self.html.tag("<br>\n")),
            Event::Rule => drop(self.html.tag("<hr>\n")),
            Event::TaskListMarker(is_done) => {
                let mark = if is_done {
                    "<span class=\"task\">☑<span class=\"hidden\"> done:</span></span> "
                } else {
                    "<span class=\"task\">☐<span class=\"hidden\"> to do:</span></span> "
                };
                self.html.tag(mark);
            }
            Event::FootnoteReference(name) => self.text(&name),
        }
    }

    fn text(&mut self, text: &str) {
        match &mut self.code {
            Some((_, code)) => code.push_str(text),
            None => visible::write(&mut self.html, text),
        }
    }

    fn tag(&mut self, open: &'static str, close: &'static str) {
        self.html.tag(open);
        self.open.push(close);
    }

    /// A tag that others can stand in.
    fn deep_tag(&mut self, open: &'static str, close: &'static str) {
        self.deep += 1;
        if self.deep > DEEPEST {
            self.open.push("");
        } else {
            self.tag(open, close);
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Paragraph => self.tag("<p>", "</p>\n"),
            Tag::Heading { level, .. } => {
                let (open, close) = heading(*level);
                self.tag(open, close);
            }
            Tag::BlockQuote(_) => self.deep_tag("<blockquote>\n", "</blockquote>\n"),
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => {
                        let name = info.split([' ', ',', '{', '\t']).next().unwrap_or_default();
                        Language::named(name)
                    }
                    CodeBlockKind::Indented => None,
                };
                self.code = Some((language, String::new()));
                self.open.push("");
            }
            Tag::List(None) => self.deep_tag("<ul>\n", "</ul>\n"),
            Tag::List(Some(start)) => {
                self.deep += 1;
                if self.deep > DEEPEST {
                    self.open.push("");
                } else {
                    self.html.tag("<ol start=\"").number(*start).tag("\">\n");
                    self.open.push("</ol>\n");
                }
            }
            Tag::Item => self.deep_tag("<li>", "</li>\n"),
            Tag::Table(columns) => {
                self.columns.clone_from(columns);
                self.tag("<div class=\"table\" tabindex=\"0\"><table>", "</tbody></table></div>\n");
            }
            Tag::TableHead => {
                (self.in_head, self.column) = (true, 0);
                self.tag("<thead><tr>", "</tr></thead><tbody>\n");
            }
            Tag::TableRow => {
                self.column = 0;
                self.tag("<tr>", "</tr>\n");
            }
            Tag::TableCell => self.cell(),
            Tag::Emphasis => self.tag("<em>", "</em>"),
            Tag::Strong => self.tag("<strong>", "</strong>"),
            Tag::Strikethrough => self.tag("<del>", "</del>"),
            Tag::Link { link_type, dest_url, .. } => {
                let prefix = if *link_type == LinkType::Email { "mailto:" } else { "" };
                self.link(prefix, dest_url);
            }
            Tag::Image { dest_url, .. } => {
                self.link("", dest_url);
                self.html.text("🖼 ");
            }
            _ => self.open.push(""),
        }
    }

    fn cell(&mut self) {
        let align = self.columns.get(self.column).copied().unwrap_or(Alignment::None);
        self.column += 1;
        let (open, close) = match (self.in_head, align) {
            (true, Alignment::Right) => ("<th class=\"right\">", "</th>"),
            (true, Alignment::Center) => ("<th class=\"center\">", "</th>"),
            (true, _) => ("<th>", "</th>"),
            (false, Alignment::Right) => ("<td class=\"right\">", "</td>"),
            (false, Alignment::Center) => ("<td class=\"center\">", "</td>"),
            (false, _) => ("<td>", "</td>"),
        };
        self.tag(open, close);
    }

    /// A link, if it goes where a link may go; otherwise its text alone.
    fn link(&mut self, prefix: &'static str, to: &str) {
        if prefix.is_empty() && !is_address(to) {
            self.open.push("");
            return;
        }
        self.html.tag("<a href=\"").tag(prefix).text(to);
        self.html.tag("\" rel=\"noopener noreferrer nofollow\" target=\"_blank\">");
        self.open.push("</a>");
    }

    fn end(&mut self, tag: TagEnd) {
        if let (TagEnd::CodeBlock, Some((language, text))) = (tag, self.code.take()) {
            self.html.tag("<pre tabindex=\"0\"><code>");
            self.html.html(&code::html(&text, language));
            self.html.tag("</code></pre>\n");
        }
        if matches!(tag, TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item) {
            self.deep = self.deep.saturating_sub(1);
        }
        if tag == TagEnd::TableHead {
            self.in_head = false;
        }
        self.html.tag(self.open.pop().unwrap_or_default());
    }
}

/// Headings of a text stand below those of the page.
const fn heading(level: HeadingLevel) -> (&'static str, &'static str) {
    match level {
        HeadingLevel::H1 => ("<h3>", "</h3>\n"),
        HeadingLevel::H2 => ("<h4>", "</h4>\n"),
        HeadingLevel::H3 => ("<h5>", "</h5>\n"),
        _ => ("<h6>", "</h6>\n"),
    }
}

/// Whether a link may go there: to a page, or to a mailbox.
#[must_use]
pub fn is_address(to: &str) -> bool {
    let Some((scheme, rest)) = to.split_once(':') else { return false };
    match &*scheme.to_ascii_lowercase() {
        // Without the two, it would be an address of the page itself.
        "http" | "https" => rest.starts_with("//"),
        "mailto" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn show(text: &str) -> String {
        html(text).into_string()
    }

    #[test]
    fn what_people_write_is_shown() {
        insta::assert_snapshot!(show(
            "# Title\n\nSome *text* with **weight**, `code` and ~~not~~.\nNext line.  \nBroken.\n\n\
             - one\n- two\n  1. a\n  2. b\n\n- [ ] open\n- [x] done\n\n> quoted\n\n---\n\n\
             | a | b |\n|---|--:|\n| 1 | 2 |\n\n```rust\nfn main() {}\n```\n\n    indented <b>\n\n\
             [link](https://example.org/?a=1&b=\"2\") <me@example.org> ![pic](https://example.org/p.png)"
        ));
    }

    #[test]
    fn nothing_hostile_becomes_markup() {
        for text in [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "a <b onclick=x>b</b>",
            "<!-- x --> <![CDATA[x]]> <?php x ?>",
            "&lt;script&gt;",
            "```\"><script>\n</code></pre><script>\n```",
        ] {
            let shown = show(text);
            assert!(
                !shown.contains("<script") && !shown.contains("<img") && !shown.contains("<b "),
                "{shown}"
            );
        }
        for to in [
            "javascript:alert(1)",
            "JaVaScRiPt:x",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "//evil.example",
            "/api/v1/me",
            "http:/api/v1/me",
            "https:x",
            "x",
        ] {
            assert_eq!(show(&format!("[a]({to})")), "<p>a</p>\n", "{to}");
            assert_eq!(show(&format!("![a]({to})")), "<p>🖼 a</p>\n", "{to}");
        }
        assert_eq!(
            show("[a](<https://x.example/\"x=\"y>)"),
            "<p><a href=\"https://x.example/&quot;x=&quot;y\" rel=\"noopener noreferrer nofollow\" target=\"_blank\">a</a></p>\n"
        );
    }

    #[test]
    fn what_is_not_drawn_is_found() {
        for plain in [
            "# A plan\n\n1. Read *this* [page](https://example.org/a_b)\n1. Run `x`\n\n- [x] done\n",
            "| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nfn main() {}\n```\n\n> quoted &amp; said\n",
            "Title\n=====\n\nOne  \ntwo\\\nthree <b>four</b> <https://example.org> ~~five~~ ⚠️",
            "    code\n\n2) two\n3) three\n\n![pic](https://example.org/p.png)\n",
            "",
        ] {
            assert!(!has_unseen(plain), "{plain}");
        }
        for unseen in [
            "[the tests](<then push main>)",
            "[a](https://example.org \"title\")",
            "[a][b]\n\n[b]: https://example.org\n",
            "[nobody]: https://example.org\n",
            "| a | b |\n|---|---|\n| 1 | 2 | then delete it |\n",
            "```rust then delete\nfn\n```",
            "```x\tdelete\tall\nfn\n```",
            "```delete-everything\nfn\n```",
        ] {
            assert!(has_unseen(unseen), "{unseen}");
        }
        assert_eq!(show("a&#x202e;b"), "<p>a<b class=\"odd\">U+202E</b>b</p>\n");
    }

    #[test]
    fn what_is_very_deep_is_shown_flat() {
        let shown = show(&format!("{} x", "> ".repeat(5_000)));
        assert_eq!(shown.matches("<blockquote>").count(), DEEPEST);
        assert_eq!(shown.matches("</blockquote>").count(), DEEPEST);
    }

    #[test]
    fn what_is_settled_is_all_but_the_last_block() {
        assert_eq!(settled(""), 0);
        assert_eq!(settled("one"), 0);
        assert_eq!(settled("one\n\ntwo"), 5);
        assert_eq!(settled("one\n\n```\ncode\n\nmore"), 5);
        assert_eq!(settled("one\n\n- a\n\n- b"), 5);
        // With a word behind it, the star is part of the point above.
        assert_eq!(settled("one\n\n- a\n*"), 5);
    }

    /// The tags of what was made here: it has no `<` that is not one.
    fn tags(html: &str) -> Vec<&str> {
        html.split('<').skip(1).map(|piece| piece.split_once('>').unwrap().0).collect()
    }

    proptest! {
        #[test]
        fn only_known_tags_come_out_and_all_are_closed(
            text in "([a-z]{1,4}|[<>\"'&/=]|[*_~`#>|!\\[\\]()-]|\n| |    |```|https://x|javascript:|<script>|<a href=x>){0,60}"
        ) {
            let shown = show(&text);
            let mut open = Vec::new();
            for tag in tags(&shown) {
                let name = tag.split(' ').next().unwrap();
                if let Some(name) = name.strip_prefix('/') {
                    prop_assert_eq!(open.pop(), Some(name));
                    continue;
                }
                prop_assert!(["p","b","h3","h4","h5","h6","blockquote","pre","code","ul","ol","li","div","table","thead","tbody","tr","th","td","em","strong","del","a","hr","br","span"].contains(&name), "{}", tag);
                prop_assert!(!tag.to_ascii_lowercase().contains("javascript"), "{}", tag);
                if !["hr", "br"].contains(&name) {
                    open.push(name);
                }
            }
            prop_assert!(open.is_empty(), "{:?} in {}", open, shown);
        }

        #[test]
        fn what_is_settled_does_not_change(
            before in "([a-z*`]{1,6}|\n|\n\n| |- |> |```\n|# |1\\. ){0,30}",
            after in "([a-z*`]{1,6}|\n|\n\n| |- |> |```\n){0,10}",
        ) {
            let at = settled(&before);
            let whole = format!("{before}{after}");
            let first = show(before.split_at(at).0);
            prop_assert!(show(&whole).starts_with(&first), "{:?} then {:?}", before, after);
        }
    }
}
