//! Programs on several ranks, for each transport: its `launch::on_ranks` runs them.

mod data_parallel;
mod failures;
pub(crate) mod kernels;
mod lengths;
mod parts;
mod random;
mod replays;
mod rounds;
mod sharded;
mod traces;
mod tree_sum;

/// All programs, which panic if a result is wrong.
pub(crate) const ALL: &[(&str, fn())] = &[
    (
        "data_parallel::a_model_has_the_same_bits_for_any_number_of_ranks",
        data_parallel::a_model_has_the_same_bits_for_any_number_of_ranks,
    ),
    (
        "failures::the_first_task_that_differs_is_named_with_both_lines",
        failures::the_first_task_that_differs_is_named_with_both_lines,
    ),
    ("failures::arguments_that_differ_are_an_error", failures::arguments_that_differ_are_an_error),
    ("failures::a_rank_that_ends_early_is_named", failures::a_rank_that_ends_early_is_named),
    (
        "failures::the_others_end_with_the_cause_of_a_rank_that_panics",
        failures::the_others_end_with_the_cause_of_a_rank_that_panics,
    ),
    (
        "failures::a_task_that_fails_has_no_value_on_any_rank",
        failures::a_task_that_fails_has_no_value_on_any_rank,
    ),
    (
        "failures::a_rank_that_cannot_take_pieces_lets_their_sender_end",
        failures::a_rank_that_cannot_take_pieces_lets_their_sender_end,
    ),
    ("failures::there_is_no_rank_beyond_the_last", failures::there_is_no_rank_beyond_the_last),
    ("failures::the_owner_of_an_array_can_be_set", failures::the_owner_of_an_array_can_be_set),
    ("lengths::arrays_of_any_length_go_round_the_ranks", lengths::arrays_of_any_length_go_round_the_ranks),
    ("random::random_programs_give_the_sequential_bits", random::random_programs_give_the_sequential_bits),
    (
        "random::random_programs_with_reductions_give_the_bits_of_one_runtime",
        random::random_programs_with_reductions_give_the_bits_of_one_runtime,
    ),
    (
        "parts::random_programs_on_parts_give_the_sequential_bits",
        parts::random_programs_on_parts_give_the_sequential_bits,
    ),
    (
        "tree_sum::sums_have_the_same_bits_for_any_number_of_ranks",
        tree_sum::sums_have_the_same_bits_for_any_number_of_ranks,
    ),
    (
        "tree_sum::tasks_of_a_call_run_on_its_rank_and_discarded_values_are_not_sent",
        tree_sum::tasks_of_a_call_run_on_its_rank_and_discarded_values_are_not_sent,
    ),
    ("parts::blocks_stay_where_they_are", parts::blocks_stay_where_they_are),
    ("replays::replays_have_the_bits_of_one_runtime", replays::replays_have_the_bits_of_one_runtime),
    (
        "replays::recordings_that_differ_name_the_first_task",
        replays::recordings_that_differ_name_the_first_task,
    ),
    ("replays::calls_that_differ_are_named", replays::calls_that_differ_are_named),
    (
        "replays::recordings_of_other_arguments_name_the_task",
        replays::recordings_of_other_arguments_name_the_task,
    ),
    ("replays::sharded_arguments_come_for_a_replay", replays::sharded_arguments_come_for_a_replay),
    ("replays::no_task_of_a_program_is_placed", replays::no_task_of_a_program_is_placed),
    (
        "replays::a_task_of_a_replay_that_fails_has_no_value_on_any_rank",
        replays::a_task_of_a_replay_that_fails_has_no_value_on_any_rank,
    ),
    ("rounds::what_a_rank_keeps_does_not_grow", rounds::what_a_rank_keeps_does_not_grow),
    ("rounds::a_difference_is_found_without_a_meeting", rounds::a_difference_is_found_without_a_meeting),
    (
        "rounds::a_program_that_ends_early_differs_in_a_round",
        rounds::a_program_that_ends_early_differs_in_a_round,
    ),
    ("sharded::tasks_on_other_ranks_read_the_value", sharded::tasks_on_other_ranks_read_the_value),
    ("sharded::a_part_is_not_sharded", sharded::a_part_is_not_sharded),
    ("sharded::a_guard_keeps_the_copy", sharded::a_guard_keeps_the_copy),
    ("sharded::a_rank_has_the_memory_of_its_own_arrays", sharded::a_rank_has_the_memory_of_its_own_arrays),
    ("traces::a_message_leads_from_rank_to_rank", traces::a_message_leads_from_rank_to_rank),
];
