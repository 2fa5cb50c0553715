//! Training steps as graphs: the bits of steps whose tasks run one by one on the device.

use dahl::Result;
use dahl::prelude::*;
use dahl_nn::prelude::*;

use super::{graphs, in_seeds};

/// A network that AdamW trains, with a short last batch; its parameters after some epochs.
fn train(rt: &Runtime, replays: bool) -> Result<Vec<f32>> {
    let arena = rt.arena();
    let mut model = Sequential::<f32>::new(&arena, [6], 3).dense(8)?.relu()?.dense(3)?;
    let data = Synthetic::new(&[6], 3, 16, 5);
    let trainer = Trainer::new(&mut model, CrossEntropy, AdamW::new(0.01)).batch_size(6).epochs(3);
    trainer.replays(replays).fit(&data)?;
    let mut values = Vec::new();
    for parameter in model.parameters() {
        values.extend(parameter.value.to_vec()?);
    }
    Ok(values)
}

#[test]
fn a_replayed_training_has_the_bits_of_single_tasks() {
    in_seeds(0..3, |rt, _| {
        let expected = train(rt, false)?;
        assert_eq!(rt.statistics().graphs[0].launches, 0);
        assert_eq!(train(rt, true)?, expected);
        let counts = graphs(rt);
        assert!(counts.launches >= 4, "{counts:?}");
        assert!(counts.instantiated <= 4, "{counts:?}");
        Ok(())
    });
}
