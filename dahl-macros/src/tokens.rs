//! Functions on tokens that need no syntax tree: which names they mention, their text, their hash.

use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};

/// Whether the identifier `name` occurs anywhere in `tokens`.
pub(crate) fn mention(tokens: &TokenStream, name: &Ident) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => mention(&group.stream(), name),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// `name`, with underscores appended until `tokens` do not mention it.
pub(crate) fn fresh(name: &str, tokens: &TokenStream) -> Ident {
    let mut ident = Ident::new(name, proc_macro2::Span::call_site());
    while mention(tokens, &ident) {
        ident = quote::format_ident!("{ident}_");
    }
    ident
}

/// FNV-1a over the text of `tokens` without white space: equal for equal declarations, with any compiler.
pub(crate) fn hash(tokens: &TokenStream) -> u64 {
    fn feed(mut hash: u64, text: &str) -> u64 {
        // The zero byte distinguishes `a b` from `ab`.
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        hash
    }
    fn feed_all(hash: u64, tokens: TokenStream) -> u64 {
        tokens.into_iter().fold(hash, |hash, token| match token {
            TokenTree::Group(group) => {
                let (open, close) = delimiters(group.delimiter());
                feed(feed_all(feed(hash, open), group.stream()), close)
            }
            other => feed(hash, &other.to_string()),
        })
    }
    feed_all(0xcbf2_9ce4_8422_2325, tokens.clone())
}

/// The part of `source` that consists of `tokens`, on one line; none if it is not found, or has a comment in it.
pub(crate) fn written(source: &str, tokens: &TokenStream) -> Option<String> {
    let wanted: Vec<char> = flat(tokens).chars().filter(|letter| !letter.is_whitespace()).collect();
    let found: Vec<(usize, char)> = letters(source).collect();
    let is_here =
        |window: &[(usize, char)]| window.iter().map(|&(_, letter)| letter).eq(wanted.iter().copied());
    let first = found.windows(wanted.len().max(1)).position(is_here).filter(|_| !wanted.is_empty())?;
    let (start, (last, letter)) = (found[first].0, found[first + wanted.len() - 1]);
    let mut text = String::new();
    for line in source[start..last + letter.len_utf8()].lines().map(str::trim) {
        if line.starts_with([')', ']']) && text.ends_with(',') {
            text.pop();
        }
        if !line.starts_with(['.', '?', ')', ']']) && !text.ends_with(['(', '[']) {
            space(&mut text);
        }
        text.push_str(line);
    }
    Some(text)
}

/// All characters except white space, with their positions.
fn letters(text: &str) -> impl Iterator<Item = (usize, char)> {
    text.char_indices().filter(|(_, letter)| !letter.is_whitespace())
}

/// The text of `tokens`, with arbitrary white space.
fn flat(tokens: &TokenStream) -> String {
    let of = |token: TokenTree| match token {
        TokenTree::Group(group) => {
            let (open, close) = delimiters(group.delimiter());
            format!("{open}{}{close}", flat(&group.stream()))
        }
        other => other.to_string(),
    };
    tokens.clone().into_iter().map(of).collect()
}

/// The text of an expression, formatted: `a.ncols() == b.nrows()`.
///
/// `stringify!` puts a space around every token that a macro has passed on.
pub(crate) fn text(tokens: &TokenStream) -> String {
    let mut text = String::new();
    write(tokens.clone(), &mut text);
    text
}

fn write(tokens: TokenStream, text: &mut String) {
    let mut place = TokenContext::default();
    let mut operator = String::new();
    for token in tokens {
        match token {
            TokenTree::Punct(punct) => {
                operator.push(punct.as_char());
                if punct.spacing() == Spacing::Alone || operator == "'" {
                    place.write_operator(&operator, text);
                    operator.clear();
                }
            }
            TokenTree::Group(group) => {
                let (open, close) = delimiters(group.delimiter());
                if group.delimiter() == Delimiter::Brace || place.after_keyword {
                    space(text);
                }
                text.push_str(open);
                write(group.stream(), text);
                text.push_str(close);
                place.after(true);
            }
            word => {
                if place.after_operand || place.after_keyword {
                    space(text);
                }
                let word = word.to_string();
                text.push_str(&word);
                place.after_keyword = KEYWORDS.contains(&word.as_str());
                place.after_operand = !place.after_keyword;
            }
        }
    }
}

/// Words after which an operand begins.
const KEYWORDS: [&str; 8] = ["as", "else", "if", "in", "let", "match", "move", "return"];

/// The preceding tokens: they determine whether a sign is unary, and whether a group belongs to a call.
#[derive(Default)]
struct TokenContext {
    after_operand: bool,
    after_keyword: bool,
    /// Between the bars of a closure.
    in_parameters: bool,
    /// The nesting depth of `::<`.
    in_types: usize,
}

impl TokenContext {
    fn after(&mut self, operand: bool) {
        (self.after_operand, self.after_keyword) = (operand, false);
    }

    fn write_operator(&mut self, operator: &str, text: &mut String) {
        if let Some(rest) = operator.strip_prefix("::").filter(|rest| !rest.is_empty()) {
            text.push_str("::");
            self.after(false);
            if rest == "<" {
                text.push('<');
                self.in_types += 1;
                return;
            }
            return self.write_operator(rest, text);
        }
        if let Some(rest) = operator.strip_prefix('>').filter(|_| self.in_types > 0) {
            text.push('>');
            self.in_types -= 1;
            self.after(true);
            if !rest.is_empty() {
                self.write_operator(rest, text);
            }
            return;
        }
        if let Some(rest) =
            operator.strip_prefix('|').filter(|rest| !["", "|"].contains(rest) && !self.after_operand)
        {
            self.write_operator("|", text);
            return self.write_operator(rest, text);
        }
        match operator {
            "<" if self.in_types > 0 => {
                text.push('<');
                self.in_types += 1;
                self.after(false);
            }
            "." | "::" | "?" | ".." | "..=" => {
                text.push_str(operator);
                self.after(operator == "?");
            }
            "," | ";" => {
                text.push_str(operator);
                text.push(' ');
                self.after(false);
            }
            ":" => {
                text.push_str(": ");
                self.after(false);
            }
            "|" if self.in_parameters => {
                text.push_str("| ");
                self.in_parameters = false;
                self.after(false);
            }
            "|" | "||" if !self.after_operand => {
                if self.after_keyword {
                    space(text);
                }
                text.push_str(operator);
                if operator == "||" {
                    text.push(' ');
                }
                self.in_parameters = operator == "|";
                self.after(false);
            }
            "!" | "-" | "&" | "*" | "&&" | "**" | "'" | "!!" | "--" | "&*" | "-*" | "!*"
                if !self.after_operand =>
            {
                if self.after_keyword {
                    space(text);
                }
                text.push_str(operator);
                self.after(false);
            }
            binary => {
                // The sign of the operand, if the operator's token includes it: `== -1`, `| *x`.
                let signs = binary.trim_end_matches(['-', '*', '!', '&']);
                let known = ["&", "*", "-", "&&", "->", "=>"].contains(&binary) || signs.is_empty();
                let (binary, sign) = if known { (binary, "") } else { (signs, &binary[signs.len()..]) };
                if self.in_parameters && binary.starts_with('|') {
                    text.push_str("| ");
                    self.in_parameters = false;
                } else {
                    space(text);
                    text.push_str(binary);
                    text.push(' ');
                }
                text.push_str(sign);
                self.after(false);
            }
        }
    }
}

/// Ends the word with a space; not at the start, and not twice.
fn space(text: &mut String) {
    if !text.is_empty() && !text.ends_with([' ', '(', '[', '{']) {
        text.push(' ');
    }
}

fn delimiters(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::None => ("", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_reads_as_it_was_typed() {
        for expression in [
            "a.ncols() == b.nrows()",
            "x.shape()[2] % stride == 0 && !(k > 0)",
            "[a.len(), -1, 2 * b.nrows()]",
            "usize::from(n) <= x.len() - 1",
            "shape.iter().all(|extent| *extent > 0)",
            "shape.iter().all(|&extent| extent > 0 || !flag)",
            "pairs.any(|(a, b): (usize, usize)| a | b == -1)",
            "if *x > 0 {-1} else {y as i64}",
            "x.iter().sum::<usize>() < limit.map(|_| 1 << 3).unwrap_or_default()",
            "parse::<Vec<u8>>(x) == (..4, 'x', 1..=2, &*y, \"a  b\")",
        ] {
            assert_eq!(text(&expression.parse().unwrap()), expression);
        }
    }

    #[test]
    fn a_part_is_found_as_it_was_written() {
        let part = |source: &str, part: &str| written(source, &part.parse().unwrap());
        let source = "(fits( image.shape(),\n    [1,1] )  &&  a<b)";
        assert_eq!(part(source, "a < b").as_deref(), Some("a<b"));
        assert_eq!(
            part(source, "fits(image.shape(), [1, 1])").as_deref(),
            Some("fits( image.shape(), [1,1] )")
        );
        assert_eq!(part(source, "[1, 1]").as_deref(), Some("[1,1]"));
        let source = "(shape\n    .iter()\n    .all(\n        |x| *x > 0,\n    ))";
        assert_eq!(
            part(source, "shape.iter().all(|x| *x > 0,)").as_deref(),
            Some("shape.iter().all(|x| *x > 0)")
        );
        assert_eq!(part("(a /* not b */ < b)", "a < b"), None);
        assert_eq!(part("($check)", "a < b"), None);
    }

    #[test]
    fn the_hash_sees_words_and_not_white_space() {
        let hash = |text: &str| hash(&text.parse().unwrap());
        assert_eq!(hash("a+b"), hash("a  +\nb"));
        assert_ne!(hash("a + b"), hash("a + c"));
        assert_ne!(hash("(a) b"), hash("(a b)"));
    }
}
