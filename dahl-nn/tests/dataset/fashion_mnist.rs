//! Fashion-MNIST: the embedded set, the installed one, and invalid files.

use std::fs;
use std::io::Write;
use std::path::Path;

use dahl_nn::dataset::{Dataset, FashionMnist, Synthetic};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::assert_parts;

const FILES: [&str; 4] = [
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
];

fn images(count: u32) -> Vec<u8> {
    let mut bytes = [0x803, count, 28, 28].map(u32::to_be_bytes).concat();
    bytes.extend((0..count * 784).map(|i| i as u8));
    bytes
}

fn labels(count: u32) -> Vec<u8> {
    let mut bytes = [0x801, count].map(u32::to_be_bytes).concat();
    bytes.extend((0..count).map(|i| (i % 10) as u8));
    bytes
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A folder with 7 training and 3 test images, plain.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in FILES.iter().zip([images(7), labels(7), images(3), labels(3)]) {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

#[test]
fn the_embedded_set_is_balanced_and_real() {
    let data = FashionMnist::embedded().unwrap();
    for (set, per_class) in [(&data.train, 600), (&data.test, 100)] {
        assert_eq!((set.len(), set.sample_shape(), set.classes()), (per_class * 10, &[1, 28, 28][..], 10));
        for class in 0..10 {
            assert_eq!((0..set.len()).filter(|&i| set.label(i) == class).count(), per_class);
        }
    }
    if FashionMnist::is_installed() {
        let full = FashionMnist::installed().unwrap();
        assert_eq!((full.train.len(), full.test.len()), (60_000, 10_000));
        // Each embedded image is the next one of its class in the full set.
        let mut next = 0;
        for i in 0..data.test.len() {
            let same = |&k: &usize| {
                full.test.pixels(k) == data.test.pixels(i) && full.test.label(k) == data.test.label(i)
            };
            next = (next..full.test.len()).find(same).expect("an image of the full set, in its order") + 1;
        }
    }
}

#[test]
fn features_are_pixels_from_zero_to_one() {
    let data = FashionMnist::open(folder().path()).unwrap();
    let mut features = [0.0_f64; 784];
    data.train.copy_sample(2, &mut features);
    for (feature, &pixel) in features.iter().zip(data.train.pixels(2)) {
        assert_eq!(*feature, f64::from(pixel) / 255.0);
    }
    assert_eq!(data.train.label(2), 2);
}

#[test]
fn files_may_be_plain_or_packed_and_limited() {
    let folder = folder();
    let plain = FashionMnist::open(folder.path()).unwrap();
    for name in FILES {
        let path = folder.path().join(name);
        let bytes = fs::read(&path).unwrap();
        fs::write(folder.path().join(format!("{name}.gz")), packed(&bytes)).unwrap();
        fs::remove_file(path).unwrap();
    }
    assert_eq!(FashionMnist::open(folder.path()).unwrap(), plain);
    // Several members, and the zeros of a block behind the last, as gzip accepts them.
    let name = folder.path().join(format!("{}.gz", FILES[1]));
    let bytes = labels(7);
    fs::write(name, [packed(&bytes[..9]), packed(&bytes[9..]), vec![0; 512]].concat()).unwrap();
    assert_eq!(FashionMnist::open(folder.path()).unwrap(), plain);
    let limited = FashionMnist::open_limited(folder.path(), 4, 100).unwrap();
    assert_eq!((limited.train.len(), limited.test.len()), (4, 3));
    assert_eq!(limited.train, plain.train.limited(4));
}

/// The error when file `name` has these bytes.
fn error_with(name: &str, bytes: &[u8]) -> String {
    let folder = folder();
    let path = folder.path().join(name);
    let _ = fs::remove_file(folder.path().join(name.trim_end_matches(".gz")));
    fs::write(path, bytes).unwrap();
    FashionMnist::open(folder.path()).unwrap_err().to_string()
}

#[test]
fn wrong_files_are_named_with_the_place_and_what_was_expected() {
    let text = error_with(FILES[0], &images(7)[..1000]);
    assert_parts(&text, &[FILES[0], "byte 1000", "5488 bytes", "[7, 28, 28]", "984 bytes"]);
    let text = error_with(FILES[0], &images(7)[..9]);
    assert_parts(&text, &[FILES[0], "byte 9", "header of 16 bytes"]);
    let text = error_with(FILES[3], &images(3));
    assert_parts(&text, &[FILES[3], "byte 0", "magic", "[00, 00, 08, 01]", "[00, 00, 08, 03]"]);
    let mut bad = labels(7);
    bad[8 + 5] = 10;
    assert_parts(&error_with(FILES[1], &bad), &[FILES[1], "byte 13", "below 10", "found 10"]);
    assert_parts(&error_with(FILES[1], &labels(6)), &["7 images", "6 labels", FILES[0], FILES[1]]);
    let mut corrupt = packed(&images(7));
    let middle = corrupt.len() / 2;
    corrupt[middle] ^= 0xff;
    let text = error_with("train-images-idx3-ubyte.gz", &corrupt);
    assert_parts(&text, &["train-images-idx3-ubyte.gz", "expected gzip data"]);
    let whole = packed(&images(7));
    let text = error_with("train-images-idx3-ubyte.gz", &whole[..whole.len() / 2]);
    assert_parts(&text, &["train-images-idx3-ubyte.gz", "expected gzip data"]);
    let mut narrow = images(7);
    narrow[11] = 14;
    narrow[15] = 56;
    assert_parts(&error_with(FILES[0], &narrow), &[FILES[0], "byte 8", "28 by 28", "14 by 56"]);
    assert_parts(
        &error_with("train-images-idx3-ubyte.gz", b"plain"),
        &["train-images-idx3-ubyte.gz", "gzip"],
    );
    let mut huge = [0x803, u32::MAX, u32::MAX, u32::MAX].map(u32::to_be_bytes).concat();
    huge.push(0);
    assert_parts(&error_with(FILES[0], &huge), &[FILES[0], "more bytes"]);
}

#[test]
fn missing_folders_and_files_are_named() {
    let text = FashionMnist::open("/no/such/folder").unwrap_err().to_string();
    assert_parts(&text, &["/no/such/folder", FILES[0], "dataset-fashion-mnist"]);
    let folder = folder();
    fs::remove_file(folder.path().join(FILES[3])).unwrap();
    assert_parts(&FashionMnist::open(folder.path()).unwrap_err().to_string(), &[FILES[3]]);
    // A folder in place of a file.
    fs::create_dir(folder.path().join(FILES[3])).unwrap();
    assert!(FashionMnist::open(folder.path()).is_err());
    assert!(FashionMnist::open(Path::new("")).is_err());
    // What cannot be searched is not said to be empty.
    let file = folder.path().join(FILES[2]);
    assert_parts(&FashionMnist::open(&file).unwrap_err().to_string(), &[FILES[2], "Not a directory"]);
}

#[test]
fn synthetic_sets_are_the_same_for_the_same_seed() {
    let (one, two, other) = (
        Synthetic::new(&[3, 2], 3, 9, 1),
        Synthetic::new(&[3, 2], 3, 9, 1),
        Synthetic::new(&[3, 2], 3, 9, 2),
    );
    let sample = |set: &Synthetic| {
        let mut features = [0.0_f32; 6];
        set.copy_sample(4, &mut features);
        features
    };
    assert_eq!(sample(&one), sample(&two));
    assert_ne!(sample(&one), sample(&other));
    assert_ne!(sample(&one), sample(&one.clone().starting_at(9)));
    assert!(sample(&one).iter().all(|feature| (0.0..=1.0).contains(feature)));
    assert_eq!((0..9).map(|i| one.label(i)).max(), Some(2));
}

#[test]
fn no_bytes_make_it_panic() {
    for seed in 0..64 {
        let mut random = fastrand::Rng::with_seed(seed);
        let file = random.usize(0..4);
        let is_packed = random.bool();
        let mut bytes = [images(2), labels(2), images(2), labels(2)][file].clone();
        if is_packed {
            bytes = packed(&bytes);
        }
        for _ in 0..random.usize(1..4) {
            let place = random.usize(0..bytes.len());
            bytes[place] = random.u8(..);
        }
        bytes.truncate(random.usize(1..=bytes.len()));
        let folder = folder();
        let _ = fs::remove_file(folder.path().join(FILES[file]));
        let name = if is_packed { format!("{}.gz", FILES[file]) } else { FILES[file].to_owned() };
        fs::write(folder.path().join(name), bytes).unwrap();
        // Either the bytes are valid, or there is an error, but no panic.
        let opened = std::panic::catch_unwind(|| FashionMnist::open(folder.path()).is_ok());
        assert!(opened.is_ok(), "it panics with the bytes of seed {seed}");
    }
}
