//! Brackets by rank, the choice of elements to show, and line breaks.

/// Replaces elements that are left out.
const GAP: &str = "...";

/// How the elements of an array are arranged in brackets and lines.
pub(super) struct Nesting<'a> {
    pub(super) shape: &'a [usize],
    /// The number of elements that are shown at each end of an axis; all of them if none.
    pub(super) edge: Option<usize>,
    pub(super) line_width: usize,
}

impl Nesting<'_> {
    /// Calls `show` with the index of each element that is shown, in row-major order.
    pub(super) fn for_each_shown(&self, show: &mut dyn FnMut(&[usize])) {
        if !self.shape.contains(&0) {
            self.visit(&mut vec![0; self.shape.len()], 0, show);
        }
    }

    fn visit(&self, index: &mut [usize], axis: usize, show: &mut dyn FnMut(&[usize])) {
        if axis == self.shape.len() {
            return show(index);
        }
        for i in self.shown(axis).into_iter().flatten() {
            index[axis] = i;
            self.visit(index, axis + 1, show);
        }
    }

    /// The indices that are shown along an axis: the first ones, and those after a gap.
    fn shown(&self, axis: usize) -> [std::ops::Range<usize>; 2] {
        let extent = self.shape[axis];
        match self.edge {
            Some(edge) if extent > 2 * edge => [0..edge, extent - edge..extent],
            _ => [0..extent, extent..extent],
        }
    }

    /// The text of the array, from the words of the elements that are shown.
    pub(super) fn text(&self, words: &mut dyn Iterator<Item = String>) -> String {
        if self.shape.contains(&0) {
            return "[]".into();
        }
        self.bracketed(0, 1, self.line_width, words)
    }

    /// The text from `axis` on, without the indentation of its first line. `indent` characters precede each line.
    fn bracketed(
        &self,
        axis: usize,
        indent: usize,
        line_width: usize,
        words: &mut dyn Iterator<Item = String>,
    ) -> String {
        if axis == self.shape.len() {
            return words.next().unwrap_or_default();
        }
        let [first, last] = self.shown(axis);
        let has_gap = !last.is_empty();
        let is_row = axis + 1 == self.shape.len();
        let mut items: Vec<String> = Vec::with_capacity(first.len() + last.len() + 1);
        for i in first.clone().chain(last) {
            if has_gap && i >= first.end && items.len() == first.len() {
                items.push(GAP.into());
            }
            items.push(self.bracketed(axis + 1, indent + 1, line_width.saturating_sub(1), words));
        }
        if is_row {
            return format!("[{}]", wrap(&items, indent, line_width.saturating_sub(1)));
        }
        let line_break = "\n".repeat(self.shape.len() - axis - 1);
        let separator = format!("{line_break}{}", " ".repeat(indent));
        format!("[{}]", items.join(&separator))
    }
}

/// Words in lines of at most `line_width` characters; the first line already has `indent` characters.
fn wrap(words: &[String], indent: usize, line_width: usize) -> String {
    let mut lines = String::new();
    let mut line = " ".repeat(indent);
    for (i, word) in words.iter().enumerate() {
        let has_words = line.len() > indent;
        if has_words && line.chars().count() + word.chars().count() > line_width {
            lines += line.trim_end();
            lines.push('\n');
            line = " ".repeat(indent);
        }
        line += word;
        if i + 1 < words.len() {
            line.push(' ');
        }
    }
    lines += &line;
    lines.split_off(indent)
}
