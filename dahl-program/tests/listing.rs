//! Saved programs: what is read is what was written; whatever else a file has is an error, and never a panic.

use std::fs;
use std::panic::Location;
use std::path::Path;
use std::slice;

use dahl_core::{Result, Runtime};
use dahl_program::{Change, Effort, Listing, ListingError, Passes, Program};
use proptest::prelude::*;

use crate::oracle::Oracle;
use crate::program::{Action, COLUMNS, ROWS, actions};
use crate::random::{Arrays, BODY, is_recordable};
use crate::world::{World, config, run};

const EFFORT: Effort = Effort { steps: 100_000, beam: 2, states: 100 };

/// The listing of a program that does what can be recorded of these actions. With listings, it must be one of them.
pub(crate) fn recorded(actions: &[Action], passes: Passes, listings: &[Listing]) -> Result<Listing> {
    let rt = Runtime::builder().cpu_workers(1).cuda_devices(0).build()?;
    let (new, new_total) = (|| rt.zeros([ROWS, COLUMNS]), || rt.zeros([ROWS, COLUMNS]));
    let arrays = [new()?, new()?, new()?, new()?];
    let mut world = World { rt: &rt, arrays, totals: [new_total()?, new_total()?], may_lose: false };
    let mut program = Program::new(&rt, &BODY);
    program.set_passes(passes);
    listings.iter().for_each(|listing| program.add_listing(listing.clone()));
    let mut unused = Oracle::new();
    program.call::<_, ()>(&mut Arrays(&mut world, 0), Location::caller(), |arrays, _, _| {
        let mut actions = actions.iter().filter(|action| is_recordable(action));
        actions.try_for_each(|action| run(action, arrays.0, &mut unused))
    })?;
    while rt.wait().is_err() {} // an unlucky task
    Ok(program.graph().listing())
}

/// The content of a file with this rest, and the hash that belongs to it.
pub(crate) fn sealed(rest: &str) -> String {
    let hash = rest.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{{\"format\": \"dahl program 3\", \"hash\": \"{hash:016x}\",\n{rest}")
}

pub(crate) fn read(content: impl AsRef<[u8]>) -> std::result::Result<Listing, ListingError> {
    Listing::from_json(content.as_ref(), Path::new("step.program"))
}

/// What a file without its first line has.
pub(crate) fn rest(content: &str) -> &str {
    content.split_once('\n').expect("it has lines").1
}

/// Asks a listing for all that it can say.
fn look_at(listing: &Listing) {
    let _ = (listing.to_string(), listing.dot(), listing.edges(), listing.tasks(), listing.steps());
    assert!(listing.difference(listing).is_empty());
    let _ = (listing.memory_plan(), listing.clone().plan_tightly(&EFFORT));
}

/// `a[1] = 3 a[0] + a[1]`-like steps, some of them twice.
fn example() -> Listing {
    let actions = [Action::Mix(0, 1, 2), Action::Map(2, 1, 3), Action::Scale(3, 4), Action::AddUp(3, 0)];
    recorded(&actions, Passes::none(), &[]).expect("they can be recorded")
}

#[test]
fn a_file_has_what_was_saved() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("step.program");
    let listing = example();
    listing.save(&path)?;
    assert_eq!(Listing::load(&path)?, listing);
    let content = fs::read_to_string(&path)?;
    assert_eq!(content, sealed(rest(&content)));
    let json: serde_json::Value = serde_json::from_str(&content)?;
    assert_eq!(json["name"], "segment");
    assert_eq!(json["codelets"][0]["name"], "mix");
    assert_eq!(json["codelets"][0]["declaration"], "0000000000000001");
    Ok(())
}

#[test]
fn broken_files_are_refused_with_their_place() {
    let content = example().to_json();
    let message = |content: &str| read(content).expect_err("it is broken").to_string();
    let has = |content: &str, facts: &[&str]| {
        let message = message(content);
        assert!(facts.iter().all(|fact| message.contains(fact)), "{message}");
    };
    has("", &["step.program:1: expected a program that dahl has saved"]);
    has("{\"traceEvents\": []}", &["step.program:1: expected a program that dahl has saved"]);
    has(&content.replacen("program 3", "program 1", 1), &["format `1`", "reads format 3"]);
    let cut = &content[..content.len() / 2];
    has(cut, &[&format!("step.program:{}:", cut.lines().count()), "EOF"]);
    has(&content.replacen("\"mix\"", "\"max\"", 1), &["step.program:1: the file is not as it was saved"]);
    let changed = |from: &str, to: &str| {
        assert!(content.contains(from), "{from} is not in {content}");
        sealed(&rest(&content).replacen(from, to, 1))
    };
    has(
        &changed("\"codelet\":0", "\"codelet\":99"),
        &["step.program: steps[0].action.task.codelet is 99", "one of the"],
    );
    has(&changed("{\"array\":0", "{\"array\":77"), &["uses[0].array is 77: expected a number of one of the"]);
    has(&changed("{\"argument\":0}", "{\"argument\":1}"), &["arrays[..].origin.argument is 1"]);
    has(&changed("\"reads\"", "\"raeds\""), &["step.program:", "unknown field `raeds`"]);
    has(&changed("0000000000000001", "1"), &["`1`: expected 16 hexadecimal digits"]);
    let path = Path::new("no folder").join("step.program");
    let missing = Listing::load(&path).expect_err("it is not there").to_string();
    assert!(missing.starts_with(&format!("{}: ", path.display())), "{missing}");
}

#[test]
fn differences_name_steps_and_fields() {
    let before = example();
    let with = |actions: &[Action]| recorded(actions, Passes::none(), &[]).expect("they can be recorded");
    let after = with(&[
        Action::Mix(0, 1, 2),
        Action::Fill(1, 3),
        Action::Map(2, 1, 3),
        Action::Scale(3, 5),
        Action::AddUp(2, 0),
    ]);
    let difference = before.difference(&after);
    let added = difference.changes.iter().filter(|change| matches!(change, Change::Added { .. })).count();
    assert_eq!(added, 1, "{difference}");
    let text = difference.to_string();
    for expected in [
        "+ 1  array 1: i64",
        "! 2 -> 3  scale(&mut array 3)\n      arguments: 0400000000000000 -> 0500000000000000\n",
        "operand 0: array 3 -> array 2",
    ] {
        assert!(text.contains(expected), "`{expected}` is not in:\n{text}");
    }
    let back = after.difference(&before).to_string();
    assert!(back.contains("- 1  array 1: i64"), "{back}");
}

#[test]
fn a_program_records_only_what_its_file_has() {
    let listing = example();
    let actions = [Action::Mix(0, 1, 2), Action::Map(2, 1, 3), Action::Scale(3, 4), Action::AddUp(3, 0)];
    let again = recorded(&actions, Passes::none(), slice::from_ref(&listing)).expect("it is the same");
    assert!(again.difference(&listing).is_empty());
    let declared = rest(&listing.to_json()).replacen("0000000000000003", "00000000000000ff", 1);
    let declared = read(sealed(&declared)).expect("it is whole");
    let refused =
        recorded(&actions, Passes::none(), slice::from_ref(&declared)).expect_err("a declaration differs");
    let text = refused.to_string();
    for fact in ["segment: ", "map(", "declaration: 00000000000000ff -> 0000000000000003"] {
        assert!(text.contains(fact), "`{fact}` is not in: {text}");
    }
    recorded(&actions, Passes::none(), &[listing, declared]).expect("it is one of them");
}

proptest! {
    #![proptest_config(config(8))]

    /// Also after the passes, and recorded a second time.
    #[test]
    fn what_is_read_is_what_was_written(actions in actions(), passes in any::<bool>()) {
        let passes = if passes { Passes::all() } else { Passes::none() };
        let listing = recorded(&actions, passes, &[]).expect("it is right");
        let content = listing.to_json();
        let read = read(&content).expect("it is whole");
        prop_assert_eq!(&read, &listing);
        prop_assert_eq!(read.to_json(), content);
        look_at(&read);
        recorded(&actions, passes, &[read]).expect("it records the same again");
    }

    /// A prefix, and a file with another byte somewhere, are refused.
    #[test]
    fn what_was_not_written_is_not_read(actions in actions(), place: prop::sample::Index, byte in 1..=255_u8) {
        let content = recorded(&actions, Passes::all(), &[]).expect("it is right").to_json().into_bytes();
        let place = place.index(content.len());
        prop_assert!(read(&content[..place]).is_err());
        let mut changed = content.clone();
        changed[place] ^= byte;
        prop_assert!(read(&changed).is_err());
    }

    /// A file that somebody made, whose hash is right, is refused, or can be looked at.
    #[test]
    fn what_others_write_is_refused_or_sound(
        actions in actions(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4),
        numbers in prop::collection::vec(prop_oneof![0..12_usize, Just(usize::MAX), Just(usize::MAX / 4)], 4),
    ) {
        let listing = recorded(&actions, Passes::none(), &[]).expect("it is right");
        let mut text = rest(&listing.to_json()).to_owned();
        for (number, (place, digits)) in numbers.iter().zip(&changes) {
            // Another number in the place of one, or another letter.
            let places: Vec<_> = text.match_indices(|letter: char| letter.is_ascii_digit()).map(|(at, _)| at).collect();
            let Some(&at) = places.get(place.index(places.len().max(1))) else { continue };
            match digits.index(3) {
                0 => text.replace_range(at..=at, &number.to_string()),
                1 => text.replace_range(at..=at, "null"),
                _ => text.truncate(at),
            }
        }
        if let Ok(other) = read(sealed(&text)) {
            look_at(&other);
            let _ = (listing.difference(&other), other.difference(&listing));
        }
    }
}
