//! Folders of PNG and JPEG files.

use std::fs;
use std::path::Path;

use dahl::prelude::*;
use dahl_nn::dataset::ImageFolder;
use dahl_nn::prelude::*;
use image::{GrayImage, Luma, Rgb, RgbImage, Rgba, RgbaImage};

use super::{assert_parts, sample};

/// A picture whose parts are 10 times its column, 20 times its row, and 30.
fn picture(rows: u32, cols: u32) -> RgbImage {
    RgbImage::from_fn(cols, rows, |x, y| Rgb([10 * x as u8, 20 * y as u8, 30]))
}

/// Two classes: `cat` with two images, `ant` with one, and things that are no images.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for class in ["cat", "ant", "dog"] {
        fs::create_dir(folder.path().join(class)).unwrap();
    }
    picture(2, 3).save(folder.path().join("cat/b.png")).unwrap();
    RgbImage::from_pixel(8, 8, Rgb([200, 100, 50])).save(folder.path().join("cat/a.JPG")).unwrap();
    GrayImage::from_pixel(3, 2, Luma([77])).save(folder.path().join("ant/c.png")).unwrap();
    fs::write(folder.path().join("cat/notes.txt"), "no image").unwrap();
    fs::write(folder.path().join("list.png"), "no class").unwrap();
    folder
}

#[test]
fn classes_are_folders_and_samples_are_files() {
    let folder = folder();
    let data = ImageFolder::open(folder.path(), [2, 3]).unwrap();
    assert_eq!(data.class_names(), ["ant", "cat", "dog"]);
    assert_eq!((data.len(), data.classes(), data.sample_shape()), (3, 3, &[3, 2, 3][..]));
    let names = ["ant/c.png", "cat/a.JPG", "cat/b.png"].map(|name| folder.path().join(name));
    assert_eq!([0, 1, 2].map(|index| data.path(index).to_owned()), names);
    assert_eq!([0, 1, 2].map(|index| data.label(index)), [0, 1, 1]);
    // The planes of red, green and blue.
    let pixels = [0, 10, 20, 0, 10, 20, 0, 0, 0, 20, 20, 20, 30, 30, 30, 30, 30, 30];
    assert_eq!(sample(&data, 2), pixels.map(|pixel| f64::from(pixel) / 255.0));
    assert_eq!(sample(&data, 0), [77.0 / 255.0; 18]);
    // JPEG keeps a picture of one colour within its rounding; it is resized.
    for (plane, colour) in sample(&data, 1).chunks(6).zip([200.0, 100.0, 50.0]) {
        assert!(plane.iter().all(|feature| (feature * 255.0 - colour).abs() <= 2.0), "{plane:?}");
    }
    let grey = ImageFolder::open(folder.path(), [4, 5]).unwrap().grey();
    assert_eq!((grey.sample_shape(), sample(&grey, 0)), (&[1, 4, 5][..], vec![77.0 / 255.0; 20]));
}

#[test]
fn alpha_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("one")).unwrap();
    let image = RgbaImage::from_pixel(1, 1, Rgba([1, 2, 3, 4]));
    image.save(folder.path().join("one/a.png")).unwrap();
    let data = ImageFolder::open(folder.path(), [1, 1]).unwrap();
    assert_eq!(sample(&data, 0), [1.0, 2.0, 3.0].map(|part| part / 255.0));
}

/// The error of reading the only sample of a folder whose file has these bytes.
fn read(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), String> {
    fs::write(folder.join("one").join(name), bytes).unwrap();
    let data = ImageFolder::open(folder, [4, 4]).unwrap();
    data.read_sample(0, 0, &mut [0.0_f32; 48]).map_err(|error| error.to_string())
}

#[test]
fn files_that_are_no_images_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = |path: &Path| ImageFolder::open(path, [2, 2]).unwrap_err().to_string();
    assert_parts(&error(Path::new("/no/such/folder")), &["/no/such/folder"]);
    fs::create_dir(folder.path().join("one")).unwrap();
    let text = error(folder.path());
    assert_parts(&text, &[folder.path().to_str().unwrap(), "png, jpg, jpeg", "1 folders without one"]);
    let wrong = ImageFolder::open(folder.path(), [0, 2]).unwrap_err().to_string();
    assert_parts(&wrong, &["size = [0, 2]", "image_folder.rs"]);
    let text = read(folder.path(), "a.png", b"no image at all").unwrap_err();
    assert_parts(&text, &["one/a.png", "an image in PNG or JPEG"]);
    assert_parts(&read(folder.path(), "a.png", b"").unwrap_err(), &["one/a.png", "an image in PNG or JPEG"]);
    picture(9, 9).save(folder.path().join("one/a.png")).unwrap();
    let whole = fs::read(folder.path().join("one/a.png")).unwrap();
    let text = read(folder.path(), "a.png", &whole[..whole.len() / 2]).unwrap_err();
    assert_parts(&text, &["one/a.png", "an image in PNG, found"]);
    // The loader returns the error in place of the batch.
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let loader = DataLoader::new(ImageFolder::open(folder.path(), [4, 4]).unwrap());
    let error = loader.batches::<f32>(&rt, 0).unwrap().next().unwrap().unwrap_err().to_string();
    assert_parts(&error, &["one/a.png", "an image in PNG, found"]);
}

#[test]
fn no_bytes_make_it_panic() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("one")).unwrap();
    for name in ["a.png", "a.jpg"] {
        let path = folder.path().join("one").join(name);
        picture(9, 9).save(&path).unwrap();
        let bytes = fs::read(&path).unwrap();
        let mut invalid = 0;
        for seed in 0..200 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut bytes = bytes.clone();
            for _ in 0..random.usize(1..6) {
                let place = random.usize(0..bytes.len());
                bytes[place] = random.u8(..);
            }
            if random.bool() {
                bytes.truncate(random.usize(0..bytes.len()));
            }
            if let Err(error) = read(folder.path(), name, &bytes) {
                assert_parts(&error, &[name, "expected an image in"]);
                invalid += 1;
            }
        }
        assert!(invalid > 50, "{name}: {invalid}");
        fs::remove_file(path).unwrap();
    }
}
