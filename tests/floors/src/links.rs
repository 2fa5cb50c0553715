//! The links of pages in Markdown: whether the files and headings exist that they lead to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// The links of the pages among `texts` that lead nowhere, as lines `page:line: link`. Links to other sites are left out.
pub fn broken(root: &Path, texts: &BTreeMap<PathBuf, String>) -> Vec<String> {
    let pages = || texts.iter().filter(|(path, _)| path.extension().is_some_and(|ending| ending == "md"));
    let anchors: BTreeMap<&Path, BTreeSet<String>> =
        pages().map(|(path, text)| (&**path, anchors(text))).collect();
    let mut broken = Vec::new();
    for (page, text) in pages() {
        for (line, link) in links(text) {
            if link.starts_with("http") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { beside(page, file) };
            let has_heading = || anchors.get(&*target).is_none_or(|all| all.contains(anchor));
            if !root.join(&target).exists() || !anchor.is_empty() && !has_heading() {
                broken.push(format!("{}:{line}: {link}", page.display()));
            }
        }
    }
    broken
}

/// The path of `file`, named in `page`, from the root.
fn beside(page: &Path, file: &str) -> PathBuf {
    let mut path = page.parent().expect("a page is a file").to_owned();
    for component in Path::new(file).components() {
        match component {
            Component::ParentDir => _ = path.pop(),
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}

/// The lines of a page outside of its blocks of code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The targets of the links of a page, each with its line.
fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    prose(text).flat_map(|(number, line)| {
        line.split("](").skip(1).filter_map(move |rest| {
            let link = rest.split_once(')')?.0;
            (!link.contains(char::is_whitespace)).then_some((number, link))
        })
    })
}

/// The anchors of the headings of a page, as GitHub makes them: in lower case, with `-` for a space and `-1` behind the
/// second of two equal ones.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(text) {
        let Some(heading) = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#')) else { continue };
        let Some(heading) = heading.strip_prefix(' ') else { continue };
        let anchor: String = without_links(heading)
            .trim()
            .to_lowercase()
            .chars()
            .filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let numbered = (1..).map(|number| format!("{anchor}-{number}"));
        let free = std::iter::once(anchor.clone()).chain(numbered).find(|name| !anchors.contains(name));
        anchors.extend(free);
    }
    anchors
}

/// A heading, with the texts of its links in place of the links.
fn without_links(heading: &str) -> String {
    let mut parts = heading.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    text.replace('[', "")
}
