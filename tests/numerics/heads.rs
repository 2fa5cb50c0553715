use super::*;

const HEADS: ops::Heads = ops::Heads::new(4).shared_keys(1);

numerics!(split_heads: ops::codelets::SplitHeads, ([2, 7, 30], _, _, _), (HEADS,));
numerics!(join_heads: ops::codelets::JoinHeads, ([2, 4, 7, 5], [2, 1, 7, 5], [2, 1, 7, 5], _), ());
numerics!(merge_heads: ops::codelets::MergeHeads, ([2, 3, 7, 5], _), ());
numerics!(divide_heads: ops::codelets::DivideHeads, ([2, 7, 15], output([2, 3, 7, 5])), ());
