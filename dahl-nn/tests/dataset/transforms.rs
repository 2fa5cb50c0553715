//! Transforms of samples.

use std::collections::BTreeSet;
use std::sync::Arc;

use dahl_nn::dataset::transform::*;
use dahl_nn::prelude::*;

use super::{assert_parts, sample};

/// One image of so many channels, rows and columns, whose features are 1, 2, 3, ..
fn image(shape: [usize; 3]) -> ArrayDataset {
    let len = shape.iter().product::<usize>();
    ArrayDataset::new(shape, (1..=len).map(|feature| feature as f64).collect::<Vec<_>>(), [0]).unwrap()
}

/// The sample in these epochs.
fn in_epochs(data: &impl Dataset, epochs: u64) -> Vec<Vec<f32>> {
    let read = |epoch| {
        let mut features = vec![0.0; data.sample_shape().iter().product()];
        data.read_sample(0, epoch, &mut features).unwrap();
        features
    };
    (0..epochs).map(read).collect()
}

#[test]
fn a_crop_is_every_part_of_the_padded_image() {
    let (rows, cols, padding) = (3, 2, 1);
    let data = image([2, rows, cols]).transformed(RandomCrop::new([2, 3]).padding(padding), 1).unwrap();
    assert_eq!(data.sample_shape(), [2, 2, 3]);
    // By coordinates of the padded image.
    let feature = |channel: usize, row: usize, col: usize| {
        let inside = (padding..padding + rows).contains(&row) && (padding..padding + cols).contains(&col);
        if inside { (channel * rows + row - padding) * cols + col - padding + 1 } else { 0 }
    };
    let mut parts = BTreeSet::new();
    for (top, left) in (0..=rows + 2 * padding - 2).flat_map(|top| [(top, 0), (top, 1)]) {
        let mut part = Vec::new();
        for (channel, row) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            part.extend((0..3).map(|col| feature(channel, top + row, left + col)));
        }
        parts.insert(part);
    }
    let found: BTreeSet<Vec<usize>> =
        in_epochs(&data, 300).iter().map(|part| part.iter().map(|&x| x as usize).collect()).collect();
    assert_eq!((found.len(), found), (8, parts));
}

#[test]
fn a_flip_mirrors_about_half_of_the_images() {
    let data = image([1, 2, 3]).transformed(RandomHorizontalFlip::new(), 1).unwrap();
    let (plain, mirrored) = (vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], vec![3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
    let all = in_epochs(&data, 400);
    let flipped = all.iter().filter(|&features| *features == mirrored).count();
    assert!(all.iter().all(|features| [&plain, &mirrored].contains(&features)));
    assert!(flipped.abs_diff(200) < 60, "{flipped}"); // six standard deviations
    for (probability, features) in [(0.0, plain), (1.0, mirrored)] {
        let flip = RandomHorizontalFlip::new().probability(probability);
        let data = image([1, 2, 3]).transformed(flip, 1).unwrap();
        assert!(in_epochs(&data, 20).iter().all(|found| *found == features));
    }
}

#[test]
fn features_are_normalised_by_channel() {
    let data = image([2, 1, 2]).transformed(Normalise::new([1.0, 5.0], [2.0, 0.5]), 1).unwrap();
    assert_eq!(sample(&data, 0), [0.0, 0.5, -4.0, -2.0]);
    let data = image([2, 1, 2]).transformed(Normalise::new([2.0], [4.0]), 1).unwrap();
    assert_eq!(sample(&data, 0), [-0.25, 0.0, 0.25, 0.5]);
}

#[test]
fn one_hot_vectors_have_a_one_at_the_class() {
    let classes = ArrayDataset::new([2], [2.0, 0.0, 1.0, 3.0, 0.5, 0.0], [0, 0, 0]).unwrap();
    let data = classes.transformed(OneHot::new(3), 1).unwrap();
    assert_eq!(data.sample_shape(), [2, 3]);
    assert_eq!(sample(&data, 0), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
    for (index, found) in [(1, "found 3"), (2, "found 0.5")] {
        let error = data.read_sample(index, 0, &mut [0.0_f32; 6]).unwrap_err().to_string();
        assert_parts(&error, &["OneHot", "a class below 3", found]);
    }
    for class in [-1.0, f64::NAN, f64::INFINITY] {
        let data = ArrayDataset::new([1], [class], [0]).unwrap().transformed(OneHot::new(3), 1).unwrap();
        assert!(data.read_sample(0, 0, &mut [0.0_f32; 3]).is_err(), "{class}");
    }
}

#[test]
fn an_erased_part_is_a_rectangle_of_the_sizes_in_the_paper() {
    let (rows, cols) = (20, 30);
    let data = image([2, rows, cols]).transformed(RandomErasing::new().probability(1.0), 1).unwrap();
    let mut sizes = BTreeSet::new();
    for features in in_epochs(&data, 200) {
        let zeros: Vec<usize> = (0..rows * cols).filter(|&pixel| features[pixel] == 0.0).collect();
        let of_second = (0..rows * cols).filter(|&pixel| features[rows * cols + pixel] == 0.0);
        assert_eq!(zeros, of_second.collect::<Vec<_>>(), "every channel has the same part");
        let (top, bottom) = (zeros[0] / cols, zeros[zeros.len() - 1] / cols);
        let (left, right) = (zeros[0] % cols, zeros[zeros.len() - 1] % cols);
        assert_eq!(zeros.len(), (bottom - top + 1) * (right - left + 1));
        let (height, width) = ((bottom - top + 1) as f64, (right - left + 1) as f64);
        // Sides are rounded to pixels.
        let area = |side: f64| (height + side) * (width + side) / (rows * cols) as f64;
        assert!(area(0.5) >= 0.02 && area(-0.5) <= 0.33, "{height} by {width}");
        assert!((height + 0.5) / (width - 0.5) >= 0.3 && (height - 0.5) / (width + 0.5) <= 1.0 / 0.3);
        sizes.insert((bottom - top, right - left));
    }
    assert!(sizes.len() > 20);
    let data = image([2, rows, cols]).transformed(RandomErasing::new().probability(0.0), 1).unwrap();
    assert!(in_epochs(&data, 20).iter().flatten().all(|&feature| feature != 0.0));
}

#[test]
fn random_numbers_depend_on_seed_epoch_and_sample() {
    let data = Arc::new(Synthetic::new(&[1, 9, 9], 2, 4, 1));
    let crop =
        |seed| data.clone().transformed((RandomCrop::new([4, 4]), RandomErasing::new()), seed).unwrap();
    let read = |seed, index, epoch| {
        let mut features = [0.0_f64; 16];
        crop(seed).read_sample(index, epoch, &mut features).unwrap();
        features.map(f64::to_bits)
    };
    assert_eq!(read(1, 2, 3), read(1, 2, 3));
    let different: BTreeSet<_> = (0..20).map(|epoch| read(1, 2, epoch)).collect();
    assert!(different.len() > 10);
    let different: BTreeSet<_> = (0..20).map(|seed| read(seed, 2, 0)).collect();
    assert!(different.len() > 10);
    // In a tuple, parts follow each other.
    let chain = (Normalise::new([1.0], [1.0]), Normalise::new([0.0], [2.0]), OneHot::new(2));
    let two = ArrayDataset::new([2], [3.0, 1.0], [0]).unwrap().transformed(chain, 1).unwrap();
    assert_eq!((two.sample_shape(), sample(&two, 0)), (&[2, 2][..], vec![0.0, 1.0, 1.0, 0.0]));
}

#[test]
fn a_transform_that_does_not_fit_is_an_error() {
    let error = |result: dahl::Result<Vec<usize>>| result.unwrap_err().to_string();
    assert_parts(
        &error(RandomCrop::new([3, 3]).shape(&[9])),
        &["RandomCrop", "[channels, rows, cols]", "[9]"],
    );
    assert_parts(&error(RandomCrop::new([9, 3]).padding(2).shape(&[1, 4, 4])), &["9 by 3", "padding of 2"]);
    assert!(RandomCrop::new([8, 3]).padding(2).shape(&[1, 4, 4]).is_ok());
    assert!(RandomCrop::new([0, 3]).shape(&[1, 4, 4]).is_err());
    assert!(RandomCrop::new([1, 1]).padding(usize::MAX).shape(&[1, 4, 4]).is_err());
    assert_parts(&error(RandomHorizontalFlip::new().shape(&[4, 4])), &["RandomHorizontalFlip", "[4, 4]"]);
    let wrong = RandomHorizontalFlip::new().probability(1.5);
    assert_parts(&error(wrong.shape(&[1, 4, 4])), &["probability = 1.5", "transforms.rs"]);
    let wrong = RandomErasing::new().probability(f64::NAN);
    assert_parts(&error(wrong.shape(&[1, 4, 4])), &["probability = NaN", "transforms.rs"]);
    assert_parts(&error(Normalise::new([0.0; 3], [1.0; 3]).shape(&[1, 4, 4])), &["3 channels", "[1, 4, 4]"]);
    assert_parts(&error(Normalise::new([0.0], [0.0]).shape(&[4])), &["deviations = [0.0]", "transforms.rs"]);
    assert!(Normalise::new([0.0, 1.0], [1.0]).shape(&[2]).is_err());
    assert!(Normalise::new([f64::NAN], [1.0]).shape(&[2]).is_err());
    assert_parts(&error(OneHot::new(0).shape(&[4])), &["classes = 0", "transforms.rs"]);
}
