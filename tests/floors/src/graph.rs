//! The uses between files: follows the paths of each module to the files that define the named items.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::modules::{Module, ModulePath};

/// The files of a crate and the uses between them.
#[derive(Debug, Default)]
pub struct Graph {
    /// The files that each file uses, except itself.
    pub uses: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
}

/// The arrows between top-level modules, each with the arrows between files that it consists of.
pub type Arrows = BTreeMap<(String, String), BTreeSet<(PathBuf, PathBuf)>>;

impl Graph {
    /// The graph of a crate's modules.
    pub fn new(modules: &BTreeMap<ModulePath, Module>) -> Self {
        let mut graph = Self::default();
        for (path, module) in modules {
            let uses = graph.uses.entry(module.file.clone()).or_default();
            let named = module.uses.iter().map(|(_, path)| path).chain(&module.globs).chain(&module.paths);
            for name in named {
                let mut found = BTreeSet::new();
                resolve(modules, path, name, &mut found, 0);
                uses.extend(found.into_iter().filter(|file| *file != module.file));
            }
        }
        graph
    }

    /// The arrows between top-level modules: the first component of each path. The crate's own file belongs to none.
    pub fn rooms(&self) -> Arrows {
        let mut arrows = Arrows::new();
        for (from, uses) in &self.uses {
            for to in uses {
                let (from_room, to_room) = (room(from), room(to));
                if from_room != to_room && from_room != "lib" && to_room != "lib" {
                    arrows.entry((from_room, to_room)).or_default().insert((from.clone(), to.clone()));
                }
            }
        }
        arrows
    }

    /// The cycles of files (strongly connected components): sets in which every file leads to every other. The largest
    /// comes first.
    pub fn circles(&self) -> Vec<Vec<PathBuf>> {
        let mut circles = Vec::new();
        let mut seen = BTreeSet::new();
        for start in self.uses.keys() {
            if seen.contains(start) {
                continue;
            }
            let (ahead, behind) = (self.reached(start, false), self.reached(start, true));
            let circle: Vec<PathBuf> = ahead.intersection(&behind).cloned().collect();
            seen.extend(circle.iter().cloned());
            if circle.len() > 1 {
                circles.push(circle);
            }
        }
        circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
        circles
    }

    /// All files that `start` leads to, or with `back` those that lead to it.
    fn reached(&self, start: &Path, back: bool) -> BTreeSet<PathBuf> {
        let mut reached = BTreeSet::from([start.to_owned()]);
        let mut open = vec![start.to_owned()];
        while let Some(file) = open.pop() {
            let next: Vec<PathBuf> = if back {
                self.uses
                    .iter()
                    .filter(|(_, uses)| uses.contains(&file))
                    .map(|(from, _)| from.clone())
                    .collect()
            } else {
                self.uses.get(&file).into_iter().flatten().cloned().collect()
            };
            open.extend(next.into_iter().filter(|file| reached.insert(file.clone())));
        }
        reached
    }
}

/// The top-level module of a file: its folder at the top, or its own name.
pub fn room(file: &Path) -> String {
    let first = file.components().next().expect("a file has a name").as_os_str().to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

/// Adds the files that define the item at `path`, as named in the module `from`. Names of other crates lead nowhere.
fn resolve(
    modules: &BTreeMap<ModulePath, Module>,
    from: &ModulePath,
    path: &[String],
    found: &mut BTreeSet<PathBuf>,
    depth: usize,
) {
    // Limits the depth, since re-exports may lead to each other.
    const DEEPEST: usize = 16;
    if depth > DEEPEST {
        return;
    }
    let (mut module, mut rest) = (from.clone(), path);
    let mut explicit = false;
    while let Some((first, after)) = rest.split_first() {
        match first.as_str() {
            "crate" => module.clear(),
            "super" => {
                module.pop();
            }
            "self" => {}
            _ => break,
        }
        (explicit, rest) = (true, after);
    }
    let mut first = true;
    loop {
        let here = &modules[&module];
        let Some((name, after)) = rest.split_first() else {
            // A module itself: items of it are named by further paths.
            return;
        };
        let mut below = module.clone();
        below.push(name.clone());
        // At the end of a path, a function or a type may have the name of the module.
        let is_module = modules.contains_key(&below);
        if is_module && !after.is_empty() {
            (module, rest, first) = (below, after, false);
            continue;
        }
        if here.items.contains(name) {
            found.insert(here.file.clone());
            return;
        }
        let alias: Vec<_> =
            here.uses.iter().filter(|(alias, path)| alias == name && path.as_slice() != rest).collect();
        if !alias.is_empty() {
            for (_, target) in alias {
                let whole: Vec<String> = target.iter().chain(after).cloned().collect();
                resolve(modules, &module, &whole, found, depth + 1);
            }
            return;
        }
        for glob in &here.globs {
            let whole: Vec<String> = glob.iter().chain(rest).cloned().collect();
            if whole.as_slice() != path {
                resolve(modules, &module, &whole, found, depth + 1);
            }
        }
        // Items that a macro generates count for its module.
        if !is_module && found.is_empty() && (explicit || !first) && module != *from {
            found.insert(here.file.clone());
        }
        return;
    }
}
