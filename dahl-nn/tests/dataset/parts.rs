//! Parts of data sets.

use dahl_nn::prelude::*;

use super::{assert_parts, sample};

#[test]
fn parts_have_the_samples_of_their_numbers() {
    let data = Synthetic::new(&[2, 3], 4, 10, 1);
    let part = (&data).subset([7, 2, 7]).unwrap();
    assert_eq!((part.len(), part.sample_shape(), part.classes()), (3, &[2, 3][..], 4));
    assert_eq!((sample(&part, 0), part.label(0)), (sample(&data, 7), 3));
    assert_eq!((sample(&part, 1), part.label(1)), (sample(&data, 2), 2));
    assert_eq!(sample(&part, 2), sample(&part, 0));
    let first = (&data).take(4);
    assert_eq!(first.indices(), [0, 1, 2, 3]);
    assert_eq!((data.clone().take(99).len(), data.clone().take(0).is_empty()), (10, true));
    let nested = first.subset([3]).unwrap();
    assert_eq!(sample(&nested, 0), sample(&data, 3));
    let error = (&data).subset([0, 10]).unwrap_err().to_string();
    assert_parts(&error, &["no sample 10", "has 10 samples"]);
}

#[test]
fn a_split_divides_the_samples_by_its_seed() {
    let data = Synthetic::new(&[1], 2, 100, 1);
    let (train, validation) = data.split(0.9, 7).unwrap();
    assert_eq!((train.len(), validation.len()), (90, 10));
    let mut both = [train.indices(), validation.indices()].concat();
    both.sort_unstable();
    assert_eq!(both, (0..100).collect::<Vec<_>>());
    assert!(train.indices().is_sorted() && validation.indices().is_sorted());
    assert_eq!(data.split(0.9, 7).unwrap().1, validation);
    assert_ne!(data.split(0.9, 8).unwrap().1, validation);
    assert_ne!(validation.indices(), (90..100).collect::<Vec<_>>());
    for (fraction, len) in [(0.0, 0), (1.0, 100), (0.004, 0), (0.996, 100)] {
        assert_eq!(data.split(fraction, 7).unwrap().0.len(), len);
    }
    for fraction in [-0.1, 1.1, f64::NAN] {
        let error = data.split(fraction, 7).unwrap_err().to_string();
        assert_parts(&error, &["split", "a fraction from 0 to 1", "parts.rs"]);
    }
}
