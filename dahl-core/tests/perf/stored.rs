//! The content of a folder, for a reader that neither locks nor changes it.

use std::fs::{self, OpenOptions};
use std::path::Path;

use dahl_core::Result;
use dahl_core::perf::{Curve, StoredModels};

use crate::perf::program::{DOUBLE, FILE, file, files, run, simulated};

fn store(folder: &Path, sizes: &[usize]) -> Result<()> {
    let rt = simulated().performance_dir(folder).build()?;
    sizes.iter().try_for_each(|&size| run(&rt, &DOUBLE, size, 3, Some(0)))
}

#[test]
fn what_a_run_stored_is_read_while_another_holds_the_lock() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    store(folder.path(), &[100, 200])?;
    let before = files(folder.path());
    let machine = &StoredModels::read(folder.path())?.machines[0];
    let lock = OpenOptions::new().append(true).open(folder.path().join(&machine.host).join("lock"));
    let lock = lock.expect("a run has made it");
    lock.lock().expect("nobody else holds it");
    let stored = StoredModels::read(folder.path())?;
    let [machine] = &stored.machines[..] else { panic!("{stored:?}") };
    assert!(machine.name.starts_with("simulated-") && machine.simulated.is_some(), "{machine:?}");
    assert_eq!(machine.processor, None);
    let said: Vec<_> = machine.histories.iter().map(|history| (&history.footprint, history.count)).collect();
    assert_eq!(said, [(&vec![vec![100]], 3), (&vec![vec![200]], 3)]);
    assert_eq!(machine.histories[0].first_calls, 0, "time is virtual");
    assert_eq!((stored.codelets(), stored.unusable.len()), (vec!["programs::double".to_owned()], 0));
    assert_eq!(files(folder.path()), before, "nothing is written");
    Ok(())
}

#[test]
fn what_cannot_be_used_is_told_and_left_where_it_is() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    store(folder.path(), &[100])?;
    let path = file(folder.path(), FILE);
    let text = fs::read_to_string(&path).expect("it can be read").replace("bytes = 400.0", "bytes = many");
    fs::write(&path, text).expect("it can be written");
    let stored = StoredModels::read(folder.path())?;
    assert_eq!(stored.machines[0].histories, []);
    let [unusable] = &stored.unusable[..] else { panic!("{stored:?}") };
    assert_eq!(unusable.path, path);
    assert!(unusable.fact.contains("line 11, column 9"), "{}", unusable.fact);
    assert!(path.exists());
    Ok(())
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let error = StoredModels::read("not/there").unwrap_err().to_string();
    assert!(error.contains("not/there") && error.contains("a folder that can be read"), "{error}");
}

#[test]
fn a_curve_goes_through_what_is_stored() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    store(folder.path(), &[1000, 2000, 4000, 8000])?;
    let stored = StoredModels::read(folder.path())?;
    let histories = &stored.machines[0].histories;
    let curve = Curve::through(histories).expect("four sizes");
    assert_eq!(curve.sizes(), (histories[0].size(), histories[3].size()));
    for history in histories {
        let us = curve.us(history.size()).expect("it was measured there");
        assert!((us / history.median_us - 1.0).abs() < 0.01, "{us} us for {history:?}");
    }
    let (a, b, c) = curve.coefficients();
    let size = histories[1].size();
    let us = curve.us(size).expect("it was measured there");
    assert!((a * size.powf(b) + c - us).abs() < 1e-6 * us);
    assert_eq!(curve.us(11.0 * curve.sizes().1), None);
    assert_eq!(Curve::through(&histories[..3]), None);
    Ok(())
}
