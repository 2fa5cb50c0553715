//! Checks what pages, comments and scripts name: files, headings, and commands of cargo.

use std::fs;
use std::path::Path;

use dahl_floors::{commands, links, programs, texts};
use tempfile::TempDir;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn links_lead_to_files_and_headings() {
    let texts = texts::read(root());
    assert!(texts.contains_key(Path::new("README.md")) && texts.contains_key(Path::new("docs/plans.md")));
    let broken = links::broken(root(), &texts);
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn commands_name_programs_that_exist() {
    let texts = texts::read(root());
    let named: usize = texts.values().map(|text| commands::commands(text).len()).sum();
    assert!(named > 80, "pages and comments name commands of cargo, and {named} were found");
    let wrong = commands::wrong(&texts, &programs::read(&texts));
    assert!(wrong.is_empty(), "commands that cargo refuses:\n{}", wrong.join("\n"));
}

/// A repository with one package and one page, whose `CARGO` stands for cargo: commands of this file are read too.
fn with_page(page: &str) -> TempDir {
    let manifest = "[package]\nname = \"dahl\"\n[[test]]\nname = \"ops\"\n[features]\ntesting = []\n";
    let page = page.replace("CARGO", "cargo");
    let root = tempfile::tempdir().expect("a folder");
    for (path, text) in
        [("Cargo.toml", manifest), ("tests/all/main.rs", ""), ("benches/gemm.rs", ""), ("docs/a.md", &page)]
    {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders can be made");
        fs::write(path, text).expect("files can be written");
    }
    root
}

#[test]
fn a_wrong_link_is_found() {
    let root = with_page(
        "# One `two`\n\n[a](#one-two) [b](a.md#one-two) [c](#three)\n```\n[d](#four)\n```\n# One [two](a.md)\n\
         [e](#one-two-1) [f](../benches) [g](no.md) [h](https://example.org/#five) [i](../Cargo.toml)\n",
    );
    let broken = links::broken(root.path(), &texts::read(root.path()));
    assert_eq!(broken, ["docs/a.md:3: #three", "docs/a.md:8: no.md"]);
}

#[test]
fn a_wrong_command_is_found() {
    let wrong = |page: &str| {
        let texts = texts::read(with_page(page).path());
        let wrong = commands::wrong(&texts, &programs::read(&texts));
        wrong.iter().map(|line| line.replace("cargo", "CARGO")).collect::<Vec<_>>()
    };
    let right = "`CARGO test --test ops numerics::`, `CARGO test\n--test all -- --test no`, `CARGO bench --bench gemm`,\n\
                 CARGO run --features testing # --bin no\nCARGO clippy -p no\n";
    assert_eq!(wrong(right), [""; 0]);
    assert_eq!(wrong("CARGO run \\\n  -p no\n"), ["docs/a.md: CARGO run -p no: no package no"]);
    assert_eq!(
        wrong("`CARGO test -p dahl --features no\n--test gemm`"),
        [
            "docs/a.md: CARGO test -p dahl --features no --test gemm: no --test gemm in [\"dahl\"]",
            "docs/a.md: CARGO test -p dahl --features no --test gemm: no feature no in [\"dahl\"]",
        ]
    );
}
