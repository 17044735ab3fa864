//! Interactive forms.

use flowsdk_core::id::RouterId;
use flowsdk_core::record::{HasRecords, RecordRepository};
use flowsdk_core::store::Store;
use flowsdk_core::testkit::store::{Samples, StoreUnderTest};
use flowsdk_core::time::Timestamp;
use serde_json::json;

use super::{ChannelsTx, World, later, number, provider_id};
use crate::channel_number::HasChannelNumbers;
use crate::form::{FormStatus, HasFormDefinitions, InteractiveForm};

/// A form comes back as it was saved, with its definition apart; it outlives its number, and goes with its router.
pub async fn a_form_is_read_back_with_its_definition<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: ChannelsTx,
{
    let samples = Samples {
        record: |id, router, number, at| form(id, router, ["A", "B"][number], at),
        states: |first| {
            let changed = InteractiveForm {
                status: FormStatus::Published,
                revision: 7,
                description: None,
                provider_form_id: None,
                updated_at: later(5),
                ..first.clone()
            };
            vec![InteractiveForm { name: "C".to_owned(), ..changed.clone() }, changed]
        },
        filter: |router| router,
        is_unique: true,
    };
    samples.are_kept(&subject).await;
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let number = number("n1", &world.router, "111", 0);
    assert!(tx.channel_numbers().insert_if_absent(&number).await.expect("insert"));
    let alone = form("i1", &world.router, "A", later(0));
    let numbered = InteractiveForm { channel_number_id: Some(number.id.clone()), ..alone.clone() };
    forms(&mut tx).insert(&numbered).await.expect("insert");
    let definition = json!({ "screens": [{ "id": "é", "n": 1.5 }] }).as_object().expect("an object").clone();
    assert_eq!(tx.form_definitions().find(&alone.id).await.expect("a definition"), serde_json::Map::new());
    for stored in [&serde_json::Map::new(), &definition] {
        tx.form_definitions().put(&alone.id, stored).await.expect("put");
        assert_eq!(&tx.form_definitions().find(&alone.id).await.expect("a definition"), stored);
    }
    for state in [&alone, &numbered] {
        forms(&mut tx).save(state).await.expect("save");
        assert_eq!(forms(&mut tx).find(&alone.id).await.expect("find").as_ref(), Some(state));
    }
    tx.channel_numbers().delete(&number.id).await.expect("delete");
    assert_eq!(forms(&mut tx).find(&alone.id).await.expect("find"), Some(alone.clone()));
    forms(&mut tx).delete(&alone.id).await.expect("delete");
    assert_eq!(tx.form_definitions().find(&alone.id).await.expect("a definition"), serde_json::Map::new());
}

fn form(id: &str, router: &RouterId, name: &str, at: Timestamp) -> InteractiveForm {
    InteractiveForm {
        id: id.parse().expect("an id"),
        router_id: router.clone(),
        name: name.to_owned(),
        description: Some("Ação 👋".to_owned()),
        status: FormStatus::Draft,
        revision: 1,
        provider_form_id: Some(provider_id("4711")),
        channel_number_id: None,
        flow_id: None,
        created_at: at,
        updated_at: at,
    }
}

fn forms(tx: &mut impl HasRecords<InteractiveForm>) -> &mut dyn RecordRepository<InteractiveForm> {
    tx.records()
}
