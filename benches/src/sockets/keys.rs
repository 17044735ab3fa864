//! Visitors with keys: stored before, and tried with wrong ones.

use std::path::Path;

use anyhow::{Context as _, Result};
use flowsdk_channels::webchat::{HasWebchat as _, WebchatIdentity, key_digest};
use flowsdk_core::contact::{Contact, HasContacts as _, UNNAMED_VISITOR};
use flowsdk_core::context::OpContext;
use flowsdk_core::id::{IdentityId, VisitorId};
use flowsdk_core::session::{Channel, SessionId};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::{OutboxRoutes, SqlStore};
use secrecy::SecretString;
use tokio::task::JoinSet;

use crate::load::{Entrance, Known, NotLetIn, Visitor};
use crate::webchat::seed;

/// The least cost of bcrypt. Right keys are recognised by their digest, so no hash is looked at for them.
const CHEAP: u32 = 4;

/// Stores `count` visitors of `channel` as if they had come before.
pub(super) async fn store(file: &Path, channel: &seed::Channel, count: usize) -> Result<Vec<Known>> {
    let store = SqlStore::connect(&seed::sqlite(file), OutboxRoutes::embedded([])).await?;
    let cx = OpContext::system();
    // Of a key that nobody has.
    let session_key_hash = bcrypt::hash(cx.ids().secret(2), CHEAP)?;
    let mut tx = store.begin().await?;
    let mut known = Vec::with_capacity(count);
    for _ in 0..count {
        let visitor = VisitorId::generate(cx.ids());
        let key = cx.ids().secret(2);
        let session = SessionId::webchat(channel.channel_id(), &visitor, None)?;
        let identity = session.contact_identity();
        let contact = Contact::create(&cx, identity, UNNAMED_VISITOR.to_owned(), Channel::Webchat);
        let contact = tx.contacts().insert_or_get(&contact).await?;
        let id = IdentityId::generate(cx.ids());
        let row = WebchatIdentity {
            session_key_digest: key_digest(&id, &SecretString::from(key.clone())),
            id,
            channel_id: channel.channel_id().clone(),
            contact_id: contact.id,
            session_key_hash: session_key_hash.clone(),
            created_at: cx.now(),
        };
        tx.webchat().insert_identity(&row).await?;
        known.push(Known { user_id: visitor.to_string(), session_key: key });
    }
    tx.commit().await.context("the visitors of the race")?;
    store.close().await;
    Ok(known)
}

/// The number of those of `auths` that are refused with `code`. All of them try at once.
///
/// # Errors
/// One is refused for another reason, or its connection fails.
pub(super) async fn refused(entrance: &Entrance, auths: Vec<String>, code: &str) -> Result<usize> {
    let mut trying = JoinSet::new();
    for auth in auths {
        let entrance = entrance.clone();
        trying.spawn_local(async move { Visitor::enter(&entrance, &auth, false).await });
    }
    let mut refused = 0;
    while let Some(tried) = trying.join_next().await {
        match tried? {
            Ok(_) => {}
            Err(error) => match error.downcast_ref::<NotLetIn>() {
                Some(why) if why.has_code(code) => refused += 1,
                _ => return Err(error),
            },
        }
    }
    Ok(refused)
}
