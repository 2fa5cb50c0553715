//! Data sets in files: MNIST, CIFAR-10, CSV and NPY, valid and invalid.

use std::fs;
use std::path::{Path, PathBuf};

use dahl_nn::prelude::*;

use super::{assert_parts, sample};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dataset/fixture").join(name)
}

/// Changes, adds and removes random bytes, and opens the result: that must not panic. Returns how many are invalid.
fn mutated(bytes: &[u8], name: &str, open: impl Fn(&Path) -> Result<(), String>) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let mut invalid = 0;
    for seed in 0..200 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut bytes = bytes.to_vec();
        for _ in 0..random.usize(1..4) {
            let place = random.usize(0..bytes.len());
            match random.u8(0..4) {
                0 => bytes.truncate(place.max(1)),
                1 => bytes.insert(place, random.u8(..)),
                // Digits, so that numbers in texts change and stay numbers.
                2 => bytes[place] = random.u8(b'0'..=b'9'),
                _ => bytes[place] = random.u8(..),
            }
        }
        fs::write(&path, bytes).unwrap();
        if let Err(error) = open(&path) {
            assert_parts(&error, &[path.to_str().unwrap()]);
            invalid += 1;
        }
    }
    invalid
}

/// CIFAR-10's files with these images each, the first byte of each one its label.
fn cifar(images: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"]
    {
        fs::write(folder.path().join(format!("{name}.bin")), images).unwrap();
    }
    folder
}

/// Two images of CIFAR-10, with labels 3 and 9.
fn two_images() -> Vec<u8> {
    let image = |label: u8| {
        let mut image = vec![label];
        image.extend((0..3072_u32).map(|place| (place / 16) as u8 + label));
        image
    };
    [image(3), image(9)].concat()
}

#[test]
fn cifar_10_has_its_labels_and_planes_of_colours() {
    let folder = cifar(&two_images());
    let data = Cifar10::open(folder.path()).unwrap();
    assert_eq!((data.train.len(), data.test.len()), (10, 2));
    assert_eq!((data.train.sample_shape(), data.train.classes()), (&[3, 32, 32][..], 10));
    assert_eq!([0, 1, 2].map(|index| data.train.label(index)), [3, 9, 3]);
    assert_eq!(data.test.pixels(1)[1024], 64 + 9, "green follows red");
    assert_eq!(sample(&data.test, 1)[1024], 73.0 / 255.0);
    assert_eq!(Cifar10::CLASSES[9], "truck");
}

#[test]
fn wrong_files_of_cifar_10_are_named_with_the_place() {
    let error = |bytes: &[u8]| Cifar10::open(cifar(bytes).path()).unwrap_err().to_string();
    let bytes = two_images();
    assert_parts(&error(&bytes[..4000]), &["data_batch_1.bin", "byte 3073", "3073 bytes", "after 927 bytes"]);
    let mut wrong = bytes.clone();
    wrong[3073] = 10;
    assert_parts(&error(&wrong), &["data_batch_1.bin", "byte 3073", "a label below 10", "found 10"]);
    let folder = cifar(&bytes);
    fs::remove_file(folder.path().join("test_batch.bin")).unwrap();
    let error = Cifar10::open(folder.path()).unwrap_err().to_string();
    assert_parts(&error, &["test_batch.bin", "cifar-10-binary.tar.gz"]);
    let invalid = mutated(&bytes, "test_batch.bin", |path| {
        fs::copy(path, folder.path().join("test_batch.bin")).unwrap();
        let opened = Cifar10::open(folder.path()).map(|_| ());
        opened.map_err(|error| error.to_string().replace(folder.path().to_str().unwrap(), parent(path)))
    });
    assert!(invalid > 20, "{invalid}");
}

fn parent(path: &Path) -> &str {
    path.parent().and_then(Path::to_str).unwrap()
}

#[test]
fn mnist_is_read_from_its_files() {
    let folder = tempfile::tempdir().unwrap();
    for (name, count) in [("train", 5_u32), ("t10k", 2)] {
        let mut images = [0x803, count, 28, 28].map(u32::to_be_bytes).concat();
        images.extend((0..count * 784).map(|place| place as u8));
        fs::write(folder.path().join(format!("{name}-images-idx3-ubyte")), images).unwrap();
        let mut labels = [0x801, count].map(u32::to_be_bytes).concat();
        labels.extend((0..count).map(|label| label as u8));
        fs::write(folder.path().join(format!("{name}-labels-idx1-ubyte")), labels).unwrap();
    }
    let data = Mnist::open(folder.path()).unwrap();
    assert_eq!((data.train.len(), data.test.len(), data.train.label(4)), (5, 2, 4));
    assert_eq!((data.train.sample_shape(), data.train.pixels(1)[0]), (&[1, 28, 28][..], 16));
    fs::remove_file(folder.path().join("t10k-labels-idx1-ubyte")).unwrap();
    assert_parts(&Mnist::open(folder.path()).unwrap_err().to_string(), &["t10k-labels-idx1-ubyte", "mnist"]);
}

const CSV: &str = "length, width ,species\n5.1,3.5,setosa\n-7,.25,virginica\n6e0,3,setosa\n1,2,\"a, b\"\n";

/// A file with this text, and the text of the error of reading it.
fn csv(text: impl AsRef<[u8]>, label: &str) -> (Result<ArrayDataset, String>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    fs::write(&path, text).unwrap();
    let read = ArrayDataset::from_csv(&path, label).map_err(|error| error.to_string());
    (read, path.display().to_string())
}

#[test]
fn a_csv_file_is_a_sample_a_line() {
    let data = csv(CSV, "species").0.unwrap();
    assert_eq!((data.len(), data.sample_shape(), data.classes()), (4, &[2][..], 3));
    assert_eq!(data.class_names(), ["a, b", "setosa", "virginica"]);
    assert_eq!([0, 1, 2, 3].map(|index| data.label(index)), [1, 2, 1, 0]);
    assert_eq!([0, 1, 2].map(|index| sample(&data, index)), [[5.1, 3.5], [-7.0, 0.25], [6.0, 3.0]]);
    // Classes that are numbers have their order; the column of classes may be any.
    let data = csv("class,x\n10,1\n9,2\n-1,3\n10,4\n", "class").0.unwrap();
    assert_eq!(data.class_names(), ["-1", "9", "10"]);
    assert_eq!([0, 1, 2, 3].map(|index| data.label(index)), [2, 1, 0, 2]);
    let data = csv("class,x\n", "class").0.unwrap();
    assert_eq!((data.len(), data.classes()), (0, 0));
}

#[test]
fn wrong_csv_files_are_named_with_the_place() {
    let error = |text: &str, label| {
        let (read, path) = csv(text, label);
        let error = read.unwrap_err();
        assert_parts(&error, &[&path]);
        error
    };
    assert_parts(&error(CSV, "colour"), &["a column `colour`", "width", "species"]);
    let text = error(&CSV.replace("6e0", "six"), "species");
    assert_parts(&text, &["byte 55", "column `length` of line 4", "`six`"]);
    assert_parts(&error(&CSV.replace("6e0", "inf"), "species"), &["a finite number", "`inf`"]);
    assert_parts(&error(&CSV.replace("6e0,", ""), "species"), &["byte 55", "3 columns", "found 2"]);
    assert_parts(&error("", "species"), &["a column `species`"]);
    let (read, path) = csv(b"x,class\n1,\xff\n", "class");
    assert_parts(&read.unwrap_err(), &[&path, "byte 8", "UTF-8"]);
    let missing = ArrayDataset::from_csv("/no/such/table.csv", "x").unwrap_err().to_string();
    assert_parts(&missing, &["/no/such/table.csv"]);
    let invalid = mutated(CSV.as_bytes(), "table.csv", |path| {
        let read = ArrayDataset::from_csv(path, "species");
        read.map(|_| ()).map_err(|error| error.to_string())
    });
    assert!(invalid > 50, "{invalid}");
}

/// The features of all samples of a fixture.
fn npy(name: &str) -> Vec<f64> {
    let data = ArrayDataset::from_npy(fixture(name), fixture("i8_labels.npy")).unwrap();
    assert_eq!((data.len(), data.sample_shape(), data.classes()), (3, &[2, 2][..], 3), "{name}");
    assert_eq!([0, 1, 2].map(|index| data.label(index)), [2, 0, 1]);
    (0..3).flat_map(|index| sample(&data, index)).collect()
}

#[test]
fn npy_files_of_numpy_are_read() {
    let quarters: Vec<f64> = (0..12).map(|number| f64::from(number) / 4.0).collect();
    for name in ["f4.npy", "f2.npy", "f8_column_major.npy"] {
        assert_eq!(npy(name), quarters, "{name}");
    }
    assert_eq!(npy("i2_big_endian.npy"), (-6..6).map(f64::from).collect::<Vec<_>>());
    for name in ["u1.npy", "version_2.npy"] {
        assert_eq!(npy(name), (0..12).map(f64::from).collect::<Vec<_>>(), "{name}");
    }
    assert_eq!(npy("bool.npy"), [1.0, 0.0, 0.0].repeat(4));
}

#[test]
fn wrong_npy_files_are_named_with_the_place() {
    let error = |features: PathBuf, labels: PathBuf| {
        ArrayDataset::from_npy(features, labels).unwrap_err().to_string()
    };
    let labels = || fixture("i8_labels.npy");
    let folder = tempfile::tempdir().unwrap();
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = fs::read(fixture("f4.npy")).unwrap();
        change(&mut bytes);
        let path = folder.path().join("changed.npy");
        fs::write(&path, bytes).unwrap();
        path
    };
    let path = changed(&|bytes| bytes.truncate(170));
    let text = error(path, labels());
    assert_parts(&text, &["changed.npy", "byte 170", "48 bytes of elements for [3, 2, 2]", "42 bytes"]);
    for len in [0, 5, 8, 11, 100] {
        let text = error(changed(&|bytes| bytes.truncate(len)), labels());
        assert_parts(&text, &["changed.npy", &format!("byte {len}"), "a header"]);
    }
    assert_parts(&error(changed(&|bytes| bytes[0] = 0), labels()), &["byte 0", "magic number"]);
    assert_parts(
        &error(changed(&|bytes| bytes[6] = 9), labels()),
        &["byte 6", "version 1, 2 or 3", "found 9"],
    );
    let replaced = |from: &'static str, to: &'static str| {
        changed(&|bytes| {
            let header = String::from_utf8(bytes[..128].to_vec().split_off(10)).unwrap();
            bytes.splice(10..128, header.replacen(from, to, 1).into_bytes());
        })
    };
    assert_parts(&error(replaced("<f4", "<c8"), labels()), &["byte 10", "'<c8'"]);
    assert_parts(&error(replaced("'shape'", "'shade'"), labels()), &["byte 10", "an entry 'shape'"]);
    assert_parts(&error(replaced("(3, 2", "(3, x"), labels()), &["byte 10", "a shape", "(3, x"]);
    assert_parts(&error(replaced("3, 2, 2), } ", "9, 9, 99), }"), labels()), &["[9, 9, 99]", "48 bytes"]);
    assert_parts(&error(fixture("text.npy"), labels()), &["text.npy", "'<U1'"]);
    assert_parts(&error(labels(), fixture("f4.npy")), &["f4.npy", "one axis", "[3, 2, 2]"]);
    let few = fixture("u1.npy");
    assert_parts(&error(few.clone(), few), &["u1.npy", "one axis"]);
    // A label that is no whole number, and one label too few.
    let list = |numbers: &[f32]| {
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({},), }}\n", numbers.len());
        let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
        let len = (header.len() as u16).to_le_bytes();
        let path = folder.path().join("labels.npy");
        fs::write(
            &path,
            [b"\x93NUMPY\x01\x00", &len[..], header.as_bytes()]
                .concat()
                .into_iter()
                .chain(numbers)
                .collect::<Vec<u8>>(),
        )
        .unwrap();
        path
    };
    let place =
        format!("byte {}", 10 + "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n".len() + 4);
    assert_parts(&error(fixture("f4.npy"), list(&[0.0, 0.5, 1.0])), &["labels.npy", &place, "0.5"]);
    for wrong in [-1.0, f32::NAN, f32::INFINITY, 5e9] {
        assert_parts(&error(fixture("f4.npy"), list(&[0.0, wrong, 1.0])), &[&place, "a whole number"]);
    }
    assert_parts(&error(fixture("f4.npy"), list(&[0.0, 1.0])), &["labels.npy", "3 labels", "found 2"]);
    for name in ["f4.npy", "f8_column_major.npy"] {
        let invalid = mutated(&fs::read(fixture(name)).unwrap(), "mutated.npy", |path| {
            let read = ArrayDataset::from_npy(path, labels());
            read.map(|_| ()).map_err(|error| {
                error.to_string().replace(labels().to_str().unwrap(), path.to_str().unwrap())
            })
        });
        assert!(invalid > 50, "{name}: {invalid}");
    }
}

#[test]
fn features_must_be_those_of_the_labels() {
    let error = ArrayDataset::new([2, 2], [0.0; 9], [0, 1]).unwrap_err().to_string();
    assert_parts(&error, &["9 features", "2 labels", "[2, 2]"]);
    let data = ArrayDataset::new([], [1.0, 2.0], [0, u32::MAX]).unwrap();
    assert_eq!((data.len(), data.classes(), sample(&data, 1)), (2, 1 << 32, vec![2.0]));
}
