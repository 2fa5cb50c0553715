//! Where dahl looks for libraries.

use std::env;
use std::path::PathBuf;

use libloading::Library;

/// Loads `lib{name}.so` of the first of these major versions, which have the functions that this room calls: the one that
/// `variable` names (a file, or the folder that it is in; 0 for none), else where the system finds libraries, else in
/// `CUDA_HOME`, `CUDA_PATH` or `/usr/local/cuda`.
///
/// # Errors
/// Why there is none.
pub(super) fn load(name: &str, versions: &[&str], variable: &str) -> Result<Library, String> {
    let names: Vec<String> = versions.iter().map(|version| format!("lib{name}.so.{version}")).collect();
    let of_folder = |folder: PathBuf| names.iter().map(move |name| folder.join(name)).collect::<Vec<_>>();
    let places = match env::var_os(variable).filter(|place| !place.is_empty()) {
        Some(place) if place == "0" => return Err(format!("{variable} is 0")),
        // What is named is what is meant: nothing else is taken in its place.
        Some(place) => {
            let place = PathBuf::from(place);
            if place.is_file() { vec![place] } else { of_folder(place) }
        }
        None => {
            let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os).map(PathBuf::from);
            let homes = homes.chain([PathBuf::from("/usr/local/cuda")]);
            let folders = homes.flat_map(|home| ["lib64", "lib"].map(|folder| home.join(folder)));
            names.iter().map(PathBuf::from).chain(folders.flat_map(of_folder)).collect()
        }
    };
    let mut reason = None;
    for place in places {
        // SAFETY: a library of CUDA's, whose initialisation has no requirements.
        match unsafe { Library::new(&place) } {
            Ok(library) => return Ok(library),
            // The first is the most telling: a file that is there and does not load, or the name that was looked for.
            Err(error) => reason = reason.or_else(|| Some(error.to_string())),
        }
    }
    Err(reason.unwrap_or_else(|| format!("{variable} names nothing")))
}
