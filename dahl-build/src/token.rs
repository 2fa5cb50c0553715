//! The tokens of a C file, without white space, comments and preprocessor lines.

use crate::error::Error;

/// One word: an identifier, a number, a literal, or a punctuation mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    /// Counted from 1.
    pub(crate) line: usize,
}

impl Token<'_> {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.text == text
    }

    pub(crate) fn is_word(&self) -> bool {
        self.text.starts_with(is_word_start)
    }
}

fn is_word_start(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_'
}

/// The tokens of `source`, which is the file `file`.
pub(crate) fn tokens<'a>(file: &str, source: &'a str) -> Result<Vec<Token<'a>>, Error> {
    let mut tokens = Vec::new();
    let mut rest = source;
    let mut at_line_start = true;
    while let Some(first) = rest.chars().next() {
        let line = line_of(source, rest);
        let len = if let Some(comment) = rest.strip_prefix("/*") {
            let end = comment.find("*/");
            end.ok_or_else(|| Error::at(file, line, "this comment has no end: expected `*/`"))? + 4
        } else if rest.starts_with("//") || first == '#' && at_line_start {
            logical_line_len(rest)
        } else if first.is_whitespace() {
            at_line_start |= first == '\n';
            first.len_utf8()
        } else {
            at_line_start = false;
            let len = token_len(file, line, rest)?;
            tokens.push(Token { text: &rest[..len], line });
            len
        };
        rest = &rest[len..];
    }
    Ok(tokens)
}

fn token_len(file: &str, line: usize, rest: &str) -> Result<usize, Error> {
    let first = rest.chars().next().unwrap_or_default();
    if first == '"' || first == '\'' {
        return literal_len(rest, first)
            .ok_or_else(|| Error::at(file, line, format!("this literal has no end: expected `{first}`")));
    }
    let is_in_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    if is_in_word(first) {
        return Ok(rest.find(|letter| !is_in_word(letter)).unwrap_or(rest.len()));
    }
    Ok(first.len_utf8())
}

/// The length up to the closing quote; a backslash escapes a quote.
fn literal_len(rest: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (index, letter) in rest.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return None,
            _ if letter == quote => return Some(index + 1),
            _ => {}
        }
    }
    None
}

/// The length up to the end of the line; a backslash there continues the line.
fn logical_line_len(rest: &str) -> usize {
    let mut from = 0;
    while let Some(end) = rest[from..].find('\n') {
        let end = from + end;
        if !rest[..end].trim_end_matches('\r').ends_with('\\') {
            return end;
        }
        from = end + 1;
    }
    rest.len()
}

fn line_of(source: &str, rest: &str) -> usize {
    source[..source.len() - rest.len()].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<(&str, usize)> {
        tokens("a.c", source).unwrap().into_iter().map(|token| (token.text, token.line)).collect()
    }

    #[test]
    fn comments_and_directives_are_left_out_and_lines_counted() {
        let source = "/* a\n b */ int // c\n#define X(a) \\\n  {a\n f(\"}\\\"\", '{');";
        let expected =
            [("int", 2), ("f", 5), ("(", 5), ("\"}\\\"\"", 5), (",", 5), ("'{'", 5), (")", 5), (";", 5)];
        assert_eq!(texts(source), expected);
    }

    #[test]
    fn what_has_no_end_is_an_error_at_its_beginning() {
        let error = |source| tokens("a.c", source).unwrap_err().to_string();
        assert_eq!(error("int a;\n/* b"), "a.c:2: this comment has no end: expected `*/`");
        assert_eq!(error("char *a = \"b\n\";"), "a.c:1: this literal has no end: expected `\"`");
    }
}
