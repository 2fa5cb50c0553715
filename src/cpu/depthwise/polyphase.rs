//! [`Polyphase`]: a copy of a channel in which each tap of a kernel is a shift, for any stride and dilation.
//!
//! Along an axis, tap `t` at position `p` is on element `p * stride + t * dilation` of the channel with its padding.
//! Elements whose numbers have the same remainder by the stride make a *phase* (Vaidyanathan 1993, *Multirate Systems and
//! Filter Banks*, section 4.3). A tap reads one phase, from its element `t * dilation / stride` on, one element for each
//! position. A phase of each axis together make a *component*. Its lines lie one behind the other. So the element of tap
//! `t` at position `p` is number `offset(t) + p`, where positions are numbered as the elements of a component: between two
//! lines of the output are positions that are not used.

use std::ops::Range;

use pulp::Simd;

use crate::cpu::lanes::{Lanes, copy};
use crate::cpu::volume::{Slide, Volume};

/// The phases of one axis.
#[derive(Clone, Copy, Debug)]
struct Axis {
    slide: Slide,
    /// Positions of the kernel.
    positions: usize,
    /// After so many taps, the phases of taps repeat.
    period: usize,
    /// The number of phases that taps read.
    phases: usize,
    /// Elements of a phase that taps read.
    len: usize,
}

impl Axis {
    fn of(slide: Slide) -> Self {
        let (positions, period) =
            (slide.positions(), slide.stride / greatest_common_divisor(slide.stride, slide.dilation));
        let len = positions + (slide.kernel - 1) * slide.dilation / slide.stride;
        Self { slide, positions, period, phases: period.min(slide.kernel), len }
    }

    /// The number of a phase's first element, in the channel with its padding. The first taps have the phases in order.
    fn first(&self, phase: usize) -> usize {
        phase * self.slide.dilation % self.slide.stride
    }

    /// The phase that a tap reads, and from which element on.
    fn tap(&self, tap: usize) -> [usize; 2] {
        [tap % self.period, tap * self.slide.dilation / self.slide.stride]
    }

    /// The index of element `index` of a phase in the channel, unless it is padding.
    fn source(&self, phase: usize, index: usize) -> Option<usize> {
        let source = (index * self.slide.stride + self.first(phase)).checked_sub(self.slide.padding)?;
        (source < self.slide.extent).then_some(source)
    }

    /// The elements of a phase that are not padding.
    fn inside(&self, phase: usize) -> Range<usize> {
        self.slide.inside_from(self.first(phase), 0..self.len)
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The component that a tap reads, and from which element on.
pub(super) type Shift = [usize; 2];

/// A line of a component: the index of its first element that is not padding in the channel, and where those elements
/// begin and end in the line. It is empty if all is padding.
pub(super) type Line = [usize; 3];

/// The phases of a channel along its three axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polyphase([Axis; 3]);

impl Polyphase {
    /// Those of a volume that has positions.
    pub(super) fn of(volume: &Volume) -> Self {
        Self(volume.0.map(Axis::of))
    }

    /// Elements of a line of a component.
    pub(super) fn line_len(&self) -> usize {
        self.0[2].len
    }

    /// Lines of a component.
    pub(super) fn lines(&self) -> usize {
        self.0[0].len * self.0[1].len
    }

    /// Positions of a line.
    pub(super) fn columns(&self) -> usize {
        self.0[2].positions
    }

    /// Elements of a component.
    pub(super) fn component_len(&self) -> usize {
        self.lines() * self.line_len()
    }

    /// The number of components.
    pub(super) fn components(&self) -> usize {
        self.0.iter().map(|axis| axis.phases).product()
    }

    /// Elements of all components.
    pub(super) fn len(&self) -> usize {
        self.components() * self.component_len()
    }

    /// Positions of the kernel without those between lines.
    pub(super) fn positions(&self) -> usize {
        self.0.iter().map(|axis| axis.positions).product()
    }

    /// The number of taps.
    pub(super) fn taps(&self) -> usize {
        self.0.iter().map(|axis| axis.slide.kernel).product()
    }

    /// The elements that the taps read, in the order of a filter.
    pub(super) fn shifts(&self) -> impl Iterator<Item = Shift> {
        let axes = self.0;
        let [depth, rows, columns] = axes.map(|axis| axis.slide.kernel);
        (0..depth * rows * columns).map(move |tap| {
            let taps = [tap / (rows * columns), tap / columns % rows, tap % columns];
            axes.iter().zip(taps).fold([0, 0], |[component, shift], (axis, tap)| {
                let [phase, first] = axis.tap(tap);
                [component * axis.phases + phase, shift * axis.len + first]
            })
        })
    }

    /// The largest shift.
    pub(super) fn reach(&self) -> usize {
        self.0.iter().fold(0, |reach, axis| reach * axis.len + axis.tap(axis.slide.kernel - 1)[1])
    }

    /// Elements from the first position to the last one.
    pub(super) fn span(&self) -> usize {
        self.component_len() - self.reach()
    }

    /// Whether some elements of the channel may be in no component.
    pub(super) fn leaves_gaps(&self) -> bool {
        self.0.iter().any(|axis| axis.slide.stride > 1)
    }

    /// The phases along the axes that make a component.
    fn phases(&self, component: usize) -> [usize; 3] {
        let [_, rows, columns] = self.0.map(|axis| axis.phases);
        [component / (rows * columns), component / columns % rows, component % columns]
    }

    /// The lines of all components, one after the other. This takes divisions.
    pub(super) fn each_line(&self) -> impl Iterator<Item = Line> {
        let (layout, lines) = (*self, self.lines());
        (0..self.components() * lines)
            .map(move |number| layout.line(number / lines, number % lines).unwrap_or_default())
    }

    fn line(&self, component: usize, line: usize) -> Option<Line> {
        let ([depth, rows, columns], [z, y, x]) = (&self.0, self.phases(component));
        let line = depth.source(z, line / rows.len)? * rows.slide.extent + rows.source(y, line % rows.len)?;
        let inside = columns.inside(x);
        let first = columns.source(x, inside.start).filter(|_| !inside.is_empty())?;
        Some([line * columns.slide.extent + first, inside.start, inside.end])
    }

    /// Copies a channel to the lines of its components. Their padding stays as it is.
    #[inline(always)]
    pub(super) fn split<C: Lanes, S: Simd>(
        &self,
        simd: S,
        lines: &[Line],
        channel: &[C],
        components: &mut [C],
    ) {
        let stride = self.0[2].slide.stride;
        for (&[first, start, end], line) in lines.iter().zip(components.chunks_exact_mut(self.line_len())) {
            let line = &mut line[start..end];
            if stride == 1 {
                copy(simd, &channel[first..][..line.len()], line);
            } else {
                let elements = channel[first..].iter().step_by(stride);
                line.iter_mut().zip(elements).for_each(|(to, from)| *to = *from);
            }
        }
    }

    /// Copies lines of a component to the channel, without their padding.
    #[inline(always)]
    pub(super) fn join<C: Lanes, S: Simd>(&self, simd: S, lines: &[Line], elements: &[C], channel: &mut [C]) {
        let stride = self.0[2].slide.stride;
        for (&[first, start, end], line) in lines.iter().zip(elements.chunks_exact(self.line_len())) {
            let line = &line[start..end];
            if stride == 1 {
                copy(simd, line, &mut channel[first..][..line.len()]);
            } else {
                let elements = channel[first..].iter_mut().step_by(stride);
                elements.zip(line).for_each(|(to, from)| *to = *from);
            }
        }
    }

    /// The lines of positions, at most `most` at a time: the number of the first position of the first one among the
    /// elements of a component, the same in the output, and how many they are.
    pub(super) fn lines_of_positions(&self, most: usize) -> impl Iterator<Item = [usize; 3]> {
        let [depth, rows, columns] = self.0;
        (0..depth.positions).flat_map(move |z| {
            (0..rows.positions).step_by(most).map(move |y| {
                let count = most.min(rows.positions - y);
                [(z * rows.len + y) * columns.len, (z * rows.positions + y) * columns.positions, count]
            })
        })
    }

    /// Copies an output to its positions. Those between lines stay as they are.
    #[inline(always)]
    pub(super) fn spread<C: Lanes, S: Simd>(&self, simd: S, output: &[C], positions: &mut [C]) {
        let columns = self.columns();
        for [first, of_output, count] in self.lines_of_positions(self.0[1].positions) {
            let from = output[of_output..][..count * columns].chunks_exact(columns);
            for (from, to) in from.zip(positions[first..].chunks_mut(self.line_len())) {
                copy(simd, from, &mut to[..columns]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each tap reads the elements that [`Volume`] says, at each position.
    #[test]
    fn a_tap_is_a_shift() {
        let axes = [
            (5, 2, 2, 1, 3),
            (9, 3, 1, 2, 1),
            (11, 3, 2, 1, 3),
            (12, 4, 3, 0, 2),
            (13, 2, 5, 4, 4),
            (4, 1, 7, 2, 1),
        ];
        let slide =
            |(extent, kernel, stride, padding, dilation)| Slide { extent, kernel, stride, padding, dilation };
        for three in axes.windows(3) {
            let volume = Volume::new(three.iter().copied().map(slide));
            let layout = Polyphase::of(&volume);
            let channel: Vec<f64> = (1..=volume.len()).map(|number| number as f64).collect();
            let mut components = vec![0.0; layout.len()];
            let lines: Vec<_> = layout.each_line().collect();
            layout.split(pulp::Scalar, &lines, &channel, &mut components);
            let [_, rows, columns] = volume.0.map(|axis| axis.positions());
            for ([component, shift], tap) in layout.shifts().zip(volume.each_tap()) {
                assert!(shift <= layout.reach());
                for position in 0..volume.positions() {
                    let place = [position / (rows * columns), position / columns % rows, position % columns];
                    let line = volume.line([place[0], place[1]], tap);
                    let column = volume.0[2].source(place[2], tap[2]);
                    let expected = line.zip(column).map_or(0.0, |(line, column)| channel[line][column]);
                    let at = (place[0] * layout.0[1].len + place[1]) * layout.line_len() + place[2];
                    assert_eq!(components[component * layout.component_len() + shift + at], expected);
                }
            }
            let mut joined = vec![0.0; channel.len()];
            layout.join(pulp::Scalar, &lines, &components, &mut joined);
            assert!(joined.iter().zip(&channel).all(|(joined, element)| *joined == 0.0 || joined == element));
        }
    }
}
