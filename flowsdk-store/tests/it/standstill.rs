//! A Postgres server that stands still: its connections stay open, and nothing is answered on them.

use std::time::Duration;

use flowsdk_core::fault::StorageError;
use flowsdk_core::router::HasRouters as _;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::{DatabaseUrl, SqlStore, SqlTx};
use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::support::databases::{connected, new_postgres, routes};

/// The way to a server, on which everything can be held up.
struct Way {
    port: u16,
    blocked: watch::Sender<bool>,
    _work: JoinSet<()>,
}

impl Way {
    async fn to(server: &PgConnectOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let server = (server.get_host().to_owned(), server.get_port());
        let (blocked, is_blocked) = watch::channel(false);
        let mut work = JoinSet::new();
        work.spawn(async move {
            let mut pipes = JoinSet::new();
            while let Ok((near, _)) = listener.accept().await {
                let far = TcpStream::connect(&server).await.expect("the server is there");
                let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
                pipes.spawn(pass(near_in, far_out, is_blocked.clone()));
                pipes.spawn(pass(far_in, near_out, is_blocked.clone()));
            }
        });
        Self { port, blocked, _work: work }
    }
}

/// Passes bytes on, except while that is blocked.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut blocked: watch::Receiver<bool>,
) {
    let mut bytes = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        if blocked.wait_for(|blocked| !blocked).await.is_err() || to.write_all(&bytes[..read]).await.is_err()
        {
            return;
        }
    }
}

async fn asks(tx: &mut SqlTx) -> Result<(), StorageError> {
    tx.routers().find_routes(&["wc-nobody".to_owned()]).await.map(drop)
}

/// Waiting for a server that does not answer would hold up callers for as long as the network waits.
#[tokio::test]
async fn transactions_end_when_the_server_stands_still() {
    let Some((url, name)) = new_postgres().await else { return };
    let DatabaseUrl::Postgres(server) = url else { panic!("not Postgres") };
    let way = Way::to(&server).await;
    let options = Box::new((*server).host("127.0.0.1").port(way.port));
    let store = SqlStore::connect(&DatabaseUrl::Postgres(options), routes()).await.expect("a database");
    connected(name);
    let stop = CancellationToken::new();
    let mut watching = JoinSet::new();
    let (watched, until) = (store.clone(), stop.clone());
    watching.spawn(async move { watched.watch_server(&until).await });

    let (mut reading, mut writing) =
        (store.read().await.expect("begins"), store.begin().await.expect("begins"));
    asks(&mut reading).await.expect("answers");
    asks(&mut writing).await.expect("answers");
    way.blocked.send_replace(true);
    let ends =
        async { tokio::join!(asks(&mut reading), writing.commit(), async { store.begin().await.map(drop) }) };
    let (read, committed, begun) =
        tokio::time::timeout(Duration::from_secs(60), ends).await.expect("they end");
    for ended in [read, committed, begun] {
        assert!(matches!(ended, Err(StorageError::Unavailable(_))), "{ended:?}");
    }
    drop(reading);
    assert!(matches!(store.read().await, Err(StorageError::Unavailable(_))), "nobody waits now");

    way.blocked.send_replace(false);
    let answered = async {
        loop {
            if let Ok(mut tx) = store.begin().await
                && asks(&mut tx).await.is_ok()
            {
                return tx.commit().await;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let answered = tokio::time::timeout(Duration::from_secs(60), answered).await.expect("it answers again");
    answered.expect("commits");
    stop.cancel();
    while watching.join_next().await.is_some() {}
    store.close().await;
}
