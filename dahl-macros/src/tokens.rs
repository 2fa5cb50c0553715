//! Questions about tokens that need no syntax tree: which names they mention, their text, their hash.

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

/// FNV-1a over the text of `tokens` without white space: equal for equal declarations, whatever the compiler.
pub(crate) fn hash(tokens: &TokenStream) -> u64 {
    fn feed(mut hash: u64, text: &str) -> u64 {
        // The zero byte keeps `a b` and `ab` apart.
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

/// The text of an expression as a person would type it: `a.ncols() == b.nrows()`.
///
/// `stringify!` puts a space around every token that a macro has passed on.
pub(crate) fn text(tokens: &TokenStream) -> String {
    let mut text = String::new();
    write(tokens.clone(), &mut text);
    text
}

fn write(tokens: TokenStream, text: &mut String) {
    // What came before decides whether a sign is unary, and whether a group is a call's.
    let mut after_operand = false;
    let mut operator = String::new();
    for token in tokens {
        match token {
            TokenTree::Punct(punct) => {
                operator.push(punct.as_char());
                if punct.spacing() == Spacing::Alone {
                    write_operator(&operator, after_operand, text);
                    after_operand = operator == "?";
                    operator.clear();
                }
            }
            TokenTree::Group(group) => {
                let (open, close) = delimiters(group.delimiter());
                if group.delimiter() == Delimiter::Brace {
                    space(text);
                }
                text.push_str(open);
                write(group.stream(), text);
                text.push_str(close);
                after_operand = true;
            }
            word => {
                if after_operand {
                    space(text);
                }
                text.push_str(&word.to_string());
                after_operand = true;
            }
        }
    }
}

fn write_operator(operator: &str, after_operand: bool, text: &mut String) {
    match operator {
        "." | "::" | "?" | ".." | "..=" => text.push_str(operator),
        "," | ";" => {
            text.push_str(operator);
            text.push(' ');
        }
        "!" | "-" | "&" | "*" if !after_operand => text.push_str(operator),
        binary => {
            space(text);
            text.push_str(binary);
            text.push(' ');
        }
    }
}

/// Ends the word before; not at the start, and not twice.
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
        ] {
            assert_eq!(text(&expression.parse().unwrap()), expression);
        }
    }

    #[test]
    fn the_hash_sees_words_and_not_white_space() {
        let hash = |text: &str| hash(&text.parse().unwrap());
        assert_eq!(hash("a+b"), hash("a  +\nb"));
        assert_ne!(hash("a + b"), hash("a + c"));
        assert_ne!(hash("(a) b"), hash("(a b)"));
    }
}
