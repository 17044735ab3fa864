//! The steps of the use cases inside their transaction. [`RouterRecords`](super::RouterRecords) takes them one after
//! the other; a service with more to do puts its own between them.

use super::model::within;
use super::{HasRecords, NewRecord, RecordChange, RouterRecord};
use crate::context::OpContext;
use crate::router::{HasRouters, Reach, RouterUnknown};
use crate::time::Timestamp;

/// Returns a record within reach.
///
/// # Errors
/// [`RouterRecord::not_found`], [`StorageError`](crate::fault::StorageError).
pub async fn find<R: RouterRecord, X: HasRecords<R>>(
    tx: &mut X,
    reach: Reach<'_>,
    id: &R::Id,
) -> Result<R, R::Error> {
    within(tx.records().find(id).await?, reach)
}

/// Returns a record within reach, locked until the end of the transaction.
///
/// # Errors
/// [`RouterRecord::not_found`], [`StorageError`](crate::fault::StorageError).
pub async fn find_for_update<R: RouterRecord, X: HasRecords<R>>(
    tx: &mut X,
    reach: Reach<'_>,
    id: &R::Id,
) -> Result<R, R::Error> {
    within(tx.records().find_for_update(id).await?, reach)
}

/// Creates the record of a command, in a router that exists.
///
/// # Errors
/// [`RouterUnknown`], [`RouterRecord::not_stored`], [`StorageError`](crate::fault::StorageError).
pub async fn create<N: NewRecord, X: HasRecords<N::Record> + HasRouters>(
    tx: &mut X,
    new: N,
    cx: &OpContext,
) -> Result<N::Record, <N::Record as RouterRecord>::Error> {
    let record = new.into_record(cx.ids(), cx.now());
    check_router(tx, &record).await?;
    insert(tx, &record).await?;
    Ok(record)
}

/// Checks that the router of a new record exists.
///
/// # Errors
/// [`RouterUnknown`], [`StorageError`](crate::fault::StorageError).
pub async fn check_router<R: RouterRecord, X: HasRouters>(tx: &mut X, record: &R) -> Result<(), R::Error> {
    tx.routers().find(record.router_id()).await?.ok_or(RouterUnknown)?;
    Ok(())
}

/// Stores a new record.
///
/// # Errors
/// [`RouterRecord::not_stored`].
pub async fn insert<R: RouterRecord, X: HasRecords<R>>(tx: &mut X, record: &R) -> Result<(), R::Error> {
    tx.records().insert(record).await.map_err(|error| record.not_stored(error))
}

/// Changes a record within reach, and returns it as it was and is.
///
/// # Errors
/// [`RouterRecord::not_found`], [`RouterRecord::not_stored`], [`StorageError`](crate::fault::StorageError).
pub async fn change<C: RecordChange, X: HasRecords<C::Record>>(
    tx: &mut X,
    reach: Reach<'_>,
    id: &<C::Record as RouterRecord>::Id,
    change: C,
    now: Timestamp,
) -> Result<(C::Record, C::Record), <C::Record as RouterRecord>::Error> {
    let before = find_for_update(tx, reach, id).await?;
    let after = save(tx, change.apply(before.clone()), now).await?;
    Ok((before, after))
}

/// Stores a record as changed at `now`.
///
/// # Errors
/// [`RouterRecord::not_stored`].
pub async fn save<R: RouterRecord, X: HasRecords<R>>(
    tx: &mut X,
    mut record: R,
    now: Timestamp,
) -> Result<R, R::Error> {
    record.set_updated_at(now);
    tx.records().save(&record).await.map_err(|error| record.not_stored(error))?;
    Ok(record)
}
