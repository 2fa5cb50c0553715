use super::*;

#[test]
fn vectors_that_pay_are_of_filters() {
    let lanes = |out_channels, bytes| {
        let shape = Filters { out_channels, in_channels: 8, taps: 9 };
        FilterVectors::of_bytes::<f64>(shape, bytes).map(|vectors| vectors.lanes)
    };
    // Without vectors there are elements of 4 bytes, in which no f64 fits.
    assert_eq!([4, 16, 32, 64].map(|bytes| lanes(32, bytes)), [None, None, Some(4), Some(8)]);
    // One vector, and one and a small part of another.
    assert_eq!([4, 5, 7].map(|filters| lanes(filters, 32)), [None, None, Some(4)]);
}
