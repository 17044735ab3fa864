//! The list of cases. One entry here is a test of every store and a name in `CASES`.

/// Tests that a [`Store`](flowsdk_core::store::Store) keeps its promises, as far as users and all that belongs
/// to them need them. The argument is the path of an async function that gives a
/// [`StoreUnderTest`](flowsdk_core::testkit::store::StoreUnderTest) (or an `Option` of one).
#[macro_export]
macro_rules! auth_store_conformance {
    ($make:path) => {
        $crate::__auth_store_cases! {
            ($crate::testkit::flowsdk_core::__conformance_tests)
            [$crate::testkit::flowsdk_core::testkit::store::run] [$crate::testkit] $make
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __auth_store_cases {
    (($($then:tt)*) $($args:tt)*) => {
        $($then)*! {
            ($($args)*)
            a_user_is_read_back
            an_address_has_one_user
            a_taken_address_is_refused
            a_saved_user_keeps_when_he_came
            writers_of_one_user_wait_for_each_other
            the_end_of_sessions_never_goes_back
            users_are_listed_by_group_and_role
            pages_of_users_are_stable_under_inserts
            a_deleted_user_takes_what_is_his_along
            of_administrators_that_demote_each_other_one_stays
            a_group_is_read_back
            a_saved_group_keeps_when_it_came
            writers_of_one_group_wait_for_each_other
            pages_of_groups_are_stable_under_inserts
            a_deleted_group_leaves_its_users
            an_api_client_is_read_back
            a_token_has_one_api_client
            a_saved_api_client_keeps_when_it_was_used
            writers_of_one_api_client_wait_for_each_other
            pages_of_api_clients_are_stable_under_inserts
            a_deleted_api_client_is_gone
            a_device_is_its_users_alone
            a_device_changes_hands
            a_taken_device_token_is_refused
            pages_of_devices_are_stable_under_inserts
            the_newest_open_recovery_is_found
            wrong_tries_are_counted_one_by_one
            completed_recoveries_are_void
            old_recoveries_are_purged
            users_come_with_their_grants
            api_clients_come_with_their_grants
            the_last_use_never_goes_back
            who_is_no_agent_has_no_schedule
            a_record_is_read_back
            a_batch_that_comes_again_changes_nothing
            records_in_batches_of_any_size
            the_actor_is_shown_while_he_exists
            the_log_is_read_in_the_order_of_ids
            old_records_are_purged_oldest_first
            records_are_filtered
            a_scope_hides_records_without_a_router
            times_count_even_where_ids_do_not_follow_them
            a_repeated_request_is_answered_from_the_store
            another_request_under_the_same_key_is_told
            of_many_that_begin_at_once_one_is_the_first
            what_was_rolled_back_was_never_begun
            answers_are_kept_for_a_day
            old_answers_are_purged
        }
    };
}

#[cfg(test)]
mod tests {
    /// Every public function of the files of cases is one.
    #[test]
    fn every_case_that_is_written_is_in_the_list() {
        let source = super::super::SOURCES.concat();
        assert_eq!(super::super::CASES, flowsdk_core::testkit::written(&source));
    }
}
