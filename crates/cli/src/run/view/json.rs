//! JSON for people to read, as the text that it is.

/// The same text with line breaks and indents.
///
/// It is not read into values first: numbers stay as they were written, and a key that stands
/// there twice is shown twice. What is shown is what will be used.
pub(crate) fn tidy(json: &str) -> String {
    let mut text = String::new();
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    let mut rest = json.chars().peekable();
    let line = |text: &mut String, depth: usize| {
        text.push('\n');
        text.extend(std::iter::repeat_n("  ", depth));
    };
    while let Some(c) = rest.next() {
        if in_string {
            text.push(c);
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => {
                in_string = true;
                text.push(c);
            }
            '{' | '[' => {
                text.push(c);
                while rest.next_if(char::is_ascii_whitespace).is_some() {}
                if rest.peek().is_none_or(|next| matches!(next, '}' | ']')) {
                    text.extend(rest.next());
                } else {
                    depth += 1;
                    line(&mut text, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut text, depth);
                text.push(c);
            }
            ',' => {
                text.push(c);
                line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::tidy;

    #[test]
    fn it_is_the_same_text_with_breaks() {
        let json = r#"{"a":[1.0,{}, [ ]],"b\"{":12345678901234567890,"a":"x:,y"}"#;
        insta::assert_snapshot!(tidy(json), @r#"
        {
          "a": [
            1.0,
            {},
            []
          ],
          "b\"{": 12345678901234567890,
          "a": "x:,y"
        }
        "#);
    }
}
