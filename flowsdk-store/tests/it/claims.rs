//! Claims on a Postgres database.

use std::time::Duration;

use flowsdk_store::sql::{ClaimError, DatabaseUrl, Hold};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};
use tokio_util::sync::CancellationToken;

use crate::support::databases::{connected, new_postgres};

const OWNERS: &str = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

/// An administrator of the database server.
struct Administrator(PgConnection);

impl Administrator {
    async fn of(url: &DatabaseUrl) -> Self {
        let DatabaseUrl::Postgres(options) = url else { panic!("not Postgres") };
        let options: &PgConnectOptions = options;
        Self(options.connect().await.expect("connects"))
    }

    async fn owners(&mut self) -> Vec<i32> {
        sqlx::query_scalar(OWNERS).fetch_all(&mut self.0).await.expect("answers")
    }

    /// Ends the sessions that have a claim, as a restart of the server does; returns when they are gone.
    async fn end_owners(&mut self) {
        for pid in self.owners().await {
            let ended = sqlx::query("SELECT pg_terminate_backend($1, 5000)").bind(pid);
            ended.execute(&mut self.0).await.expect("answers");
        }
        assert!(self.owners().await.is_empty());
    }

    /// Returns when somebody has a claim.
    async fn sees_an_owner(&mut self) {
        let seen = async {
            while self.owners().await.is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), seen).await.expect("a claim");
    }
}

#[tokio::test]
async fn one_process_alone_or_several_that_share() {
    let Some((url, name)) = new_postgres().await else { return };
    let alone = url.claim(Hold::Alone).await.expect("free");
    for hold in [Hold::Alone, Hold::Shared] {
        assert!(matches!(url.claim(hold).await, Err(ClaimError::Taken)));
    }
    alone.release().await;
    let shared =
        (url.claim(Hold::Shared).await.expect("free"), url.claim(Hold::Shared).await.expect("shared"));
    assert!(matches!(url.claim(Hold::Alone).await, Err(ClaimError::Taken)));
    shared.0.release().await;
    assert!(matches!(url.claim(Hold::Alone).await, Err(ClaimError::Taken)), "one is left");
    shared.1.release().await;
    url.claim(Hold::Alone).await.expect("free").release().await;
    connected(name);
}

#[tokio::test]
async fn a_claim_that_the_server_forgot_is_taken_again() {
    let Some((url, name)) = new_postgres().await else { return };
    let mut administrator = Administrator::of(&url).await;
    let (claim, stop) = (url.claim(Hold::Alone).await.expect("free"), CancellationToken::new());
    let watched = async {
        administrator.end_owners().await;
        administrator.sees_an_owner().await;
        assert!(matches!(url.claim(Hold::Alone).await, Err(ClaimError::Taken)));
        stop.cancel();
    };
    let (kept, ()) = tokio::join!(claim.keep(&stop), watched);
    kept.expect("it was kept");
    claim.release().await;
    assert!(administrator.owners().await.is_empty());
    connected(name);
}

#[tokio::test]
async fn a_process_that_lost_its_claim_to_another_one_is_told() {
    let Some((url, name)) = new_postgres().await else { return };
    let mut administrator = Administrator::of(&url).await;
    let claim = url.claim(Hold::Alone).await.expect("free");
    administrator.end_owners().await;
    let other = url.claim(Hold::Alone).await.expect("forgotten");
    let kept = claim.keep(&CancellationToken::new()).await;
    assert!(matches!(kept, Err(ClaimError::Taken)));
    other.release().await;
    connected(name);
}
