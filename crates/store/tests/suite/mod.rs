//! The cases that every store must pass.

mod alarms;
mod commits;
mod housekeeping;
mod leases;
mod lists;
mod objects;
mod quotas;
mod snapshots;
mod twin;

use crate::test_store::TestStore;
use std::pin::Pin;

/// A case: it gets a world of its own and panics if it does not like it.
pub(crate) type Case<W> = fn(W) -> Pin<Box<dyn Future<Output = ()> + Send>>;

/// A table of cases from async functions.
macro_rules! cases {
    ($($module:ident { $($name:ident),* $(,)? })*) => {
        &[$($((stringify!($name), |test| Box::pin($module::$name(test)))),*),*]
    };
}
pub(crate) use cases;

pub(crate) const CASES: &[(&str, Case<TestStore>)] = cases! {
    leases {
        a_tree_with_work_is_claimed_once,
        the_trees_with_work_of_each_engine_are_counted,
        the_time_is_that_of_the_database,
        claims_take_the_longest_unattended_first,
        a_tree_is_claimed_by_name_unless_another_has_it,
        leases_are_renewed,
        a_released_tree_cannot_be_written,
        two_engines_claim_each_tree_once,
        a_former_owner_never_writes_over_a_later_one,
        no_command_is_lost_between_two_looks,
    }
    commits {
        what_is_written_comes_back,
        rows_are_overwritten_and_dropped,
        a_stale_fence_changes_nothing,
        one_stale_batch_does_not_hold_up_the_others,
        batches_of_one_tree_follow_each_other,
        commands_wait_in_order,
        a_waiting_command_is_work,
        a_name_is_taken_once,
        eight_at_once_get_one_name_once,
        a_tree_is_loaded_parents_first,
        thousands_of_rows_fit_in_one_commit,
        two_writers_of_the_same_texts_do_not_disturb_each_other,
    }
    lists {
        pages_hold_each_stack_once,
        stacks_are_filtered,
        stacks_are_found_by_tags,
        nested_and_deleted_stacks_are_listed_if_asked_for,
        events_are_paged_and_filtered,
        events_of_many_stacks_are_merged,
    }
    objects {
        objects_are_kept_listed_and_dropped,
        an_object_is_added_once_and_old_ones_are_dropped,
    }
    alarms {
        alarms_are_kept_listed_and_dropped,
        an_alarm_is_written_by_whoever_read_it_last,
        alarms_are_due_until_they_are_looked_at,
        the_history_of_alarms_is_paged_both_ways,
        samples_add_up_whoever_adds_them,
        old_samples_and_history_are_dropped,
    }
    quotas {
        stacks_of_a_project_are_limited,
        objects_of_a_project_are_limited,
        alarms_of_a_project_are_limited,
    }
    housekeeping {
        the_oldest_events_are_dropped,
        the_oldest_events_of_a_large_tree_are_dropped,
        deleted_trees_are_purged,
        shared_texts_stay,
        a_text_in_use_is_never_purged,
    }
    snapshots {
        snapshots_are_listed_by_stack_and_dropped,
        copies_come_with_the_tree_and_not_with_the_stack,
        snapshots_go_with_their_tree,
    }
    twin {
        behaves_like_the_store_in_memory,
    }
};
