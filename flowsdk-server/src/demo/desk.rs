//! The helpdesk of the demonstration: a queue and two agents, whose password is in the data folder.

use std::net::SocketAddr;

use flowsdk_auth::audit::HasAuditLogs;
use flowsdk_auth::group::{Group, HasGroups};
use flowsdk_auth::permission::{Action, Permission, Resource};
use flowsdk_auth::recovery::HasPasswordRecoveries;
use flowsdk_auth::user::{Email, HasUsers, User, UserError, UserOperator, UserRole};
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::BoxError;
use flowsdk_core::id::{GroupId, UserId};
use flowsdk_core::kv::{Key, KeyValue, KeyValueExt as _};
use flowsdk_core::login_schedule::LoginSchedule;
use flowsdk_core::name::Name;
use flowsdk_core::record::{HasRecords, steps};
use flowsdk_core::router::HasRouters;
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::text::Language;
use flowsdk_crypto::PasswordHasher;
use flowsdk_helpdesk::agent::{DeskAgent, NewDeskAgent};
use flowsdk_helpdesk::queue::{HasQueues, NewQueue, Queue};
use secrecy::SecretString;

use super::{DataFolder, Demo, DeskLogin};
use crate::http_client::near;

/// The agents: their names, and the local part of their addresses.
const AGENTS: [(&str, &str); 2] = [("Ana", "ana"), ("Bruno", "bruno")];
/// The domain of their addresses, which is that of the administrator.
const DOMAIN: &str = "flowsdk.local";
/// The cost of the hash of their password. It is 120 random bits, which nobody guesses: a slower hash would do nothing but
/// hold the first start up. A login takes as long as that of others.
const PASSWORD_COST: u32 = 4;
/// After how many silent minutes a contact whom nobody answers goes back to the flow.
const ABANDON_AFTER: u32 = 30;

/// The key that is set once the helpdesk of the demonstration was made.
fn desk_key() -> Key<bool> {
    Key::new("demo-desk".to_owned(), None)
}

/// Makes the records of the helpdesk of the demonstration.
#[derive(Debug)]
pub struct DeskSeed<'a, S> {
    /// The store of the demonstration.
    pub store: &'a S,
    /// Its key-value store.
    pub kv: &'a dyn KeyValue,
    /// The clock and the ids.
    pub cx: &'a OpContext,
    /// The language of its names.
    pub language: Language,
}

impl<S: Store> DeskSeed<'_, S>
where
    S::Tx: HasUsers + HasGroups + HasPasswordRecoveries + HasAuditLogs + HasRouters + HasQueues,
    S::Tx: HasRecords<Queue> + HasRecords<DeskAgent>,
{
    /// Makes queue and agents, once a database, and keeps their login in `folder`, for a server that listens at `address`. Agents
    /// of a folder without their login, such as a restored one, get another password. Returns whether there is a router
    /// to work for.
    ///
    /// # Errors
    /// The database or the folder cannot be written.
    pub async fn plant(
        &self,
        folder: &DataFolder,
        demo: &Demo,
        address: SocketAddr,
    ) -> Result<bool, BoxError> {
        if self.store.read().await?.routers().find(&demo.router_id).await?.is_none() {
            return Ok(false);
        }
        let known = DeskLogin::find(folder.path())?;
        let is_known = known.is_some();
        let password =
            known.map_or_else(|| SecretString::from(self.cx.ids().secret(1)), |known| known.password);
        let emails = AGENTS.map(|(_, local)| format!("{local}@{DOMAIN}")).to_vec();
        let login = DeskLogin { url: format!("http://{}", near(address)), emails, password };
        // Before the users are there, so that a crash leaves none whose password nobody has.
        login.write(folder.path())?;
        let was_made = self.kv.read(&desk_key()).await?.is_some();
        if !was_made {
            self.create(demo, &login).await?;
            self.kv.claim(&desk_key(), &true).await?;
        } else if !is_known {
            self.reset(&login).await?;
        }
        Ok(true)
    }

    async fn create(&self, demo: &Demo, login: &DeskLogin) -> Result<(), BoxError> {
        let hasher = PasswordHasher::new(1, 1);
        let password_hash = hasher.hash(&login.password, PASSWORD_COST).await?;
        let (ids, now) = (self.cx.ids(), self.cx.now());
        let group = self.group(demo);
        let mut tx = self.store.begin().await?;
        tx.groups().insert(&group).await?;
        let queue = steps::create(&mut tx, self.queue(demo)?, self.cx).await?;
        for ((name, _), email) in AGENTS.into_iter().zip(&login.emails) {
            let user = User {
                id: UserId::generate(ids),
                name: name.to_owned(),
                email: Email::parse(email)?,
                phone: String::new(),
                password_hash: password_hash.clone(),
                role: UserRole::Member,
                group_id: Some(group.id.clone()),
                logged_out_at: None,
                created_at: now,
                updated_at: now,
            };
            if !tx.users().insert_if_absent(&user).await? {
                // Somebody made a user of this name, or an earlier start made everything.
                return Ok(());
            }
            let agent = NewDeskAgent {
                router_id: demo.router_id.clone(),
                user_id: user.id,
                group_id: None,
                can_active_dispatch: false,
                login_schedule: LoginSchedule::default(),
            };
            let agent = steps::create(&mut tx, agent, self.cx).await?;
            tx.queues().add_agent(&queue.id, &agent.id).await?;
        }
        Ok(tx.commit().await?)
    }

    /// What agents need: tickets and their messages.
    fn group(&self, demo: &Demo) -> Group {
        let may = |resource, actions: &[Action]| Permission { resource, actions: actions.to_vec() };
        Group {
            id: GroupId::generate(self.cx.ids()),
            name: self.name().to_owned(),
            permissions: vec![
                may(Resource::Helpdesk, &[Action::Read, Action::Write]),
                may(Resource::Chats, &[Action::Read]),
            ]
            .into(),
            router_ids: vec![demo.router_id.clone()],
            created_at: self.cx.now(),
            updated_at: self.cx.now(),
        }
    }

    fn queue(&self, demo: &Demo) -> Result<NewQueue, BoxError> {
        Ok(NewQueue {
            abandon_after_minutes: Some(ABANDON_AFTER),
            ..NewQueue::named(demo.router_id.clone(), Name::parse(self.name())?)
        })
    }

    fn name(&self) -> &'static str {
        match self.language {
            Language::Portuguese => "Atendimento",
            Language::English => "Service",
        }
    }

    async fn reset(&self, login: &DeskLogin) -> Result<(), BoxError> {
        let hasher = PasswordHasher::new(1, 1);
        let operator = UserOperator::new(self.store, self.cx, &hasher, PASSWORD_COST);
        for email in &login.emails {
            match operator.reset_password(&Email::parse(email)?, &login.password).await {
                // Whoever was deleted stays so.
                Ok(()) | Err(UserError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
