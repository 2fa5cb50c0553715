//! `docs/command.md`: its examples print what it shows. `TRYCMD=overwrite` updates it with the present output.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::command::folder::Folder;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/command.md");

#[test]
fn what_the_page_shows_is_what_is_printed() {
    let folder = Folder::new();
    // `trycmd` runs the examples of NAME.md in a copy of NAME.in, and compares files if there is a NAME.out.
    let place = tempfile::tempdir().expect("a folder");
    let page = Path::new(PAGE).canonicalize().expect("the page is there");
    symlink(page, place.path().join("command.md")).expect("a link can be made");
    symlink(folder.path(""), place.path().join("command.in")).expect("a link can be made");
    fs::create_dir(place.path().join("command.out")).expect("it can be made");
    trycmd::TestCases::new()
        .case(place.path().join("command.md"))
        .default_bin_path(env!("CARGO_BIN_EXE_dahl"))
        .register_bin("dahl", Path::new(env!("CARGO_BIN_EXE_dahl")))
        .env("DAHL_NCPU", "2")
        .run();
}
