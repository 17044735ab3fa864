//! Numbers of the phone channel.

use async_trait::async_trait;
use flowsdk_channels::channel_number::{ChannelNumber, ChannelNumberRepository, FormKeys};
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChannelNumberId, RouterId};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::executor::{corrupt, execute, fetch_optional, id, text};
use super::page::{self, fetch_within};
use super::statement::{Sql, sql, sql_list, sql_locking};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, router_id, name, phone_number_id, phone_number, business_account_id,
                access_token_encrypted, encryption_public_key, encryption_private_key_encrypted,
                encryption_passphrase_encrypted, active, created_at, updated_at FROM channel_number WHERE ",
            $rest
        )
    };
}

const LIST: Sql = sql(select!("(created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"));

const LIST_OF: Sql =
    sql(select!("router_id = $4 AND (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"));

const LIST_AMONG: Sql = sql_list!(
    select!("router_id IN "),
    "$4",
    " AND (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"
);

const FIND: Sql = sql(select!("id = $1"));

const FIND_FOR_UPDATE: Sql = sql_locking!(select!("id = $1"));

const INSERT: Sql = sql("INSERT INTO channel_number (id, router_id, name, phone_number_id, phone_number,
        business_account_id, access_token_encrypted, encryption_public_key, encryption_private_key_encrypted,
        encryption_passphrase_encrypted, active, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
     ON CONFLICT (phone_number_id) DO NOTHING");

const SAVE: Sql = sql("UPDATE channel_number SET name = $2, phone_number = $3, business_account_id = $4,
        access_token_encrypted = $5, encryption_public_key = $6, encryption_private_key_encrypted = $7,
        encryption_passphrase_encrypted = $8, active = $9, updated_at = $10 WHERE id = $1");

const DELETE: Sql = sql("DELETE FROM channel_number WHERE id = $1");

super::statement::statements! { LIST, LIST_OF, LIST_AMONG, FIND, FIND_FOR_UPDATE, INSERT, SAVE, DELETE }

type Row = (
    String,
    String,
    String,
    String,
    String,
    String,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<String>,
    i64,
    i64,
    i64,
);

fn number(row: Row) -> Result<ChannelNumber, StorageError> {
    const ENTITY: &str = "channel_number";
    let (
        number_id,
        router,
        name,
        phone_number_id,
        phone_number,
        business_account_id,
        token,
        public_key,
        private_key,
        passphrase,
        active,
        created_at,
        updated_at,
    ) = row;
    let keys = match (public_key, private_key, passphrase) {
        (Some(public_key), Some(private_key), Some(passphrase)) => Some(FormKeys {
            public_key,
            private_key: Encrypted::from_stored(private_key),
            passphrase: Encrypted::from_stored(passphrase),
        }),
        (None, None, None) => None,
        _ => return Err(corrupt(ENTITY)(&"half a key pair")),
    };
    Ok(ChannelNumber {
        id: id(ENTITY, number_id)?,
        router_id: id(ENTITY, router)?,
        name,
        phone_number_id: id(ENTITY, phone_number_id)?,
        phone_number: id(ENTITY, phone_number)?,
        business_account_id: id(ENTITY, business_account_id)?,
        access_token: token.map(Encrypted::from_stored),
        keys,
        active: active != 0,
        created_at: Timestamp::from_millis(created_at),
        updated_at: Timestamp::from_millis(updated_at),
    })
}

#[async_trait]
impl ChannelNumberRepository for SqlTx {
    async fn list(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<ChannelNumber>, StorageError> {
        let rows = fetch_within!(self.conn, Row, [LIST, LIST_OF, LIST_AMONG], router, only, page)?;
        page::of(rows, page, number, |one| (one.created_at, one.id.to_string()))
    }

    async fn find(&mut self, id: &ChannelNumberId) -> Result<Option<ChannelNumber>, StorageError> {
        fetch_optional!(self.conn, Row, FIND, id.as_str())?.map(number).transpose()
    }

    async fn find_for_update(&mut self, id: &ChannelNumberId) -> Result<Option<ChannelNumber>, StorageError> {
        fetch_optional!(self.conn, Row, FIND_FOR_UPDATE, id.as_str())?.map(number).transpose()
    }

    async fn insert_if_absent(&mut self, number: &ChannelNumber) -> Result<bool, StorageError> {
        let keys = number.keys.as_ref();
        let inserted = execute!(
            self.conn,
            INSERT,
            number.id.as_str(),
            number.router_id.as_str(),
            text(&number.name),
            number.phone_number_id.as_str(),
            number.phone_number.as_str(),
            number.business_account_id.as_str(),
            number.access_token.as_ref().map(Encrypted::as_stored),
            keys.map(|keys| keys.public_key.as_str()),
            keys.map(|keys| keys.private_key.as_stored()),
            keys.map(|keys| keys.passphrase.as_stored()),
            i64::from(number.active),
            number.created_at.as_millis(),
            number.updated_at.as_millis(),
        )?;
        Ok(inserted > 0)
    }

    async fn save(&mut self, number: &ChannelNumber) -> Result<(), StorageError> {
        let keys = number.keys.as_ref();
        execute!(
            self.conn,
            SAVE,
            number.id.as_str(),
            text(&number.name),
            number.phone_number.as_str(),
            number.business_account_id.as_str(),
            number.access_token.as_ref().map(Encrypted::as_stored),
            keys.map(|keys| keys.public_key.as_str()),
            keys.map(|keys| keys.private_key.as_stored()),
            keys.map(|keys| keys.passphrase.as_stored()),
            i64::from(number.active),
            number.updated_at.as_millis(),
        )
        .map(drop)
    }

    async fn delete(&mut self, id: &ChannelNumberId) -> Result<(), StorageError> {
        execute!(self.conn, DELETE, id.as_str()).map(drop)
    }
}
