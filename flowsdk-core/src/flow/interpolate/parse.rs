//! Finding the tokens of a text.

use super::Token;
use super::template::Segment;

/// One character, or the remainder of a token.
#[derive(Clone, Copy)]
enum Item {
    Char(char),
    /// An index into the tokens found so far.
    Token(usize),
}

/// Splits `text` into literals and tokens.
///
/// A token is `{{`, no braces, `}}`; the innermost braces win, others stay literal. A token around
/// another one (`{{a{{b}}}}`), or one whose braces stand around another (`{{{b}}{a}}`), has no name
/// of its own and is missing: otherwise an empty value between two literals could leave a token in
/// the output. Linear in the length of `text`.
pub(super) fn segments(text: &str) -> Vec<Segment> {
    if !text.contains("{{") {
        return if text.is_empty() { Vec::new() } else { vec![Segment::Literal(text.into())] };
    }
    let mut items: Vec<Item> = Vec::with_capacity(text.len());
    // Where the braces stand in `items` that belong to no token.
    let mut braces: Vec<usize> = Vec::new();
    let mut tokens: Vec<Option<Token>> = Vec::new();
    for c in text.chars() {
        items.push(Item::Char(c));
        if c == '{' || c == '}' {
            braces.push(items.len() - 1);
        }
        if c != '}' {
            continue;
        }
        if let Some((open, content, close)) = token_at_end(&items, &braces) {
            let split = open + 2 < content || close + 2 < items.len();
            let token = if split {
                Token::Missing(shown(&items[open + 1..items.len() - 1]))
            } else {
                name_of(&items[content..close])
            };
            tokens.push(Some(token));
            items.truncate(open);
            items.push(Item::Token(tokens.len() - 1));
            braces.truncate(braces.len() - 4);
        }
    }
    collect(items, &mut tokens)
}

/// Where the token that ends with the last item opens, where its content begins and ends.
fn token_at_end(items: &[Item], braces: &[usize]) -> Option<(usize, usize, usize)> {
    let [.., open, inner, close, last] = *braces else {
        return None;
    };
    let is = |at: usize, brace: char| matches!(items[at], Item::Char(c) if c == brace);
    // Tokens between two braces may turn out empty, so the braces count as adjacent.
    let adjacent = |from: usize, to: usize| items[from + 1..to].iter().all(|i| matches!(i, Item::Token(_)));
    (is(close, '}') && is(inner, '{') && is(open, '{') && adjacent(close, last) && adjacent(open, inner))
        .then_some((open, inner + 1, close))
}

fn name_of(content: &[Item]) -> Token {
    let mut name = String::with_capacity(content.len());
    for item in content {
        match item {
            Item::Char(c) => name.push(*c),
            Item::Token(_) => return Token::Missing(shown(content)),
        }
    }
    Token::parse(&name)
}

/// Returns the text between the braces, for people.
fn shown(content: &[Item]) -> Box<str> {
    let mut text = String::with_capacity(content.len());
    for item in content {
        match item {
            Item::Char(c) => text.push(*c),
            Item::Token(_) => text.push_str("{{…}}"),
        }
    }
    text.trim().into()
}

fn collect(items: Vec<Item>, tokens: &mut [Option<Token>]) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut literal = String::new();
    for item in items {
        match item {
            Item::Char(c) => literal.push(c),
            Item::Token(index) => {
                if !literal.is_empty() {
                    segments.push(Segment::Literal(std::mem::take(&mut literal).into()));
                }
                segments.extend(tokens[index].take().map(Segment::Token));
            }
        }
    }
    if !literal.is_empty() {
        segments.push(Segment::Literal(literal.into()));
    }
    segments
}
