//! [`Images`]: the images of a batch, or a group of channels of each.

/// Some channels of each image of a batch, which lie side by side.
#[derive(Clone, Copy)]
pub(crate) struct Images<'a, T> {
    /// From the first channel of the first image on.
    elements: &'a [T],
    /// Elements of the channels of an image.
    len: usize,
    /// The distance of two images.
    distance: usize,
}

impl<'a, T> Images<'a, T> {
    /// All channels: `len` elements of each image.
    pub(crate) fn whole(elements: &'a [T], len: usize) -> Self {
        Self { elements, len, distance: len }
    }

    /// From `elements` on, `len` elements of each image; images have a distance of `distance`.
    pub(crate) fn of_groups(elements: &'a [T], len: usize, distance: usize) -> Self {
        assert!(len <= distance, "a group of {len} elements in an image of {distance}");
        Self { elements, len, distance }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        if self.elements.len() < self.len { 0 } else { (self.elements.len() - self.len) / self.distance + 1 }
    }

    /// Image `number`, if there is one.
    pub(super) fn get(&self, number: usize) -> Option<&'a [T]> {
        self.elements.get(number * self.distance..)?.get(..self.len)
    }

    /// All elements from the first of image `number` on.
    pub(super) fn from(&self, number: usize) -> &'a [T] {
        &self.elements[number * self.distance..]
    }

    /// One after the other.
    pub(super) fn each(self) -> impl Iterator<Item = &'a [T]> {
        (0..self.count()).map_while(move |number| self.get(number))
    }
}
