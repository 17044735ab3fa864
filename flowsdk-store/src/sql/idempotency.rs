//! Requests that take effect once.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::idempotency::{
    Begun, HasIdempotency, IdempotencyRepository, IdempotentRequest, KEPT_FOR, StoredAnswer,
};
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::executor::text;
use super::row::corrupt;
use super::statement::{Sql, sql};

/// Changes a row when the request is new, or when the known one is too old. On Postgres a second
/// transaction waits here for the end of the first: for its answer, or for its place.
const BEGIN: Sql =
    sql("INSERT INTO idempotent_request (principal_id, key, digest, created_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (principal_id, key) DO UPDATE SET digest = excluded.digest, status = NULL, body = NULL,
        created_at = excluded.created_at
     WHERE idempotent_request.created_at < $5");

const FIND: Sql =
    sql("SELECT digest, status, body FROM idempotent_request WHERE principal_id = $1 AND key = $2");

const FINISH: Sql =
    sql("UPDATE idempotent_request SET status = $3, body = $4 WHERE principal_id = $1 AND key = $2");

const PURGE: Sql = sql("DELETE FROM idempotent_request WHERE created_at < $1");

super::statement::statements! { BEGIN, FIND, FINISH, PURGE }

super::accessor::has!(HasIdempotency::idempotency -> IdempotencyRepository);

#[async_trait]
impl IdempotencyRepository for SqlTx {
    async fn begin(&mut self, request: &IdempotentRequest, now: Timestamp) -> Result<Begun, StorageError> {
        let (principal, key) = (text(&request.principal_id), request.key.as_str());
        let digest = text(&request.digest);
        let begun = self.conn.execute(BEGIN, (&*principal, key, &*digest, now, now - KEPT_FOR)).await?;
        if begun == 1 {
            return Ok(Begun::First);
        }
        type Row = (String, Option<i64>, Option<String>);
        let found = self.conn.fetch_optional::<Row>(FIND, (&*principal, key)).await?;
        let (known, status, body) = found.ok_or(StorageError::Stale { entity: "idempotent_request" })?;
        if known != *digest {
            return Ok(Begun::OtherRequest);
        }
        // Without an answer it was begun and never finished, so nothing came of it.
        let Some((status, body)) = status.zip(body) else {
            return Ok(Begun::First);
        };
        let status = u16::try_from(status).map_err(|error| corrupt("idempotent_request")(&error))?;
        Ok(Begun::Replay(StoredAnswer { status, body }))
    }

    async fn finish(
        &mut self,
        request: &IdempotentRequest,
        answer: &StoredAnswer,
    ) -> Result<(), StorageError> {
        let IdempotentRequest { principal_id, key, .. } = request;
        let binds = (principal_id, key.as_str(), i64::from(answer.status), &answer.body);
        self.conn.execute(FINISH, binds).await.map(drop)
    }

    async fn purge(&mut self, cutoff: Timestamp) -> Result<u64, StorageError> {
        self.conn.execute(PURGE, (cutoff,)).await
    }
}
