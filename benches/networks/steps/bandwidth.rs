//! How fast memory can be read: the limit of a program that reads its weights once for each token.

use std::time::Instant;

use crate::Settings;

/// Words of the array, of 8 bytes: much more than all caches hold.
const WORDS: usize = 1 << 26;

/// Answers each line of the standard input: the bytes that all workers together read in a second, the most of five times.
pub(crate) fn run(settings: &Settings) -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<u64> = (0..WORDS as u64).collect();
    let expected = words.iter().fold(0, |all, word| all ^ word);
    for line in std::io::stdin().lines() {
        line?;
        let mut best = 0.0_f64;
        for _ in 0..5 {
            let start = Instant::now();
            let found = std::thread::scope(|scope| {
                let parts = words.chunks(WORDS.div_ceil(settings.workers));
                let threads: Vec<_> = parts.map(|part| scope.spawn(|| xor(part))).collect();
                threads.into_iter().filter_map(|thread| thread.join().ok()).fold(0, |all, part| all ^ part)
            });
            let seconds = start.elapsed().as_secs_f64();
            if found != expected {
                return Err("the words differ".into());
            }
            best = best.max((8 * WORDS) as f64 / seconds);
        }
        println!("{}", serde_json::json!({ "bytes_per_second": best }));
    }
    Ok(())
}

/// All words in one, in eight vectors so that loads do not wait for each other.
fn xor(words: &[u64]) -> u64 {
    let mut sums = [0; 64];
    for chunk in words.chunks_exact(64) {
        for (sum, word) in sums.iter_mut().zip(chunk) {
            *sum ^= word;
        }
    }
    sums.into_iter().fold(0, |all, sum| all ^ sum)
}
