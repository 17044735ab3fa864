//! Making reports.

use std::collections::HashMap;
use std::fmt::Display;
use std::hash::Hash;
use std::sync::Arc;

use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId, UserId};
use flowsdk_core::router::{Admitted, HasRouters, Reach};
use flowsdk_core::store::Store;
use flowsdk_core::time::IsoTime;
use jiff::tz::TimeZone;

use super::{
    Day, HasReports, Period, ReportError as Error, ReportFilter, ReportGroup, TicketFigures, TicketGrouping,
    TicketReport, TicketRows,
};
use crate::names::HasNames;

/// Most groups of a report.
pub const MOST_GROUPS: u32 = 1_000;

/// Makes reports on tickets.
#[derive(Debug)]
pub struct Reports<S> {
    store: Arc<S>,
    cx: OpContext,
}

impl<S: Store> Reports<S>
where
    S::Tx: HasReports + HasNames + HasRouters,
{
    /// Creates the service over `store`.
    pub fn new(store: Arc<S>, cx: OpContext) -> Self {
        Self { store, cx }
    }

    /// Returns the figures of the tickets of people that were opened in a period, in groups.
    ///
    /// # Errors
    /// [`Error::Backwards`], [`Error::TooLong`], [`Error::Storage`].
    pub async fn tickets(
        &self,
        reach: Reach<'_>,
        filter: &Admitted<ReportFilter>,
        by: TicketGrouping,
    ) -> Result<TicketReport, Error> {
        let period = self.period(filter)?;
        let scope = scope(reach, filter);
        let only = scope.as_deref();
        let mut tx = self.store.read().await?;
        let zone = zone(&mut tx, only).await?;
        let total = tx.reports().total(only, period).await?;
        Ok(TicketReport {
            from: IsoTime(period.begin()),
            to: IsoTime(period.end()),
            groups: groups(&mut tx, only, period, by, &zone).await?,
            time_zone: zone.iana_name().unwrap_or("UTC").to_owned(),
            total,
        })
    }

    /// Returns the tickets of people that were opened in a period, to be read page by page.
    ///
    /// # Errors
    /// [`Error::Backwards`], [`Error::TooLong`].
    pub fn rows(&self, reach: Reach<'_>, filter: &Admitted<ReportFilter>) -> Result<TicketRows<S>, Error> {
        let period = self.period(filter)?;
        Ok(TicketRows::new(Arc::clone(&self.store), scope(reach, filter), period))
    }

    fn period(&self, filter: &ReportFilter) -> Result<Period, Error> {
        Period::of(filter.from, filter.to, self.cx.now())
    }
}

/// Returns the routers of a report; `None` is all.
fn scope(reach: Reach<'_>, filter: &ReportFilter) -> Option<Vec<RouterId>> {
    match &filter.router_id {
        Some(router) => Some(vec![router.clone()]),
        None => reach.routers().map(<[RouterId]>::to_vec),
    }
}

/// Returns the time zone of the days: that of the router, if it is one.
async fn zone<T: HasRouters>(tx: &mut T, only: Option<&[RouterId]>) -> Result<TimeZone, StorageError> {
    let name = match only {
        Some([router]) => tx.routers().find(router).await?.map(|router| router.tz),
        _ => None,
    };
    Ok(name.and_then(|name| TimeZone::get(&name).ok()).unwrap_or(TimeZone::UTC))
}

async fn groups<T: HasReports + HasNames>(
    tx: &mut T,
    only: Option<&[RouterId]>,
    period: Period,
    by: TicketGrouping,
    zone: &TimeZone,
) -> Result<Vec<ReportGroup>, StorageError> {
    Ok(match by {
        TicketGrouping::Day => {
            let days = period.days(zone);
            let found = tx.reports().by_day(only, &days).await?;
            of_days(days, found)
        }
        TicketGrouping::Queue => {
            let found = tx.reports().by_queue(only, period, MOST_GROUPS).await?;
            let queues: Vec<QueueId> = found.iter().map(|(queue, _)| queue.clone()).collect();
            let names = tx.names().queues(&queues).await?;
            named(found.into_iter().map(|(queue, figures)| (Some(queue), figures)), names)
        }
        TicketGrouping::Agent => {
            let found = tx.reports().by_agent(only, period, MOST_GROUPS).await?;
            let users: Vec<UserId> = found.iter().filter_map(|(user, _)| user.clone()).collect();
            let names = tx.names().users(&users).await?;
            named(found.into_iter(), names)
        }
        TicketGrouping::Reason => {
            let found = tx.reports().by_reason(only, period, MOST_GROUPS).await?;
            named(found.into_iter(), Vec::new())
        }
    })
}

/// Returns a group for each day, whether or not it has tickets.
fn of_days(days: Vec<Day>, found: Vec<(String, TicketFigures)>) -> Vec<ReportGroup> {
    let mut found: HashMap<String, TicketFigures> = found.into_iter().collect();
    let group = |day: Day| {
        let figures = found.remove(&day.date).unwrap_or_default();
        ReportGroup { key: Some(day.date), name: None, figures }
    };
    days.into_iter().map(group).collect()
}

/// Returns the groups with the names of their keys.
fn named<K: Eq + Hash + Display>(
    found: impl Iterator<Item = (Option<K>, TicketFigures)>,
    names: Vec<(K, String)>,
) -> Vec<ReportGroup> {
    let names: HashMap<K, String> = names.into_iter().collect();
    let group = |(key, figures): (Option<K>, TicketFigures)| ReportGroup {
        name: key.as_ref().and_then(|key| names.get(key).cloned()),
        key: key.map(|key| key.to_string()),
        figures,
    };
    found.map(group).collect()
}

#[cfg(test)]
mod tests {
    use flowsdk_core::time::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::report::Satisfaction;

    fn opened(opened: i64) -> TicketFigures {
        TicketFigures { opened, ..TicketFigures::default() }
    }

    fn shown(groups: &[ReportGroup]) -> Vec<(Option<&str>, Option<&str>, i64)> {
        groups.iter().map(|one| (one.key.as_deref(), one.name.as_deref(), one.figures.opened)).collect()
    }

    #[test]
    fn days_without_tickets_are_there() {
        let day = |date: &str| Day {
            date: date.to_owned(),
            begin: Timestamp::from_millis(0),
            end: Timestamp::from_millis(1),
        };
        let days = ["2026-11-28", "2026-11-29", "2026-11-30"].map(day).to_vec();
        let found = vec![("2026-11-30".to_owned(), opened(2)), ("2026-11-28".to_owned(), opened(7))];
        let expected =
            [(Some("2026-11-28"), None, 7), (Some("2026-11-29"), None, 0), (Some("2026-11-30"), None, 2)];
        assert_eq!(shown(&of_days(days, found)), expected);
    }

    #[test]
    fn groups_have_the_names_that_are_known() {
        let found = vec![(Some("q1"), opened(3)), (None, opened(2)), (Some("q2"), opened(1))];
        let groups = named(found.into_iter(), vec![("q1", "Vendas".to_owned())]);
        assert_eq!(shown(&groups), [(Some("q1"), Some("Vendas"), 3), (None, None, 2), (Some("q2"), None, 1)]);
    }

    #[test]
    fn satisfaction_is_a_mean_with_two_decimals() {
        for (answered, sum, expected) in
            [(0, 0, None), (1, 5, Some(5.0)), (3, 13, Some(4.33)), (3, 14, Some(4.67))]
        {
            assert_eq!(Satisfaction::of(9, answered, sum).average, expected);
        }
    }

    #[test]
    fn a_group_is_one_object() {
        let groups = named([(Some("q1"), opened(1))].into_iter(), Vec::new());
        let group = serde_json::to_value(&groups[0]).expect("JSON");
        assert_eq!(group.as_object().map(serde_json::Map::len), Some(12), "{group}");
        assert_eq!(
            (&group["key"], &group["opened"], &group["waitingMs"]["count"]),
            (&json!("q1"), &json!(1), &json!(0))
        );
    }
}
