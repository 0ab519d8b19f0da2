//! Braces: `a{b,c}` is `ab ac`.

use super::word::{Kind, Piece};

/// How many words one may become.
const WORDS: usize = 64;

/// How many letters a word may have for that.
const LETTERS: usize = 4096;

/// The words that one with braces stands for. Where that would be too many, what is in braces is only
/// known when it runs.
pub(super) fn expanded(pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
    let has = |wanted| pieces.iter().any(|p| p.kind == Kind::Plain && p.text.contains(wanted));
    if !has('{') || !has(',') || !has('}') {
        return vec![pieces];
    }
    if pieces.iter().map(|piece| piece.text.len()).sum::<usize>() > LETTERS {
        return vec![unknown(pieces)];
    }
    let letters = pieces.iter().flat_map(|p| p.text.chars().map(|letter| (letter, p.kind)));
    let mut open = vec![letters.collect::<Vec<_>>()];
    let mut done: Vec<Vec<Letter>> = Vec::new();
    while let Some(word) = open.pop() {
        match alternatives(&word) {
            Some(words) if done.len() + open.len() + words.len() <= WORDS => {
                open.extend(words.into_iter().rev());
            }
            Some(_) => return vec![unknown(pieces)],
            None => done.push(word),
        }
    }
    done.iter().map(|word| joined(word)).collect()
}

/// What is in braces could be anything.
fn unknown(mut pieces: Vec<Piece>) -> Vec<Piece> {
    for piece in &mut pieces {
        if piece.kind == Kind::Plain && piece.text.contains('{') {
            piece.kind = Kind::Open;
        }
    }
    pieces
}

type Letter = (char, Kind);

/// What the first braces in a word make of it.
fn alternatives(word: &[Letter]) -> Option<Vec<Vec<Letter>>> {
    // For each brace that is open: where it is, and the commas that belong to it.
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut first: Option<(usize, Vec<usize>, usize)> = None;
    for (at, (letter, kind)) in word.iter().enumerate() {
        if *kind != Kind::Plain {
            continue;
        }
        match letter {
            '{' => open.push((at, Vec::new())),
            ',' => {
                if let Some((_, commas)) = open.last_mut() {
                    commas.push(at);
                }
            }
            '}' => {
                if let Some((start, commas)) = open.pop()
                    && !commas.is_empty()
                    && first.as_ref().is_none_or(|(other, ..)| start < *other)
                {
                    first = Some((start, commas, at));
                }
            }
            _ => {}
        }
    }
    let (start, commas, end) = first?;
    let (before, after) = (word.get(..start)?, word.get(end + 1..)?);
    let mut words = Vec::new();
    let mut from = start + 1;
    for to in commas.into_iter().chain([end]) {
        if words.len() > WORDS {
            break;
        }
        words.push([before, word.get(from..to)?, after].concat());
        from = to + 1;
    }
    Some(words)
}

fn joined(word: &[Letter]) -> Vec<Piece> {
    let same = word.chunk_by(|(_, kind), (_, next)| kind == next);
    same.filter_map(|letters| {
        let kind = letters.first()?.1;
        Some(Piece { kind, text: letters.iter().map(|(letter, _)| letter).collect() })
    })
    .collect()
}
