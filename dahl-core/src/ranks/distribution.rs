//! [`Distribution`]: which rank owns which part of an array.

/// A map of the parts of an array over the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution<'a> {
    /// The first parts belong to rank 0, the next ones to rank 1, and so on, in blocks of about equally many.
    Blocks,
    /// One part for each rank in turn.
    Cyclic,
    /// The rank of each part.
    Map(&'a [usize]),
}

impl Distribution<'_> {
    /// The owner of each of `parts` parts.
    ///
    /// # Errors
    /// If a map has another length, or names a rank that does not exist.
    pub(crate) fn owners(self, parts: usize, ranks: usize) -> Result<Vec<usize>, String> {
        match self {
            Self::Blocks => Ok((0..parts).map(|part| part * ranks / parts).collect()),
            Self::Cyclic => Ok((0..parts).map(|part| part % ranks).collect()),
            Self::Map(owners) if owners.len() != parts => {
                Err(format!("the map has {} owners for {parts} parts", owners.len()))
            }
            Self::Map(owners) => match owners.iter().find(|&&owner| owner >= ranks) {
                Some(owner) => Err(format!("there is no rank {owner}, but {ranks} from 0 on")),
                None => Ok(owners.to_vec()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Distribution::{Blocks, Cyclic, Map};

    #[test]
    fn every_part_has_an_owner() {
        assert_eq!(Blocks.owners(7, 3), Ok(vec![0, 0, 0, 1, 1, 2, 2]));
        assert_eq!(Blocks.owners(2, 3), Ok(vec![0, 1]));
        assert_eq!(Blocks.owners(0, 3), Ok(vec![]));
        assert_eq!(Cyclic.owners(5, 3), Ok(vec![0, 1, 2, 0, 1]));
        assert_eq!(Map(&[2, 2, 0]).owners(3, 3), Ok(vec![2, 2, 0]));
        assert_eq!(Map(&[2]).owners(3, 3), Err("the map has 1 owners for 3 parts".to_owned()));
        assert_eq!(Map(&[0, 3]).owners(2, 3), Err("there is no rank 3, but 3 from 0 on".to_owned()));
    }
}
