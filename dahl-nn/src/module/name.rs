//! [`Name`]: the name of something inside of a model.

use std::fmt::{self, Display};

/// The name of a parameter, buffer or module in a model: the fields on the way to it, which [`Display`] joins by dots. No
/// text is made before it is asked for.
#[derive(Clone, Copy)]
pub struct Name<'n> {
    /// The model itself has no name.
    field: Option<(&'n Name<'n>, &'n dyn Display)>,
}

impl<'n> Name<'n> {
    pub(super) const ROOT: Name<'static> = Name { field: None };

    pub(super) fn of_field(&'n self, name: &'n dyn Display) -> Self {
        Self { field: Some((self, name)) }
    }

    /// The number of fields on the way.
    pub fn depth(&self) -> usize {
        self.field.map_or(0, |(parent, _)| 1 + parent.depth())
    }

    /// The last field, if any.
    pub fn last(&self) -> Option<&dyn Display> {
        self.field.map(|(_, name)| name)
    }
}

impl Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((parent, name)) = self.field else { return Ok(()) };
        if parent.field.is_some() {
            write!(f, "{parent}.")?;
        }
        name.fmt(f)
    }
}

impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}
