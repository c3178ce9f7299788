//! A minimal parser of Rust that finds the modules that a file names.

use std::iter::Peekable;
use std::str::CharIndices;

/// A path in code, such as `super::lru::Lru`, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// Line number, counted from 1.
    pub(crate) line: usize,
    /// Components of the path.
    pub(crate) parts: Vec<String>,
}

/// Returns every path with at least two components in `source`, outside comments and strings. Groups are
/// expanded: `use a::{b, c::d}` names `a::b` and `a::c::d`.
pub(crate) fn paths(source: &str) -> Vec<Named> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        at = if matches!(tokens[at].1, Token::Word(_)) {
            path(&tokens, at, &mut Vec::new(), &mut found)
        } else {
            at + 1
        };
    }
    found.retain(|named| named.parts.len() > 1);
    found
}

#[derive(Debug, PartialEq)]
enum Token {
    Word(String),
    Colons,
    Mark(char),
}

/// Reads the rest of a path. Its next word is at `at`, and its earlier words are in `prefix`. Appends the
/// path to `found`, and returns the position after it.
fn path(tokens: &[(usize, Token)], mut at: usize, prefix: &mut Vec<String>, found: &mut Vec<Named>) -> usize {
    let (before, line) = (prefix.len(), tokens[at].0);
    let mut grouped = false;
    while let Some((_, Token::Word(word))) = tokens.get(at) {
        prefix.push(word.clone());
        at += 1;
        if tokens.get(at).is_none_or(|token| token.1 != Token::Colons) {
            break;
        }
        at += 1;
        if tokens.get(at).is_some_and(|token| token.1 == Token::Mark('{')) {
            grouped = true;
            at = group(tokens, at + 1, prefix, found);
            break;
        }
    }
    if !grouped {
        found.push(Named { line, parts: prefix.clone() });
    }
    prefix.truncate(before);
    at
}

/// Reads the members of a group up to its closing brace. Returns the position after the brace.
fn group(
    tokens: &[(usize, Token)],
    mut at: usize,
    prefix: &mut Vec<String>,
    found: &mut Vec<Named>,
) -> usize {
    while let Some((_, token)) = tokens.get(at) {
        at = match token {
            Token::Word(_) => path(tokens, at, prefix, found),
            Token::Mark('}') => return at + 1,
            _ => at + 1,
        };
    }
    at
}

type Letters<'a> = Peekable<CharIndices<'a>>;

fn tokens(source: &str) -> Vec<(usize, Token)> {
    let mut letters = source.char_indices().peekable();
    let (mut tokens, mut line, mut counted) = (Vec::new(), 1, 0);
    while let Some((at, letter)) = letters.next() {
        line += source[counted..at].matches('\n').count();
        counted = at;
        let next = letters.peek().map(|&(_, next)| next);
        match letter {
            '/' if next == Some('/') => while letters.next_if(|&(_, letter)| letter != '\n').is_some() {},
            '/' if next == Some('*') => skip_block_comment(&mut letters),
            '"' => skip_string(&mut letters),
            'r' if starts_raw_string(&source[at..]) => skip_raw_string(&mut letters),
            '\'' => skip_letter_literal(&source[at..], &mut letters),
            ':' if next == Some(':') => {
                letters.next();
                tokens.push((line, Token::Colons));
            }
            letter if is_word(letter) => {
                let mut word = String::from(letter);
                while let Some((_, letter)) = letters.next_if(|&(_, letter)| is_word(letter)) {
                    word.push(letter);
                }
                tokens.push((line, Token::Word(word)));
            }
            letter if letter.is_whitespace() => {}
            letter => tokens.push((line, Token::Mark(letter))),
        }
    }
    tokens
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn skip_block_comment(letters: &mut Letters<'_>) {
    let (mut depth, mut last) = (0, '/');
    for (_, letter) in letters.by_ref() {
        match (last, letter) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {
                last = letter;
                continue;
            }
        }
        last = ' ';
        if depth == 0 {
            return;
        }
    }
}

fn skip_string(letters: &mut Letters<'_>) {
    while let Some((_, letter)) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            '"' => return,
            _ => {}
        }
    }
}

fn starts_raw_string(rest: &str) -> bool {
    rest.starts_with("r\"") || (rest.starts_with("r#") && rest[1..].trim_start_matches('#').starts_with('"'))
}

fn skip_raw_string(letters: &mut Letters<'_>) {
    let mut fence = 0;
    while letters.next().is_some_and(|(_, letter)| letter == '#') {
        fence += 1;
    }
    let mut closing = None;
    for (_, letter) in letters.by_ref() {
        closing = match (letter, closing) {
            ('"', _) => Some(0),
            ('#', Some(seen)) => Some(seen + 1),
            _ => None,
        };
        if closing == Some(fence) {
            return;
        }
    }
}

/// Skips the rest of a character literal, e.g. `'x'` or `'\n'`. A lifetime such as `'a` is read as a word.
fn skip_letter_literal(rest: &str, letters: &mut Letters<'_>) {
    let mut after = rest.chars().skip(1);
    match (after.next(), after.next()) {
        (Some('\\'), _) => {
            letters.nth(1);
            while letters.next_if(|&(_, letter)| letter != '\'').is_some() {}
            letters.next();
        }
        (Some(_), Some('\'')) => {
            letters.nth(1);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::paths;

    fn named(source: &str) -> Vec<String> {
        paths(source).iter().map(|named| format!("{} {}", named.line, named.parts.join("::"))).collect()
    }

    #[test]
    fn groups_are_spread_out_and_keep_their_lines() {
        let source = "use super::{\n    lru::{Lru, Config},\n    Policy,\n};\nfn f() { crate::a::b(); x }";
        assert_eq!(
            named(source),
            ["2 super::lru::Lru", "2 super::lru::Config", "3 super::Policy", "5 crate::a::b"]
        );
    }

    #[test]
    fn comments_strings_and_letters_name_nothing() {
        let source = "// super::a\n/* super::b /* super::c */ super::d */ 'x' '\"' '\\'' '\\u{41}'\n\
                      \"super::e \\\" super::f\" r\"super::g\" r#\"super::h \" super::i\"# super::seen::it";
        assert_eq!(named(source), ["3 super::seen::it"]);
    }

    #[test]
    fn a_lifetime_does_not_hide_what_follows() {
        assert_eq!(named("impl<'a> T<'a> for super::lru::Lru<'a> {}"), ["1 super::lru::Lru"]);
    }
}
