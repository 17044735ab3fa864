//! What models used, as older versions wrote it.

use crate::sql::migrations;

/// Calls and sums of the version before.
const BEFORE: &str = "INSERT INTO router (id, name, tz, created_at) VALUES ('r1', 'R', 'UTC', 1);
    INSERT INTO model_call (turn_id, position, router_id, agent_id, model, day, input_tokens, cached_input_tokens, output_tokens)
        VALUES ('t1', 0, 'r1', 'a1', 'm', '2026-11-30', 10, 2, 3);
    INSERT INTO model_usage (router_id, day, agent_id, model, calls, input_tokens, cached_input_tokens, output_tokens, cost,
        unpriced_tokens) VALUES ('r1', '2026-11-29', 'a1', 'm', 7, 100, 20, 30, 5, 0);";

/// What a process of the version before notes after the migration.
const LATER: &str = "INSERT INTO model_call (turn_id, position, router_id, agent_id, model, day, input_tokens, cached_input_tokens,
    output_tokens) VALUES ('t1', 1, 'r1', 'a1', 'm', '2026-11-30', 10, 2, 3);";

const NOTED: &str = "SELECT turn_id, work, agent_id, input_tokens FROM model_call ORDER BY position";

const COUNTED: &str = "SELECT day, work, agent_id, calls, input_tokens, cached_input_tokens, output_tokens, cost, unpriced_tokens
    FROM model_usage";

type Noted = (String, String, String, i64);

type Counted = (String, String, String, i64, i64, i64, i64, i64, i64);

macro_rules! stays {
    ($connection:ident, $all:expr) => {
        super::before(&$all, 72).run_direct(None, &mut $connection, false).await.expect("migrated");
        sqlx::raw_sql(BEFORE).execute(&mut $connection).await.expect("rows");
        $all.run_direct(None, &mut $connection, false).await.expect("migrated");
        sqlx::raw_sql(LATER).execute(&mut $connection).await.expect("rows");
        let noted: Vec<Noted> = sqlx::query_as(NOTED).fetch_all(&mut $connection).await.expect("calls");
        let call = ("t1".to_owned(), "turn".to_owned(), "a1".to_owned(), 10);
        assert_eq!(noted, [call.clone(), call]);
        let counted: Vec<Counted> = sqlx::query_as(COUNTED).fetch_all(&mut $connection).await.expect("sums");
        let [day, work, agent] = ["2026-11-29", "turn", "a1"].map(str::to_owned);
        assert_eq!(counted, [(day, work, agent, 7, 100, 20, 30, 5, 0)]);
    };
}

#[tokio::test]
async fn what_turns_used_before_stays_theirs() {
    let mut connection = super::sqlite().await;
    stays!(connection, migrations::sqlite());
    let Some(mut connection) = super::postgres().await else {
        return super::skipped("what_turns_used_before_stays_theirs");
    };
    stays!(connection, migrations::postgres());
}
