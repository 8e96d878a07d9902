//! The cases for stores in databases: keys, encryption, migrations.

mod full;
mod keys;
mod refused;
mod start;
mod wakeup;

use crate::suite::{Case, cases};
use crate::test_store::TestDatabase;

pub(crate) const CASES: &[(&str, Case<TestDatabase>)] = cases! {
    keys {
        bodies_are_encrypted,
        a_body_cannot_stand_in_for_another,
        a_damaged_body_is_reported,
        a_missing_key_file_is_reported,
        a_wrong_key_file_is_reported,
        keys_that_nothing_needs_are_dropped,
        a_store_that_must_exist_is_not_created,
        a_key_file_that_others_can_read_is_refused,
        rotation_encrypts_everything_again,
        a_rotation_that_was_broken_off_is_taken_up,
        another_process_notices_a_new_key,
        a_key_that_is_nowhere_is_reported,
    }
    wakeup {
        processes_wake_each_other,
    }
    refused {
        what_a_database_does_not_accept_is_told_from_an_outage,
    }
    full {
        a_full_disk_delays_and_loses_nothing,
    }
    start {
        two_processes_start_at_once,
        a_newer_schema_is_refused,
        transactions_are_counted,
        the_texts_of_an_earlier_version_are_sealed,
        the_texts_of_an_earlier_version_are_masked,
        a_file_that_was_not_written_anew_is_so_at_the_next_start,
        only_the_owner_can_read_the_files,
    }
};
