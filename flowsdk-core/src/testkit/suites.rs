//! The lists of cases. One entry here is a test of every adapter and a name in `CASES`.

/// Tests that a [`Broker`](crate::stream::broker::Broker) keeps its promises. The argument is the path of
/// an async function that gives a fresh, empty `Arc<dyn Broker>` (or an `Option` of one; see
/// [`crate::testkit`]). More than one partition is tested harder than one.
#[macro_export]
macro_rules! broker_conformance {
    ($make:path) => {
        $crate::__broker_cases! { __conformance_tests broker $make }
    };
}

/// Tests that a [`KeyValue`](crate::kv::KeyValue) keeps its promises. The argument is the path of an async
/// function that gives a [`KeyValueUnderTest`](crate::testkit::KeyValueUnderTest) (or an `Option` of one).
#[macro_export]
macro_rules! key_value_conformance {
    ($make:path) => {
        $crate::__key_value_cases! { __conformance_tests key_value $make }
    };
}

/// Tests that leases hold over a [`KeyValue`](crate::kv::KeyValue); takes what
/// [`key_value_conformance!`](crate::key_value_conformance) takes.
#[macro_export]
macro_rules! lease_conformance {
    ($make:path) => {
        $crate::__lease_cases! { __conformance_tests lease $make }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __broker_cases {
    ($then:ident $($args:tt)*) => {
        $crate::$then! {
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
            a_tail_sees_only_what_is_new
            a_tail_leaves_groups_alone
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
macro_rules! __key_value_cases {
    ($then:ident $($args:tt)*) => {
        $crate::$then! {
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
            extend_if_asks_for_the_value
            extend_if_prolongs
            extend_if_does_not_revive
            delete_if_asks_for_the_value
            one_of_many_sets
            one_of_many_takes
            one_of_many_deletes
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __lease_cases {
    ($then:ident $($args:tt)*) => {
        $crate::$then! {
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

/// Expands a list of cases to the tests of an adapter.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_tests {
    (($suite:ident $make:path) $($case:ident)*) => {$(
        #[test]
        fn $case() {
            $crate::testkit::run(::core::stringify!($case), $make, $crate::testkit::$suite::$case);
        }
    )*};
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
    /// The cases that are written, from the source: every public function is one.
    fn written(source: &str) -> Vec<&str> {
        source
            .lines()
            .filter_map(|line| line.strip_prefix("pub async fn "))
            .filter_map(|rest| rest.split('(').next())
            .collect()
    }

    #[test]
    fn every_case_that_is_written_is_in_its_list() {
        let suites: [(&[&str], &str); 3] = [
            (super::super::broker::CASES, include_str!("broker.rs")),
            (super::super::key_value::CASES, include_str!("key_value.rs")),
            (super::super::lease::CASES, include_str!("lease.rs")),
        ];
        for (listed, source) in suites {
            assert_eq!(listed, written(source));
        }
    }
}
