//! [`Parameters`]: the parameters of a kernel, in the layout of `dahl.cuh`.

use crate::codelet::Operand;
use crate::cuda::{CudaLen, CudaView, KernelParameters, MAX_ITEMS};
use crate::shape::MAX_RANK;

/// A kernel's parameters, each aligned to 8 bytes.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    words: Vec<u64>,
    /// The offset of each.
    starts: Vec<usize>,
}

impl Parameters {
    fn begin(&mut self) {
        self.starts.push(self.words.len());
    }

    /// Adds a view of an array: a pointer to its first element, its rank if the kernel takes any rank, extents,
    /// strides.
    pub(super) fn push_view(&mut self, operand: &Operand, view: &CudaView) {
        self.begin();
        let start = operand.layout.offset * operand.element.size_bytes;
        self.words.push((operand.pointer.addr() + start) as u64);
        let (extents, strides) = (operand.layout.extents(), operand.layout.strides());
        let room = view.rank.unwrap_or(MAX_RANK);
        if view.rank.is_none() {
            self.words.push(extents.len() as u64);
        }
        let end = self.words.len() + room;
        self.words.extend(extents.iter().map(|&extent| extent as u64));
        self.words.resize(end, 1);
        self.words.extend(strides.iter().map(|&stride| stride as u64));
        self.words.resize(end + room, 0);
    }

    /// Adds a plain argument; before an array of any length comes its length, and it has room for the most items.
    pub(super) fn push_argument(&mut self, len: CudaLen, bytes: &[u8]) {
        self.begin();
        let is_of_any_length = len == CudaLen::Any;
        if is_of_any_length {
            self.words.push((bytes.len() / 8) as u64);
        }
        let end = self.words.len() + MAX_ITEMS;
        let words = bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        });
        self.words.extend(words);
        if is_of_any_length {
            self.words.resize(end, 0);
        }
    }

    /// Adds a `Scratch`, or, with the address for failures, a `Task`.
    pub(super) fn push_scratch(&mut self, memory: u64, failure: Option<u64>) {
        self.begin();
        self.words.push(memory);
        self.words.extend(failure);
    }

    /// All parameters, in the form that the driver takes.
    pub(super) fn all(&self) -> KernelParameters<'_> {
        KernelParameters { words: &self.words, starts: &self.starts }
    }
}

#[cfg(test)]
mod tests {
    use super::Parameters;
    use crate::codelet::Operand;
    use crate::cuda::{CudaElement, CudaLen, CudaView};
    use crate::element::ElementType;
    use crate::shape::Layout;

    fn operand(extents: &[usize]) -> Operand {
        let mut layout = Layout::EMPTY;
        layout.set_contiguous(extents);
        let pointer = std::ptr::without_provenance_mut(0x1000);
        Operand { pointer, layout, element: ElementType::of::<f32>(), writes: false, reads: true }
    }

    fn view(rank: Option<usize>) -> CudaView {
        CudaView { is_const: true, element: CudaElement::Parameter(0), rank }
    }

    #[test]
    fn a_view_is_a_pointer_extents_and_strides() {
        let mut parameters = Parameters::default();
        parameters.push_view(&operand(&[2, 3]), &view(Some(2)));
        assert_eq!(parameters.words, [0x1000, 2, 3, 3, 1]);
    }

    #[test]
    fn a_view_of_any_rank_says_its_rank_and_has_room_for_eight_axes() {
        let mut parameters = Parameters::default();
        parameters.push_view(&operand(&[2, 3]), &view(None));
        assert_eq!(parameters.words, [0x1000, 2, 2, 3, 1, 1, 1, 1, 1, 1, 3, 1, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn arguments_begin_at_whole_words() {
        let mut parameters = Parameters::default();
        parameters.push_argument(CudaLen::One, &1.5_f32.to_ne_bytes());
        parameters.push_argument(CudaLen::Items(2), &[7_u64.to_ne_bytes(), 9_u64.to_ne_bytes()].concat());
        parameters.push_scratch(16, Some(32));
        parameters.push_scratch(48, None);
        assert_eq!(parameters.starts, [0, 1, 3, 5]);
        assert_eq!(parameters.words[1..], [7, 9, 16, 32, 48]);
        assert_eq!(parameters.words[0].to_ne_bytes()[..4], 1.5_f32.to_ne_bytes());
        assert_eq!(parameters.all().starts.len(), 4);
    }

    #[test]
    fn an_argument_of_any_length_says_its_length_and_has_room_for_eight_items() {
        let mut parameters = Parameters::default();
        parameters.push_argument(CudaLen::Any, &[7_u64.to_ne_bytes(), 9_u64.to_ne_bytes()].concat());
        assert_eq!(parameters.words, [2, 7, 9, 0, 0, 0, 0, 0, 0]);
    }
}
