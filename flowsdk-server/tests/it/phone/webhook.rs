//! The webhook of the phone channel, as its provider calls it (rulings C2, C3, S4).

use std::time::Duration;

use flowsdk_channels::phone::webhook::{SIGNATURE_HEADER, sign};
use flowsdk_core::message::HasMessages as _;
use flowsdk_core::store::{Store as _, Transaction as _};
use serde_json::{Value, json};

use super::{SECRET, Shop, bodies, deliver, delivery, now, post, transcript};
use crate::harness::{Api, PrivateRedis, Setup, eventually, everywhere, http};

everywhere!(a_conversation_by_phone, who_is_refused);
everywhere!(
    in process:
    both_forms_of_a_number_are_one_contact,
    several_accounts_in_one_delivery,
    a_router_without_a_flow_stores_only,
    whoever_hides_their_number_goes_on_in_their_session,
    a_new_number_is_the_same_contact,
    a_new_user_id_is_the_same_contact,
    what_another_app_signs_changes_nothing,
    guesses_are_limited_by_place,
    a_number_that_was_set_up_a_moment_ago_loses_nothing,
    identities_of_other_channels_are_refused,
    numbers_have_ids_of_messages_of_their_own,
    reactions_are_stored_and_answer_nothing,
    secrets_are_texts_that_a_header_can_have,
);

async fn a_conversation_by_phone(setup: Setup) {
    setup.plant(SECRET);
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await.answering(&admin).await;

    // The provider checks the address first.
    let verify = |path: &str, token: &str| {
        format!("{path}?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token={token}")
    };
    let of_router = format!("/phone/webhook/{}", shop.router);
    for path in ["/phone/webhook", &of_router] {
        let answer = http::get(server.addr, &verify(path, "verify-Loja"), &[]).await;
        assert_eq!((answer.status, &*answer.body), (200, "1158201444"));
        for wrong in ["verify-loja", "", "verify-Loja2"] {
            assert_eq!(http::get(server.addr, &verify(path, wrong), &[]).await.status, 403, "{wrong}");
        }
    }

    // Non-ASCII text as the provider writes it, delivered twice.
    let body = delivery(&[shop.text("5511912345678", "wamid.1", "ol\u{e1}")]).replace('\u{e1}', "\\u00e1");
    for _ in 0..2 {
        assert_eq!(deliver(&server, &shop, &body).await.status, 200);
    }
    let said = transcript(&admin, "5511912345678", 2).await;
    assert_eq!(bodies(&said), ["olá", "eco olá"]);
    let contact = &admin.get("/contacts?q=5511912345678").await.ok(200)["items"][0];
    assert_eq!((&contact["name"], &contact["phoneNumber"]), (&json!("Ana"), &json!("5511912345678")));
    assert_eq!(said[0]["sessionId"], "wa-111-5511912345678");
    let chat = &admin.get(&format!("/chats?routerId={}", shop.router)).await.ok(200)["items"][0];
    assert!(chat["windowEndsAt"].as_str() > chat["createdAt"].as_str(), "{chat}");

    // Several messages of one delivery are answered in their order, and a reply keeps what it replies to.
    let mut reply = shop.text("5511912345678", "wamid.2", "um");
    let mut second = reply["changes"][0]["value"]["messages"][0].clone();
    second["id"] = json!("wamid.3");
    second["text"]["body"] = json!("dois");
    second["context"] = json!({ "id": "wamid.0", "from": "5511987654321" });
    reply["changes"][0]["value"]["messages"].as_array_mut().unwrap().push(second);
    assert_eq!(deliver(&server, &shop, &delivery(&[reply])).await.status, 200);
    let said = transcript(&admin, "5511912345678", 6).await;
    let incoming: Vec<_> = said.iter().filter(|message| message["direction"] == "in").cloned().collect();
    assert_eq!(bodies(&incoming), ["olá", "um", "dois"]);
    assert_eq!(incoming[2]["content"]["context"]["id"], "wamid.0");

    // A status by the provider's id.
    let answer = said.iter().find(|message| message["direction"] == "out").unwrap()["id"].as_str().unwrap();
    let store = setup.store().await;
    let mut tx = store.begin().await.unwrap();
    tx.messages().note_provider_ids(&[(answer.parse().unwrap(), "wamid.out".to_owned())]).await.unwrap();
    tx.commit().await.unwrap();
    setup.done(store).await;
    let status = |status: &str| {
        shop.entry(json!({ "statuses": [{ "id": "wamid.out", "status": status, "timestamp": now(),
            "recipient_id": "5511912345678" }] }))
    };
    for told in ["read", "delivered", "deleted"] {
        assert_eq!(deliver(&server, &shop, &delivery(&[status(told)])).await.status, 200);
    }
    eventually("the answer is read", || async {
        let message = admin.get(&format!("/messages/{answer}")).await.ok(200);
        (message["status"] == "read" && message["whatsappMessageId"] == "wamid.out").then_some(())
    })
    .await;
    assert!(server.stop().await.0.success());
}

/// The provider may write a number in two ways, also at once (rulings C5).
async fn both_forms_of_a_number_are_one_contact(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await.answering(&admin).await;
    let forms = ["5511987654321", "551187654321"];
    let together = forms.map(|form| shop.text(form, &format!("wamid.{form}"), "oi"));
    assert_eq!(deliver(&server, &shop, &delivery(&together)).await.status, 200);
    let apart = [("5521987654321", "wamid.a"), ("552187654321", "wamid.b")].map(|(form, wamid)| {
        let body = delivery(&[shop.text(form, wamid, "oi")]);
        let (server, shop) = (&server, &shop);
        async move { deliver(server, shop, &body).await.status }
    });
    assert_eq!(futures_util::future::join_all(apart).await, [200, 200]);
    for number in ["5511987654321", "5521987654321"] {
        transcript(&admin, number, 4).await;
    }
    let contacts = admin.get("/contacts").await.ok(200);
    let named = contacts["items"].as_array().unwrap().iter().filter(|one| one["origin"] == "phone").count();
    assert_eq!(named, 2, "{contacts}");
}

async fn who_is_refused(setup: Setup) {
    setup.plant(SECRET);
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await.answering(&admin).await;
    let other = Shop::new(&admin, "Outra", "222", "another-secret").await;
    let body = delivery(&[shop.text("5511912345678", "wamid.1", "oi")]);
    let signature = sign(&shop.secret, body.as_bytes());
    let upper = signature.replacen("sha256=", "", 1).to_uppercase();
    let path = "/phone/webhook";
    for (headers, body, status, code) in [
        (vec![], &*body, 403, "signature_invalid"),
        (vec![(SIGNATURE_HEADER, &*sign(&other.secret, body.as_bytes()))], &body, 403, "signature_invalid"),
        (vec![(SIGNATURE_HEADER, &*format!("sha256={upper}"))], &body, 403, "signature_invalid"),
        (vec![(SIGNATURE_HEADER, &*signature)], &format!("{body} "), 403, "signature_invalid"),
        (
            vec![(SIGNATURE_HEADER, &*signature), ("content-encoding", "gzip")],
            &body,
            415,
            "unsupported_media_type",
        ),
        (vec![], "{", 403, "signature_invalid"),
        (vec![(SIGNATURE_HEADER, &*signature)], "{", 400, "delivery_malformed"),
        (vec![], &"x".repeat((3 << 20) + 1), 413, "payload_too_large"),
        (vec![], &"x".repeat(4 << 20), 413, "payload_too_large"),
    ] {
        let answer = post(&server, path, &headers, body).await;
        assert_eq!((answer.status, &answer.json()["code"]), (status, &json!(code)), "{headers:?}");
    }
    // Bytes that are no UTF-8 are no delivery, whoever signs them.
    let bytes = [body.as_bytes(), b"\xff"].concat();
    let signature_of_bytes = sign(&shop.secret, &bytes);
    let headers = [(SIGNATURE_HEADER, &*signature_of_bytes)];
    let answer = http::send(server.addr, "POST", path, &headers, Some(&bytes)).await.expect("an answer");
    assert_eq!((answer.status, &answer.json()["code"]), (400, &json!("delivery_malformed")));
    // Of a router there are its own numbers only.
    let signed = [(SIGNATURE_HEADER, &*signature)];
    let at = format!("{path}/{}", other.router);
    assert_eq!(post(&server, &at, &signed, &body).await.status, 403);
    assert_eq!(post(&server, &format!("{path}/nobody"), &signed, &body).await.status, 403);
    let unknown = delivery(&[json!({ "id": "404", "changes": [{ "field": "messages", "value": {} }] })]);
    assert_eq!(deliver(&server, &shop, &unknown).await.status, 403);
    assert_eq!(admin.get("/contacts?q=5511912345678").await.ok(200)["items"], json!([]));
    // This encoding changes nothing of a body.
    let plain = [signed[0], ("content-encoding", "identity")];
    assert_eq!(post(&server, &format!("{path}/{}", shop.router), &plain, &body).await.status, 200);
    assert_eq!(bodies(&transcript(&admin, "5511912345678", 2).await), ["oi", "eco oi"]);
    // As large as a delivery may be.
    let large = body.clone() + &" ".repeat((3 << 20) - body.len());
    assert_eq!(deliver(&server, &shop, &large).await.status, 200);
    assert!(server.stop().await.0.success());
}

async fn several_accounts_in_one_delivery(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await.answering(&admin).await;
    let same = Shop::new(&admin, "Filial", "222", SECRET).await.answering(&admin).await;
    let other = Shop::new(&admin, "Outra", "333", "another-secret").await.answering(&admin).await;
    // Of another app nothing is taken, whoever signs.
    let body = delivery(&[
        shop.text("5511900000001", "wamid.1", "um"),
        other.text("5511900000003", "wamid.3", "três"),
        same.text("5511900000002", "wamid.2", "dois"),
    ]);
    let answer = deliver(&server, &shop, &body).await;
    assert_eq!(answer.ok(200), json!({ "messages": 2, "statuses": 0, "leftOut": 1 }));
    assert_eq!(bodies(&transcript(&admin, "5511900000001", 2).await), ["um", "eco um"]);
    assert_eq!(bodies(&transcript(&admin, "5511900000002", 2).await), ["dois", "eco dois"]);
    assert_eq!(admin.get("/contacts?q=5511900000003").await.ok(200)["items"], json!([]));
}

async fn a_router_without_a_flow_stores_only(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await;
    let mut order = shop.text("5511912345678", "wamid.1", "");
    order["changes"][0]["value"]["messages"][0] = json!({ "from": "5511912345678", "id": "wamid.1",
        "timestamp": now(), "type": "order", "order": { "catalog_id": "7" } });
    assert_eq!(deliver(&server, &shop, &delivery(&[order])).await.status, 200);
    let said = transcript(&admin, "5511912345678", 1).await;
    assert_eq!(
        (&said[0]["type"], &said[0]["content"]["order"]["catalog_id"]),
        (&json!("order"), &json!("7"))
    );
}

async fn whoever_hides_their_number_goes_on_in_their_session(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await.answering(&admin).await;
    let write = |from: Value, wamid: &str, body: &str| {
        let mut message = json!({ "id": wamid, "timestamp": now(), "type": "text", "text": { "body": body },
            "from_user_id": "BR.13491208655302741918" });
        let mut contact = json!({ "user_id": "BR.13491208655302741918" });
        // The last one comes without a profile, and changes no name.
        if wamid != "wamid.3" {
            contact["profile"] = json!({ "name": "Ana", "username": "ana" });
        }
        if from.is_string() {
            message["from"] = from.clone();
            contact["wa_id"] = from;
        }
        shop.entry(json!({ "contacts": [contact], "messages": [message] }))
    };
    // First without a number, then with one, then without it again.
    for (from, wamid, body) in [
        (Value::Null, "wamid.1", "um"),
        (json!("551187654321"), "wamid.2", "dois"),
        (Value::Null, "wamid.3", "três"),
    ] {
        assert_eq!(deliver(&server, &shop, &delivery(&[write(from, wamid, body)])).await.status, 200);
        transcript(
            &admin,
            "BR.13491208655302741918",
            if body == "um" {
                2
            } else if body == "dois" {
                4
            } else {
                6
            },
        )
        .await;
    }
    let said = transcript(&admin, "BR.13491208655302741918", 6).await;
    assert_eq!(bodies(&said), ["um", "eco um", "dois", "eco dois", "três", "eco três"]);
    assert_eq!(said[0]["sessionId"], "wa-111-BR.13491208655302741918");
    let contacts = admin.get("/contacts?q=ana").await.ok(200);
    let [contact] = contacts["items"].as_array().expect("contacts").as_slice() else { panic!("{contacts}") };
    assert_eq!(
        (&contact["name"], &contact["phoneNumber"]),
        (&json!("Ana"), &json!("BR.13491208655302741918"))
    );
    // The number is known too, in both of its forms.
    for number in ["551187654321", "5511987654321"] {
        let found = admin.get(&format!("/contacts?q={number}")).await.ok(200);
        assert_eq!(found["items"][0]["id"], contact["id"], "{number}");
    }
}

async fn a_new_user_id_is_the_same_contact(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await.answering(&admin).await;
    let says = |user: &str, wamid: &str, body: &str| {
        shop.entry(json!({ "contacts": [{ "user_id": user, "profile": { "name": "Ana" } }],
            "messages": [{ "from_user_id": user, "id": wamid, "timestamp": now(), "type": "text", "text": { "body": body } }] }))
    };
    let mut update = shop.entry(json!({ "user_id_update": [{ "wa_id": "15550000009",
        "user_id": { "previous": "BR.1", "current": "BR.2" }, "timestamp": now() }] }));
    update["changes"][0]["field"] = "user_id_update".into();
    let told = shop.entry(json!({ "messages": [{ "id": "wamid.s", "timestamp": now(), "type": "system",
        "system": { "type": "user_changed_user_id", "body": "User Ana changed from BR.2 to BR.3", "user_id": "BR.3" } }] }));
    let delivered = async |entries: &[Value], messages: usize| {
        for entry in entries {
            assert_eq!(deliver(&server, &shop, &delivery(std::slice::from_ref(entry))).await.status, 200);
        }
        eventually("all is answered in one chat", || async {
            let chats = admin.get("/chats").await.ok(200)["items"].as_array()?.clone();
            let [chat] = chats.as_slice() else { return None };
            let path = format!("/chats/{}/messages", chat["id"].as_str()?);
            let said = admin.get(&path).await.ok(200)["items"].as_array()?.clone();
            (said.len() == messages).then_some(())
        })
        .await;
    };
    delivered(&[says("BR.1", "wamid.1", "um")], 2).await;
    delivered(&[update.clone(), update, says("BR.2", "wamid.2", "dois")], 4).await;
    delivered(&[told, says("BR.3", "wamid.3", "três")], 6).await;
    assert_eq!(admin.get("/contacts").await.ok(200)["items"].as_array().unwrap().len(), 1);
}

async fn a_new_number_is_the_same_contact(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await.answering(&admin).await;
    assert_eq!(
        deliver(&server, &shop, &delivery(&[shop.text("15550000001", "wamid.1", "um")])).await.status,
        200
    );
    transcript(&admin, "15550000001", 2).await;
    let changed = shop.changed("15550000001", "15550000002");
    // Twice, and before the first message from the new number in the same delivery.
    let body = delivery(&[changed.clone(), shop.text("15550000002", "wamid.2", "dois")]);
    for body in [&*body, &delivery(&[changed])] {
        assert_eq!(deliver(&server, &shop, body).await.status, 200);
    }
    let said = transcript(&admin, "15550000002", 4).await;
    assert_eq!(bodies(&said), ["um", "eco um", "dois", "eco dois"]);
    let contacts = admin.get("/contacts?q=1555").await.ok(200);
    let [contact] = contacts["items"].as_array().expect("contacts").as_slice() else { panic!("{contacts}") };
    assert_eq!(contact["phoneNumber"], "15550000002");
    // Of somebody who never wrote there is nothing to change.
    let unknown = shop.changed("15559999999", "15550000003");
    assert_eq!(deliver(&server, &shop, &delivery(&[unknown])).await.status, 200);
    assert_eq!(admin.get("/contacts?q=15550000003").await.ok(200)["items"], json!([]));
}

/// A business can sign what it likes about its own numbers. About contacts that others know too it changes no identity, and
/// about messages of others no status.
async fn what_another_app_signs_changes_nothing(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await.answering(&admin).await;
    let other = Shop::new(&admin, "Outra", "222", "another-secret").await.answering(&admin).await;
    let victim = "15550000001";
    for (business, wamid) in [(&shop, "wamid.1"), (&other, "wamid.2")] {
        let body = delivery(&[business.text(victim, wamid, "oi")]);
        assert_eq!(deliver(&server, business, &body).await.status, 200);
        let of = business.router.clone();
        eventually("it is answered", || async {
            let chats = admin.get(&format!("/chats?routerId={of}")).await.ok(200);
            let chat = chats["items"].as_array()?.first()?["id"].as_str()?.to_owned();
            let messages = admin.get(&format!("/chats/{chat}/messages")).await.ok(200);
            (messages["items"].as_array()?.len() == 2).then_some(())
        })
        .await;
    }
    let messages = admin.get(&format!("/chats?routerId={}", shop.router)).await.ok(200);
    let chat = messages["items"][0]["id"].as_str().expect("an id");
    let messages = admin.get(&format!("/chats/{chat}/messages")).await.ok(200);
    let answer = messages["items"][0]["id"].as_str().expect("an id").to_owned();
    let status = |business: &Shop| {
        business.entry(json!({ "statuses": [{ "id": "wamid.out", "status": "read", "timestamp": now(),
            "recipient_id": victim, "biz_opaque_callback_data": answer }] }))
    };
    let body = delivery(&[other.changed(victim, "15550000666"), status(&other)]);
    assert_eq!(deliver(&server, &other, &body).await.status, 200);
    // Its own comes behind, so that the other has been handled by then.
    let failed = shop
        .entry(json!({ "statuses": [{ "id": "wamid.out", "status": "failed", "timestamp": now(),
        "biz_opaque_callback_data": answer, "errors": [{ "code": 131_026, "title": "Undeliverable" }] }] }));
    assert_eq!(deliver(&server, &shop, &delivery(&[failed])).await.status, 200);
    let message = eventually("its status is there", || async {
        let message = admin.get(&format!("/messages/{answer}")).await.ok(200);
        (message["status"] != "pending").then_some(message)
    })
    .await;
    assert_eq!((&message["status"], &message["error"]["code"]), (&json!("failed"), &json!(131_026)));
    let contacts = admin.get("/contacts?q=1555").await.ok(200);
    let [contact] = contacts["items"].as_array().expect("contacts").as_slice() else { panic!("{contacts}") };
    assert_eq!(contact["phoneNumber"], victim);
}

async fn guesses_are_limited_by_place(setup: Setup) {
    let setup = setup.with("PHONE_LOOKUPS_PER_MINUTE", "3");
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await;
    let known = delivery(&[shop.text("15550000001", "wamid.1", "oi")]);
    assert_eq!(deliver(&server, &shop, &known).await.status, 200);
    for (nth, status) in [403, 403, 429, 429].into_iter().enumerate() {
        let unknown = delivery(&[json!({ "id": format!("{nth}"), "changes": [] })]);
        let answer = deliver(&server, &shop, &unknown).await;
        assert_eq!(answer.status, status, "{nth}");
        if status == 429 {
            assert_eq!(answer.json()["code"], "rate_limited");
            assert_eq!(answer.headers["retry-after"], "60");
        }
    }
    let guess = "/phone/webhook?hub.mode=subscribe&hub.challenge=1&hub.verify_token=verify-Loja";
    assert_eq!(http::get(server.addr, guess, &[]).await.status, 429);
    // Accounts that are known are served all the same, also when they are read anew.
    server.advance(Duration::from_secs(3)).await;
    assert_eq!(deliver(&server, &shop, &known).await.status, 200);
    server.advance(Duration::from_secs(60)).await;
}

async fn a_number_that_was_set_up_a_moment_ago_loses_nothing(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await.answering(&admin).await;
    assert_eq!(
        deliver(&server, &shop, &delivery(&[shop.text("15550000001", "wamid.1", "oi")])).await.status,
        200
    );
    // The account is remembered now, and gets another number.
    let new = json!({ "routerId": shop.router, "name": "Filial", "phoneNumberId": "112", "phoneNumber": "5511987654322",
        "businessAccountId": shop.account });
    admin.post("/channel-numbers", &new).await.ok(201);
    let branch = Shop { number: "112".to_owned(), ..shop };
    let body = delivery(&[branch.text("15550000002", "wamid.2", "oi")]);
    assert_eq!(deliver(&server, &branch, &body).await.status, 200);
    assert_eq!(bodies(&transcript(&admin, "15550000002", 2).await), ["oi", "eco oi"]);
}

/// A sender is a number or a user id, whatever the business of the number signs.
async fn identities_of_other_channels_are_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await.answering(&admin).await;
    let forged = shop.text("visitor-of-another", "wamid.1", "oi");
    let body = delivery(&[forged, shop.text("15550000001", "wamid.2", "oi")]);
    assert_eq!(deliver(&server, &shop, &body).await.status, 200);
    assert_eq!(bodies(&transcript(&admin, "15550000001", 2).await), ["oi", "eco oi"]);
    assert_eq!(admin.get("/contacts").await.ok(200)["items"].as_array().map(Vec::len), Some(1));
}

/// A business cannot use up the ids of another one's messages.
async fn numbers_have_ids_of_messages_of_their_own(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await.answering(&admin).await;
    let other = Shop::new(&admin, "Outra", "222", "another-secret").await.answering(&admin).await;
    for (business, person) in [(&other, "15550000002"), (&shop, "15550000001")] {
        let body = delivery(&[business.text(person, "wamid.1", "oi")]);
        assert_eq!(deliver(&server, business, &body).await.status, 200);
        assert_eq!(bodies(&transcript(&admin, person, 2).await), ["oi", "eco oi"], "{person}");
    }
}

async fn reactions_are_stored_and_answer_nothing(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await.answering(&admin).await;
    let of_type = |wamid: &str, message: Value| {
        let mut entry = shop.text("15550000001", wamid, "");
        let fields = &mut entry["changes"][0]["value"]["messages"][0];
        fields.as_object_mut().unwrap().remove("text");
        for (name, value) in message.as_object().unwrap() {
            fields[name] = value.clone();
        }
        entry
    };
    let reaction = |wamid: &str| {
        of_type(wamid, json!({ "type": "reaction", "reaction": { "message_id": "wamid.0", "emoji": "👍" } }))
    };
    let gone = json!({ "type": "unsupported", "errors": [{ "code": 131_051, "title": "Unsupported message type" }] });
    // Before a session begins, and within one.
    let body = delivery(&[reaction("wamid.1"), shop.text("15550000001", "wamid.2", "oi")]);
    assert_eq!(deliver(&server, &shop, &body).await.status, 200);
    transcript(&admin, "15550000001", 3).await;
    let body = delivery(&[
        reaction("wamid.3"),
        of_type("wamid.4", gone),
        shop.text("15550000001", "wamid.5", "e agora?"),
    ]);
    assert_eq!(deliver(&server, &shop, &body).await.status, 200);
    let said = transcript(&admin, "15550000001", 7).await;
    let kinds: Vec<_> = said.iter().map(|message| message["type"].as_str().unwrap_or("?")).collect();
    assert_eq!(kinds, ["reaction", "text", "text", "reaction", "unsupported", "text", "text"]);
    assert_eq!((bodies(&said)[2], bodies(&said)[6]), ("eco oi", "eco e agora?"));
}

/// What ends with a line break, as a file does, is refused at once and not when it is used.
async fn secrets_are_texts_that_a_header_can_have(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await;
    let number = admin.get("/channel-numbers").await.ok(200)["items"][0]["id"].as_str().unwrap().to_owned();
    for (path, field) in [
        (format!("/channel-numbers/{number}"), "accessToken"),
        (format!("/routers/{}", shop.router), "channelAppSecret"),
        (format!("/routers/{}", shop.router), "channelVerifyToken"),
    ] {
        for odd in ["s3cret\n", " s3cret", " "] {
            let answer = admin.patch(&path, &json!({ field: odd })).await;
            assert_eq!(
                (answer.status, &answer.json()["details"][0]["field"]),
                (400, &json!(field)),
                "{odd:?}"
            );
            assert!(!answer.body.contains("s3cret"), "{}", answer.body);
        }
        admin.patch(&path, &json!({ field: "s3cret" })).await.ok(200);
    }
}

/// Without the streams a delivery is refused, so the provider sends it again, and then it counts once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_comes_while_redis_is_away_comes_again() {
    let Some(mut redis) = PrivateRedis::start().await else { return };
    let Some(setup) = Setup::distributed_on(redis.url()).await else { return };
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await.answering(&admin).await;
    let said =
        |nth: usize| delivery(&[shop.text("5511912345678", &format!("wamid.{nth}"), &nth.to_string())]);
    assert_eq!(deliver(&server, &shop, &said(0)).await.status, 200);
    transcript(&admin, "5511912345678", 2).await;
    redis.stop();
    for nth in 1..=3 {
        let refused = deliver(&server, &shop, &said(nth)).await;
        assert_eq!((refused.status, &refused.json()["code"]), (503, &json!("unavailable")));
    }
    redis.run().await;
    for nth in 1..=3 {
        eventually("it is taken", || async {
            (deliver(&server, &shop, &said(nth)).await.status == 200).then_some(())
        })
        .await;
    }
    // The provider may not have heard that they were taken.
    assert_eq!(deliver(&server, &shop, &said(3)).await.status, 200);
    let said = transcript(&admin, "5511912345678", 8).await;
    let ins: Vec<_> = said.iter().filter(|message| message["direction"] == "in").cloned().collect();
    assert_eq!(bodies(&ins), ["0", "1", "2", "3"]);
    assert_eq!(said.len(), 8, "each is answered once");
    assert!(server.stop().await.0.success());
}
