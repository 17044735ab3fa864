//! The registry of references knows every reference of the schema, and the effect of its foreign key.

use std::collections::{BTreeMap, BTreeSet};

use crate::sql::references::{NO_REFERENCES, OnDelete, REFERENCES};

const COLUMNS: &str = "SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
     WHERE t.type = 'table' AND t.name NOT LIKE '_sqlx%' AND c.name LIKE '%\\_id' ESCAPE '\\'";

const KEYS: &str = r#"SELECT t.name, f."from", f."table", f.on_delete
     FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS f WHERE t.type = 'table'"#;

const POSTGRES_COLUMNS: &str = "SELECT table_name::text, column_name::text FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name NOT LIKE '\\_sqlx%' AND column_name LIKE '%\\_id'";

const POSTGRES_KEYS: &str = "SELECT t.relname::text, a.attname::text, r.relname::text,
        CASE c.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' ELSE 'NO ACTION' END
     FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class r ON r.oid = c.confrelid
     JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = c.conkey[1] WHERE c.contype = 'f'";

/// Columns that refer to rows, and whose names do not say so.
const OTHERWISE_NAMED: [(&str, &str); 1] = [("webhook_delivery", "key")];

type Columns = Vec<(String, String)>;
/// Table, column, the table it points to, the effect of a deletion there.
type Keys = Vec<(String, String, String, String)>;

fn knows_every_reference(columns: Columns, keys: Keys) {
    let pairs: BTreeSet<_> = REFERENCES.iter().map(|one| (one.table, one.column, one.to)).collect();
    assert_eq!(pairs.len(), REFERENCES.len(), "a reference is listed twice");
    let listed: BTreeSet<_> = REFERENCES.iter().map(|one| (one.table, one.column)).collect();
    let others: BTreeSet<_> = NO_REFERENCES.iter().map(|(table, column, _)| (*table, *column)).collect();
    assert!(listed.is_disjoint(&others));
    let mut columns: BTreeSet<_> = columns.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    columns.extend(OTHERWISE_NAMED);
    assert_eq!(listed.union(&others).copied().collect::<BTreeSet<_>>(), columns);
    let mut keys: BTreeMap<_, _> = keys
        .iter()
        .map(|(table, column, to, action)| {
            ((table.as_str(), column.as_str()), (to.as_str(), action.as_str()))
        })
        .collect();
    for one in REFERENCES {
        let key = keys.remove(&(one.table, one.column));
        let expected: &[Option<&str>] = match one.on_delete {
            OnDelete::Cascade => &[Some("CASCADE")],
            OnDelete::SetNull => &[Some("SET NULL")],
            OnDelete::Detach => &[None],
            // A key without an action refuses a deletion that forgets the row.
            OnDelete::End | OnDelete::Stays(_) => &[None, Some("NO ACTION")],
        };
        assert!(expected.contains(&key.map(|(_, action)| action)), "{one:?}: {key:?}");
        assert!(key.is_none_or(|(to, _)| to == one.to), "{one:?}: {key:?}");
    }
    assert_eq!(keys, BTreeMap::new(), "keys that are not listed");
}

#[tokio::test]
async fn the_registry_knows_every_reference_of_both_engines() {
    let mut connection = super::migrated_sqlite().await;
    let columns = sqlx::query_as(COLUMNS).fetch_all(&mut connection).await.expect("columns");
    let keys = sqlx::query_as(KEYS).fetch_all(&mut connection).await.expect("keys");
    knows_every_reference(columns, keys);
    let Some(mut connection) = super::migrated_postgres().await else {
        return super::skipped("the_registry_knows_every_reference");
    };
    let columns = sqlx::query_as(POSTGRES_COLUMNS).fetch_all(&mut connection).await.expect("columns");
    let keys = sqlx::query_as(POSTGRES_KEYS).fetch_all(&mut connection).await.expect("keys");
    knows_every_reference(columns, keys);
}

const INDEXED: &str = "SELECT t.name, c.name FROM sqlite_schema AS t, pragma_index_list(t.name) AS i,
        pragma_index_info(i.name) AS c
     WHERE t.type = 'table' AND c.seqno = 0";

const POSTGRES_INDEXED: &str = "SELECT t.relname::text, a.attname::text
     FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
     JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]";

/// Requires an index for each reference whose rows a deletion or a merge looks for. Without one it reads the table.
fn finds_every_reference(indexed: Columns) {
    let indexed: BTreeSet<_> = indexed.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let read_whole: Vec<_> = REFERENCES
        .iter()
        .filter(|one| !matches!(one.on_delete, OnDelete::Stays(_)) || one.label.is_some())
        .map(|one| (one.table, one.column))
        .filter(|one| !indexed.contains(one))
        .collect();
    assert_eq!(read_whole, []);
}

#[tokio::test]
async fn every_reference_that_a_deletion_follows_has_an_index() {
    let mut connection = super::migrated_sqlite().await;
    finds_every_reference(sqlx::query_as(INDEXED).fetch_all(&mut connection).await.expect("indexes"));
    let Some(mut connection) = super::migrated_postgres().await else {
        return super::skipped("every_reference_that_a_deletion_follows_has_an_index");
    };
    finds_every_reference(
        sqlx::query_as(POSTGRES_INDEXED).fetch_all(&mut connection).await.expect("indexes"),
    );
}
