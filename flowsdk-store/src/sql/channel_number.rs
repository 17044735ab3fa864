//! Numbers of the phone channel.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_channels::channel_number::{ChannelNumber, ChannelNumberRepository, FormKeys, HasChannelNumbers};
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChannelNumberId, RouterId};
use flowsdk_core::page::{Page, PageRequest, Searched};

use super::SqlTx;
use super::bind::Binder;
use super::list::{self, ListSql};
use super::record::{All, Changes, Part, Record as _, record};
use super::row::{Cells, corrupt};
use super::statement::{Sql, sql, sql_locking};

record! {
    ChannelNumber in "channel_number" {
        id, router_id, phone_number_id, created_at;
        name, phone_number, business_account_id, access_token = access_token_encrypted,
        keys as Option<FormKeys>, active, updated_at
    }
}

impl Part for Option<FormKeys> {
    const COLUMNS: &'static str =
        "encryption_public_key, encryption_private_key_encrypted, encryption_passphrase_encrypted";
    const COUNT: usize = 3;

    fn read(cells: &mut Cells<'_>, table: &'static str) -> Result<Self, StorageError> {
        let public_key: Option<String> = cells.of(table, "encryption_public_key")?;
        let private_key: Option<Encrypted> = cells.of(table, "encryption_private_key_encrypted")?;
        let passphrase: Option<Encrypted> = cells.of(table, "encryption_passphrase_encrypted")?;
        match (public_key, private_key, passphrase) {
            (Some(public_key), Some(private_key), Some(passphrase)) => {
                Ok(Some(FormKeys { public_key, private_key, passphrase }))
            }
            (None, None, None) => Ok(None),
            _ => Err(corrupt(table)(&"half a key pair")),
        }
    }

    fn bind(&self, to: &mut Binder<'_>) {
        let keys = self.as_ref();
        to.bind(keys.map(|keys| &keys.public_key))
            .bind(keys.map(|keys| &keys.private_key))
            .bind(keys.map(|keys| &keys.passphrase));
    }
}

pub(super) static LIST: ListSql = ListSql::of::<ChannelNumber>().within("router_id");

const FIND: Sql = sql(concat!(ChannelNumber::SELECT, " WHERE id = $1"));

const FIND_FOR_UPDATE: Sql = sql_locking!(concat!(ChannelNumber::SELECT, " WHERE id = $1"));

const INSERT: Sql = sql(concat!(ChannelNumber::INSERT, " ON CONFLICT (phone_number_id) DO NOTHING"));

const SAVE: Sql = sql(ChannelNumber::UPDATE);

const DELETE: Sql = sql("DELETE FROM channel_number WHERE id = $1");

super::statement::statements! { FIND, FIND_FOR_UPDATE, INSERT, SAVE, DELETE; LIST }

super::accessor::has!(HasChannelNumbers::channel_numbers -> ChannelNumberRepository);

#[async_trait]
impl ChannelNumberRepository for SqlTx {
    async fn list(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<ChannelNumber>, StorageError> {
        self.conn.page(&LIST, &(), list::routers(router, only), page, Searched::place).await
    }

    async fn find(&mut self, id: &ChannelNumberId) -> Result<Option<ChannelNumber>, StorageError> {
        self.conn.fetch_optional(FIND, (id,)).await
    }

    async fn find_for_update(&mut self, id: &ChannelNumberId) -> Result<Option<ChannelNumber>, StorageError> {
        self.conn.fetch_optional(FIND_FOR_UPDATE, (id,)).await
    }

    async fn insert_if_absent(&mut self, number: &ChannelNumber) -> Result<bool, StorageError> {
        let is_new = self.conn.execute(INSERT, All(number)).await? > 0;
        if is_new {
            self.conn.insert_channels(&[number.into()]).await?;
        }
        Ok(is_new)
    }

    async fn save(&mut self, number: &ChannelNumber) -> Result<(), StorageError> {
        self.conn.execute(SAVE, Changes(number)).await.map(drop)
    }

    async fn delete(&mut self, id: &ChannelNumberId) -> Result<(), StorageError> {
        self.conn.delete_channel_of_number(id).await?;
        self.conn.execute(DELETE, (id,)).await.map(drop)
    }
}
