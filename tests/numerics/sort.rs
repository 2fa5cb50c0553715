use super::*;

numerics!(sort: ops::codelets::Sort, ([7, 67], _, _), (1, ops::SortOrder::Ascending));
numerics!(sort_descending: ops::codelets::Sort, ([3, 67, 5], _, _), (1, ops::SortOrder::Descending));
numerics!(top_k: ops::codelets::TopK, ([7, 67], _, _), (9, 1));
