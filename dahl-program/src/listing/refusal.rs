//! Whether a recording is one of the listings that its program was loaded with.

use super::Listing;
use crate::graph::Graph;

/// Requires that a graph is what one of the listings says, if there are any.
///
/// # Errors
/// In what it differs from the listing with its arguments, or from the last one: a changed declaration by its name.
pub(crate) fn require_listed(graph: &Graph, listings: &[Listing]) -> Result<(), String> {
    let Some(last) = listings.last() else { return Ok(()) };
    let recorded = graph.listing();
    if listings.iter().any(|listing| listing.difference(&recorded).is_empty()) {
        return Ok(());
    }
    let signature = recorded.signature();
    let listing = listings.iter().rfind(|listing| listing.signature() == signature).unwrap_or(last);
    let difference = listing.difference(&recorded).to_string();
    let difference = difference.trim_end().replace('\n', "\n    ");
    Err(format!(
        "what it records is not what its file has; record it without the file and save it again, or undo the change:\n    {difference}"
    ))
}
