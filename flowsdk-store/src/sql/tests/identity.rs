//! Rows that no port writes: agents, whom the helpdesk will bring, and rows from before a migration.

use flowsdk_auth::schedule::{AgentSchedule, HasLoginSchedules as _, LoginRange, LoginSchedule};
use flowsdk_core::store::{Store as _, Transaction as _};
use sqlx::AssertSqlSafe;

use crate::sql::statement::sql;
use crate::sql::{OutboxRoutes, SqlStore, migrations};

const USER: &str = "INSERT INTO user_account (id, name, email, phone, password_hash, user_role, created_at)
     VALUES ('u1', 'Ana', 'ana@example.com', '', 'hash', 'member', 7)";
const ROUTERS: [&str; 2] = [
    "INSERT INTO router (id, name, tz, created_at) VALUES ('r1', 'R', 'Europe/Lisbon', 7)",
    "INSERT INTO router (id, name, tz, created_at) VALUES ('r2', 'R', 'America/Sao_Paulo', 7)",
];
const AGENTS: [&str; 2] = [
    "INSERT INTO agent (id, router_id, user_id, created_at) VALUES ('a1', 'r2', 'u1', 7)",
    r#"INSERT INTO agent (id, router_id, user_id, created_at, login_schedule)
       VALUES ('a2', 'r1', 'u1', 7, '[{"weekday":0,"from":"22:00","to":"06:00"}]')"#,
];

#[tokio::test]
async fn schedules_are_those_of_every_router_of_an_agent() {
    let Some(server) = super::new_postgres().await else {
        super::skipped("schedules_are_those_of_every_router");
        return schedules("sqlite::memory:").await;
    };
    schedules("sqlite::memory:").await;
    schedules(&server).await;
}

async fn schedules(url: &str) {
    let url = url.parse().expect("an address");
    let store = SqlStore::connect(&url, OutboxRoutes::embedded([])).await.expect("a database");
    let mut tx = store.begin().await.expect("begin");
    for statement in [USER].into_iter().chain(ROUTERS).chain(AGENTS) {
        tx.conn.execute(sql(statement), ()).await.expect("a row");
    }
    tx.commit().await.expect("commit");
    let mut tx = store.read().await.expect("read");
    let range = LoginRange { weekday: 0, from: "22:00".to_owned(), to: "06:00".to_owned() };
    let schedule = |router: &str, tz: &str, ranges| AgentSchedule {
        router_id: router.parse().expect("an id"),
        tz: tz.to_owned(),
        schedule: LoginSchedule(ranges),
    };
    let expected =
        [schedule("r1", "Europe/Lisbon", vec![range]), schedule("r2", "America/Sao_Paulo", Vec::new())];
    let user = "u1".parse().expect("an id");
    assert_eq!(tx.login_schedules().of_user(&user).await.expect("schedules"), expected);
}

const UPDATED: &str = "SELECT updated_at FROM user_account UNION ALL SELECT updated_at FROM router";

/// Rows from before there was `updated_at` were last changed when they were created.
#[tokio::test]
async fn old_rows_have_a_last_change() {
    macro_rules! upgraded {
        ($all:expr, $connection:expr) => {
            super::before(&$all, 4).run_direct(None, &mut $connection, false).await.expect("migrated");
            for statement in [USER].into_iter().chain(ROUTERS) {
                sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut $connection).await.expect("a row");
            }
            $all.run_direct(None, &mut $connection, false).await.expect("migrated");
            let updated: Vec<(i64,)> =
                sqlx::query_as(UPDATED).fetch_all(&mut $connection).await.expect("rows");
            assert_eq!(updated, [(7,); 3]);
        };
    }
    let mut connection = super::sqlite().await;
    upgraded!(migrations::sqlite(), connection);
    let Some(mut connection) = super::postgres().await else {
        return super::skipped("old_rows_have_a_last_change");
    };
    upgraded!(migrations::postgres(), connection);
}
