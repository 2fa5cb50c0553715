//! Nothing but the name of a package: `tests` has what it is for.
