//! Prints the CUDA code of every map that a Rust file declares: `translate src/ops/activation.rs`.

use dahl_cuda::map;

fn main() {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: translate FILE, a file of Rust with maps");
        std::process::exit(2);
    };
    let declarations = std::fs::read_to_string(&path)
        .map_err(|error| error.to_string())
        .and_then(|source| map::declarations(&source).map_err(|error| error.to_string()));
    match declarations {
        Err(error) => {
            eprintln!("{path}: {error}");
            std::process::exit(1);
        }
        Ok(declarations) => {
            for declaration in declarations {
                match declaration.map {
                    Ok(map) => println!("{}", map.source),
                    Err(refusal) => {
                        let line = refusal.span.start().line;
                        eprintln!("{path}:{line}: {}: {}", declaration.name, refusal.message);
                    }
                }
            }
        }
    }
}
