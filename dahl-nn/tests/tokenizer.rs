//! Texts as tokens.

use dahl_nn::prelude::*;

#[test]
fn characters_have_tokens_in_the_order_of_their_code_points() {
    let tokenizer = CharacterTokenizer::new("zähne\nän");
    assert_eq!(tokenizer.vocabulary(), ['\n', 'e', 'h', 'n', 'z', 'ä']);
    let text = "näh\nzehn";
    let tokens = tokenizer.encode(text).unwrap();
    assert_eq!(tokens, [3, 5, 2, 0, 4, 1, 2, 3]);
    assert_eq!(tokenizer.decode(&tokens).unwrap(), text);
    let error = tokenizer.encode("ähm").unwrap_err().to_string();
    assert_eq!(error, "at byte 3: the character 'm' has no token");
    let error = tokenizer.decode(&[0, 6]).unwrap_err().to_string();
    assert_eq!(error, "there is no token 6: the vocabulary has 6");
    assert!(CharacterTokenizer::new("").vocabulary().is_empty());
}

#[cfg(feature = "tokenizers")]
mod files {
    use std::fs;

    use dahl_nn::tokenizer::TokenizerFile;

    /// A vocabulary of byte pairs: l, o, w, e, r and the pairs "lo", "low", "er".
    const BYTE_PAIRS: &str = r#"{
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": null, "post_processor": null, "decoder": {"type": "Fuse"},
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
            "vocab": {"l": 0, "o": 1, "w": 2, "e": 3, "r": 4, "lo": 5, "low": 6, "er": 7},
            "merges": [["l", "o"], ["lo", "w"], ["e", "r"]]
        }
    }"#;

    #[test]
    fn byte_pairs_are_merged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokenizer.json");
        fs::write(&path, BYTE_PAIRS).unwrap();
        let tokenizer = TokenizerFile::open(&path).unwrap();
        assert_eq!(tokenizer.vocabulary_len(), 8);
        assert_eq!(tokenizer.encode("lower").unwrap(), [6, 7]);
        assert_eq!(tokenizer.encode("rowel").unwrap(), [4, 1, 2, 3, 0]);
        assert_eq!(tokenizer.decode(&[6, 7]).unwrap(), "lower");
    }

    #[test]
    fn a_file_that_is_no_tokenizer_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokenizer.json");
        let name = path.to_str().unwrap();
        assert!(TokenizerFile::open(&path).unwrap_err().to_string().contains(name));
        for text in ["", "{}", &BYTE_PAIRS[..300]] {
            fs::write(&path, text).unwrap();
            let error = TokenizerFile::open(&path).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("a tokenizer in JSON"), "{error}");
        }
    }
}
