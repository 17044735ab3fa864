//! The lists of cases. One entry here is a test of every adapter and a name in `CASES`.

/// Tests that a [`Broker`](crate::stream::broker::Broker) keeps its promises. The argument is the path of
/// an async function that returns a fresh, empty `Arc<dyn Broker>`, or an `Option` of one; see
/// [`crate::testkit`]. More than one partition is tested harder than one.
#[macro_export]
macro_rules! broker_conformance {
    ($make:path) => {
        $crate::__broker_cases! { ($crate::__conformance_tests) [$crate::testkit::run] [$crate::testkit::broker] $make }
    };
}

/// Tests that [`Tails`](crate::stream::broker::Tails) keep their promises. The argument is the path of an
/// async function that returns a fresh, empty `Arc<dyn Tails>`, or an `Option` of one.
#[macro_export]
macro_rules! tail_conformance {
    ($make:path) => {
        $crate::__tail_cases! { ($crate::__conformance_tests) [$crate::testkit::run] [$crate::testkit::tail] $make }
    };
}

/// Tests that a [`KeyValue`](crate::kv::KeyValue) keeps its promises. The argument is the path of an async
/// function that returns a [`KeyValueUnderTest`](crate::testkit::KeyValueUnderTest), or an `Option` of one.
#[macro_export]
macro_rules! key_value_conformance {
    ($make:path) => {
        $crate::__key_value_cases! { ($crate::__conformance_tests) [$crate::testkit::run] [$crate::testkit::key_value] $make }
    };
}

/// Tests that leases hold over a [`KeyValue`](crate::kv::KeyValue). Takes the argument of
/// [`key_value_conformance!`](crate::key_value_conformance).
#[macro_export]
macro_rules! lease_conformance {
    ($make:path) => {
        $crate::__lease_cases! { ($crate::__conformance_tests) [$crate::testkit::run] [$crate::testkit::lease] $make }
    };
}

/// Tests that a [`Store`](crate::store::Store) keeps its promises. The argument is the path of an async
/// function that returns a [`StoreUnderTest`](crate::testkit::store::StoreUnderTest), or an `Option` of one.
#[macro_export]
macro_rules! store_conformance {
    ($make:path) => {
        $crate::__store_cases! { ($crate::__conformance_tests) [$crate::testkit::store::run] [$crate::testkit::store] $make }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __store_cases {
    (($($then:tt)*) $($args:tt)*) => {
        $($then)*! {
            ($($args)*)
            contacts_are_found_by_id_and_by_identity
            an_identity_has_one_contact
            many_contacts_are_created_or_found
            many_that_create_a_contact_get_the_same
            many_changed_contacts_are_saved
            a_changed_contact_is_saved
            a_saved_filter_is_read_back
            chats_come_in_the_order_asked
            many_that_open_a_chat_get_the_same
            a_closed_chat_lets_a_new_one_open
            chats_are_told_once_in_a_time
            chats_of_two_routers_are_apart
            windows_only_grow
            a_router_is_read_back
            routers_are_listed_among_those_asked_for
            pages_of_routers_are_stable_under_inserts
            published_versions_are_read_back
            a_version_number_is_given_once
            static_variables_are_of_their_owner
            a_session_is_read_back
            a_new_session_is_saved_once
            a_write_on_another_version_is_stale
            a_write_of_a_removed_session_is_stale
            a_stale_write_undoes_its_batch
            writers_of_one_session_wait_for_each_other
            ended_sessions_are_removed
            sessions_in_batches_of_any_size
            histories_are_archived_apart_and_go_with_their_sessions
            a_chunk_that_is_stored_again_stands_once
            the_oldest_chunks_of_a_history_are_dropped
            due_sessions_come_oldest_first
            many_freeze_at_once
            a_frozen_session_keeps_what_fails_later
            so_many_entries_are_kept
            frozen_sessions_are_known
            messages_are_read_back
            any_content_survives
            messages_in_batches_of_any_size
            a_channel_message_id_is_stored_once
            stored_keys_are_found
            pages_are_stable_under_inserts
            outgoing_messages_since_one_are_found
            a_chat_numbers_its_messages_whatever_clocks_say
            a_long_chat_is_read_from_any_place
            concurrent_writers_of_a_chat_take_each_number_once
            a_status_only_goes_forward
            a_visitor_reports_of_his_session_only
            reports_of_a_batch_come_to_the_furthest
            a_failure_keeps_its_reason
            provider_ids_are_noted_once
            parked_statuses_are_taken_once
            files_are_read_back
            outcomes_of_files_count_once
            files_that_nobody_names_are_found
            files_whose_time_is_over_are_found
            the_newest_opt_in_counts
            a_chat_has_each_label_once
            tracked_events_are_read_back
            event_definitions_are_read_back_with_their_counts
            import_drafts_are_read_back_until_they_expire
            traces_of_a_session_are_bounded
            a_dropped_transaction_leaves_nothing
            events_appear_with_the_commit
            events_of_concurrent_commits_all_appear
            a_reader_does_not_hold_up_a_writer
            a_reading_transaction_refuses_to_write
            contacts_are_found_by_their_words
            identities_are_of_one_contact
            contacts_are_known_to_their_routers
            an_absorbed_contact_leaves_everything
            live_sessions_are_listed
            a_frozen_session_is_thawed_entry_by_entry
            chats_are_listed
            the_newest_opt_in_of_each_contact_is_listed
            traces_are_read_back
            a_saved_router_is_read_back
            a_deleted_router_takes_its_own_along
            a_variable_key_is_given_once
            drafts_and_versions_are_listed
            references_to_a_flow_are_found
            a_session_depends_on_the_flows_it_comes_back_to
            sessions_end_by_what_they_depend_on
            sessions_of_a_number_are_counted_and_end
            a_credential_is_read_back_and_detached
            an_integration_is_read_back
            pages_of_integrations_show_what_is_within_reach
            the_settings_of_observability_are_one
            a_router_takes_its_integrations_along
            a_dead_letter_is_recorded_once
            dead_letters_are_listed
            a_dead_letter_is_taken_once
            streams_that_are_read_are_known
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __broker_cases {
    (($($then:tt)*) $($args:tt)*) => {
        $($then)*! {
            ($($args)*)
            entries_come_in_the_order_of_publishing
            keys_spread_over_the_partitions
            streams_do_not_mix
            an_empty_publish_is_harmless
            a_read_gives_no_more_than_asked
            an_empty_read_waits_and_returns
            a_waiting_read_sees_what_is_published
            a_new_group_gets_what_was_published_before
            two_groups_get_every_entry_each
            acknowledged_entries_do_not_come_again
            the_next_owner_gets_the_unacknowledged_first
            the_next_owner_reads_one_by_one_in_order
            a_former_owner_hides_nothing_from_the_next
            one_key_never_reorders
            large_payloads_survive
            any_text_survives
            unknown_ids_are_acknowledged_harmlessly
            the_backlog_counts_what_is_unacknowledged
            nothing_is_lost_through_a_take_over
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __tail_cases {
    (($($then:tt)*) $($args:tt)*) => {
        $($then)*! {
            ($($args)*)
            an_empty_tail_waits_and_returns
            a_waiting_tail_sees_what_is_published
            a_tail_sees_only_what_is_new
            a_tail_leaves_groups_alone
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __key_value_cases {
    (($($then:tt)*) $($args:tt)*) => {
        $($then)*! {
            ($($args)*)
            an_absent_key_has_no_value
            a_value_is_read_back
            any_text_is_read_back
            a_second_set_replaces_value_and_time
            values_end_with_their_time
            set_if_absent_sets_once
            set_if_absent_sets_again_after_the_end
            take_reads_once
            delete_tells_whether_it_was_there
            keep_asks_for_the_value
            keep_prolongs
            keep_does_not_revive
            keep_answers_for_each_key
            delete_if_asks_for_the_value
            one_of_many_sets
            one_of_many_takes
            one_of_many_deletes
            additions_sum_up
            a_sum_ends_with_the_time_of_its_first_addition
            what_is_no_number_is_not_added_to
            of_many_additions_none_is_lost
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __lease_cases {
    (($($then:tt)*) $($args:tt)*) => {
        $($then)*! {
            ($($args)*)
            a_held_name_is_refused
            names_are_apart
            the_holder_may_take_it_again
            a_renewed_lease_holds
            a_released_lease_is_free
            an_expired_lease_is_free_and_lost
            a_late_release_leaves_the_next_holder_alone
            one_of_many_holds
        }
    };
}

/// Expands a list of cases to tests. Each calls `run` with its name, the maker of adapters and the case of `module`.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_tests {
    (([$($run:tt)*] [$($module:tt)*] $make:path) $($case:ident)*) => {
        $crate::__conformance_tests! { @each [$($run)*] [$($module)*] $make, $($case)* }
    };
    (@each $run:tt $module:tt $make:path, $($case:ident)*) => {
        $($crate::__conformance_tests! { @one $run $module $make, $case })*
    };
    (@one [$($run:tt)*] [$($module:tt)*] $make:path, $case:ident) => {
        #[test]
        fn $case() {
            $($run)*(::core::stringify!($case), $make, $($module)*::$case);
        }
    };
}

/// Expands a list of cases to their names.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_names {
    (() $($case:ident)*) => {
        &[$(::core::stringify!($case)),*]
    };
}

#[cfg(test)]
mod tests {
    use crate::testkit::{broker, key_value, lease, store, tail, written};

    #[test]
    fn every_case_that_is_written_is_in_its_list() {
        let suites: [(&[&str], &str); 5] = [
            (broker::CASES, include_str!("broker.rs")),
            (tail::CASES, include_str!("tail.rs")),
            (key_value::CASES, include_str!("key_value.rs")),
            (lease::CASES, include_str!("lease.rs")),
            (store::CASES, &store::SOURCES.concat()),
        ];
        for (listed, source) in suites {
            assert_eq!(listed, written(source));
        }
    }
}
