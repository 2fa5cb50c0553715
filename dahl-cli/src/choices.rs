//! The error for a name that does not exist: similar names, and all valid ones.

use crate::trouble::Trouble;

/// The least likeness of a suggested name. 1 is the same name.
const LIKENESS: f64 = 0.7;
/// The most suggested names.
const NEAR: usize = 3;

/// The error for a name: there is no such `what` in `place`, but there are `choices`.
pub(crate) fn unknown(what: &str, name: &str, place: &str, choices: &[String]) -> Trouble {
    let near = near(name, choices);
    let meant = match near.is_empty() {
        true => String::new(),
        false => format!("; did you mean {}?", quoted(&near, " or ")),
    };
    let there_are = match choices.is_empty() {
        true => format!("there is no {what}"),
        false => format!("it has: {}", choices.join(", ")),
    };
    Trouble::Input(format!("there is no {what} `{name}` in {place}{meant}\n{there_are}"))
}

/// The choices that are like `name`, the most similar first.
fn near<'c>(name: &str, choices: &'c [String]) -> Vec<&'c str> {
    let last = |name: &str| name.rsplit("::").next().unwrap_or_default().to_lowercase();
    let likeness = |choice: &String| strsim::jaro_winkler(&last(name), &last(choice));
    let mut near: Vec<_> = choices.iter().map(|choice| (likeness(choice), choice.as_str())).collect();
    near.retain(|(likeness, _)| *likeness >= LIKENESS);
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().take(NEAR).map(|(_, choice)| choice).collect()
}

fn quoted(names: &[&str], between: &str) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn names_are_near_by_their_last_part() {
        let choices = ["dahl::ops::matmul", "dahl::ops::matmul_add", "dahl::ops::dot"].map(str::to_owned);
        assert_eq!(near("matmull", &choices), ["dahl::ops::matmul", "dahl::ops::matmul_add"]);
        assert_eq!(near("DOT", &choices), ["dahl::ops::dot"]);
        assert!(near("softmax", &choices).is_empty());
    }
}
