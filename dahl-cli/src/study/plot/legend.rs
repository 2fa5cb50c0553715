//! [`Legend`]: the meaning of colours and markers, beside the panels.

use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::palette::{GUIDE, colour, marker};
use super::{Area, Drawn, TEXT_SIZE};

const LINE_HEIGHT: i32 = 22;
const TOP: i32 = 34;
const KEY_WIDTH: i32 = 26;
/// The approximate width of a character.
const CHARACTER_WIDTH: f64 = 6.6;

/// The kind of mark in the legend.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Line,
    Area,
    /// A dashed line for reference values.
    Guide,
}

/// Names in the order of their first occurrence, each with its colour.
#[derive(Default)]
pub(super) struct Legend {
    entries: Vec<(String, Key)>,
}

impl Legend {
    pub(super) fn add(&mut self, name: &str, key: Key) {
        if !name.is_empty() && self.entries.iter().all(|entry| entry.0 != name) {
            self.entries.push((name.to_owned(), key));
        }
    }

    /// The index of a name among those of the same kind; 0 if the legend does not have it.
    pub(super) fn index(&self, name: &str) -> usize {
        let coloured = self.entries.iter().filter(|(_, key)| *key != Key::Guide);
        coloured.map(|(entry, _)| entry).position(|entry| entry == name).unwrap_or(0)
    }

    /// Whether the legend has an entry.
    fn is_needed(&self) -> bool {
        self.entries.len() > 1
    }

    pub(super) fn width(&self) -> u32 {
        if !self.is_needed() {
            return 14;
        }
        let longest = self.entries.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        (f64::from(KEY_WIDTH) + 26.0 + longest as f64 * CHARACTER_WIDTH) as u32
    }

    pub(super) fn draw(&self, area: &Area<'_>) -> Drawn {
        if !self.is_needed() {
            return Ok(());
        }
        for (row, (name, key)) in self.entries.iter().enumerate() {
            let (y, index) = (TOP + LINE_HEIGHT * row as i32, self.index(name));
            let line = vec![(8, y), (8 + KEY_WIDTH, y)];
            match key {
                Key::Guide => area.draw(&DashedPathElement::new(line, 5, 4, GUIDE.stroke_width(1)))?,
                Key::Area => {
                    let corners = [(8, y - 6), (8 + KEY_WIDTH, y + 6)];
                    area.draw(&Rectangle::new(corners, colour(index).filled()))?;
                }
                Key::Line => {
                    area.draw(&PathElement::new(line, colour(index).stroke_width(2)))?;
                    area.draw(&marker(index, (8 + KEY_WIDTH / 2, y)))?;
                }
            }
            let font = ("sans-serif", TEXT_SIZE).into_font().color(&BLACK);
            let text = (8 + KEY_WIDTH + 7, y - TEXT_SIZE as i32 / 2);
            area.draw(&Text::new(name.clone(), text, font))?;
        }
        Ok(())
    }
}
