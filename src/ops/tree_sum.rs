//! [`tree_sum`]: the sum of several arrays, in an order that nothing but their number decides.

use dahl::Result;
use dahl::prelude::*;

use super::axpy_self;

/// `arrays[0] = ((arrays[0] + arrays[1]) + (arrays[2] + arrays[3])) + ..`, element by element: neighbours are added first, then
/// neighbouring sums. The other arrays are left with partial sums.
///
/// Each addition is a task. Over several ranks it runs on the owner of the array that takes the sum, to which the other one is
/// sent; the bits are those of one rank. `gather` or `read` of the first array gives the sum to others.
///
/// ```
/// use dahl::ops::tree_sum;
/// use dahl::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let mut arrays = Vec::new();
/// for value in 1..=5 {
///     arrays.push(rt.from_vec([2], vec![value as f32; 2])?);
/// }
/// tree_sum(&mut arrays)?;
/// assert_eq!(arrays[0].to_vec()?, [15.0, 15.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Shapes
/// All the same.
///
/// # Errors
/// If the shapes differ.
#[track_caller]
pub fn tree_sum<T: Real, const N: usize>(arrays: &mut [Array<'_, T, N>]) -> Result<()> {
    let mut distance = 1;
    while distance < arrays.len() {
        for pair in arrays.chunks_mut(2 * distance) {
            if let Some((sum, [other, ..])) = pair.split_at_mut_checked(distance)
                && let Some(sum) = sum.first_mut()
            {
                axpy_self(other, sum, T::ONE)?;
            }
        }
        distance *= 2;
    }
    Ok(())
}
