//! Compares the output of a command with the page.
//!
//! A line `..` of the page stands for any lines, `..` among the words of a line for any words. Spaces count as one.
//! Unless the page says that its figures are exact, any number with the same unit matches a number.

/// Requires that `printed` agrees with the page.
pub(crate) fn compare(expected: &[String], printed: &str, is_exact: bool) -> Result<(), String> {
    let expected: Vec<_> = expected.iter().map(|line| words(line, is_exact)).collect();
    let printed: Vec<_> = printed.lines().map(|line| words(line, is_exact)).collect();
    // The page may leave out empty lines.
    let expected: Vec<_> = expected.iter().filter(|line| !line.is_empty()).collect();
    let printed: Vec<_> = printed.iter().filter(|line| !line.is_empty()).collect();
    if let Err(line) = lines_match(&expected, &printed) {
        return Err(format!("The page says:\n{}", line.join(" ")));
    }
    Ok(())
}

/// Reports the first line of the page without a matching line.
fn lines_match(expected: &[&Vec<String>], printed: &[&Vec<String>]) -> Result<(), Vec<String>> {
    let (mut place, mut may_skip) = (0, false);
    for line in expected {
        if is_gap(line) {
            may_skip = true;
            continue;
        }
        let skipped = printed[place..].iter().position(|candidate| words_match(line, candidate));
        match skipped {
            Some(lines) if lines == 0 || may_skip => place += lines + 1,
            _ => return Err((*line).clone()),
        }
        may_skip = false;
    }
    match printed.get(place) {
        Some(more) if !may_skip => {
            Err([vec!["nothing more, but there is:".to_owned()], (*more).clone()].concat())
        }
        _ => Ok(()),
    }
}

fn is_gap(line: &[String]) -> bool {
    line.len() == 1 && line[0] == ".."
}

fn words_match(expected: &[String], printed: &[String]) -> bool {
    let Some((first, rest)) = expected.split_first() else { return printed.is_empty() };
    if first == ".." {
        return (0..=printed.len()).any(|skipped| words_match(rest, &printed[skipped..]));
    }
    printed.split_first().is_some_and(|(word, words)| word == first && words_match(rest, words))
}

/// The words of a line; numbers and the units after them are `#` unless they must be exact.
fn words(line: &str, is_exact: bool) -> Vec<String> {
    let words = line.split_whitespace();
    if is_exact {
        return words.map(str::to_owned).collect();
    }
    let mut words: Vec<_> = words.map(without_numbers).collect();
    let mut index = 1;
    while index < words.len() {
        let unit = words[index].trim_end_matches([',', ';', ':', ')']);
        let is_unit = ["ns", "us", "ms", "s", "B", "KiB", "MiB", "GiB"].contains(&unit);
        if is_unit && words[index - 1].ends_with('#') {
            words[index] = words[index].replacen(unit, "unit", 1);
        }
        index += 1;
    }
    words
}

/// `word` with `#` for each number.
fn without_numbers(word: &str) -> String {
    let mut text = String::new();
    let mut characters = word.chars().peekable();
    while let Some(character) = characters.next() {
        if !character.is_ascii_digit() {
            text.push(character);
            continue;
        }
        text.push('#');
        loop {
            let mut after = characters.clone();
            match (characters.peek(), after.nth(1)) {
                (Some(next), _) if next.is_ascii_digit() => {}
                (Some('.'), Some(next)) if next.is_ascii_digit() => {}
                _ => break,
            }
            characters.next();
        }
    }
    text
}

/// Checks that this file reports differences, and nothing else.
pub(crate) fn finds_differences() -> Result<(), String> {
    let cases = [
        ("heat 1.5", "heat 2", false, true),
        ("heat 1.5", "heat 2", true, false),
        ("heat 1.5", "cold 1.5", false, false),
        ("a\n..\nc", "a\nb\nb\nc", false, true),
        ("a\nc", "a\nb\nc", false, false),
        ("a\n..", "a\nb", false, true),
        ("a", "a\nb", false, false),
        ("a\nb", "a", false, false),
        ("a .. d", "a b c d", false, true),
        ("a .. d", "a b c", false, false),
        ("took 3.5 us, 7", "took 12 ms, 8", false, true),
        ("took 3.5 us, 7", "took 12 apples, 8", false, false),
        ("examples/heat.rs:12:4", "examples/heat.rs:120:14", false, true),
    ];
    for (page, printed, is_exact, is_same) in cases {
        let lines: Vec<_> = page.lines().map(str::to_owned).collect();
        if compare(&lines, printed, is_exact).is_ok() != is_same {
            return Err(format!(
                "{page:?} and {printed:?}: {}",
                if is_same { "are alike" } else { "differ" }
            ));
        }
    }
    Ok(())
}
