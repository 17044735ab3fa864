//! Bots over a store, with a transport of their own.
#![cfg(feature = "bot")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use flowsdk::core::message::IncomingMessage;
use flowsdk::{Answer, Bot, BotError, DeliveryError, Flow};
use tokio::sync::mpsc;

fn echo(greeting: &str) -> Flow {
    Flow::from_value(serde_json::json!({
        "schemaVersion": 1, "startBlockId": "ask",
        "blocks": [
            { "id": "ask", "type": "content",
              "contents": [{ "type": "text", "text": { "body": greeting } }],
              "input": { "variable": "said" }, "defaultOutput": { "blockId": "told" } },
            { "id": "told", "type": "content",
              "contents": [{ "type": "text", "text": { "body": "You said {{said}}." } }],
              "defaultOutput": { "end": true } }
        ]
    }))
    .expect("a flow")
}

async fn texts(answers: &mut mpsc::UnboundedReceiver<Answer>, count: usize) -> Vec<String> {
    let mut texts = Vec::new();
    while texts.len() < count {
        let answer = answers.recv().await.expect("an answer");
        texts.push(format!("{}: {}", answer.to, answer.text()));
    }
    texts
}

#[tokio::test]
async fn contacts_are_answered_each_in_their_own_order() {
    let (sender, mut answers) = mpsc::unbounded_channel();
    let bot = Bot::builder(echo("Well?"))
        .on_answer(move |answer| sender.send(answer).expect("somebody listens"))
        .start()
        .await
        .expect("a bot");
    bot.receive("ana", "hi").await.expect("received");
    bot.receive("bia", "hi").await.expect("received");
    let mut greetings = texts(&mut answers, 2).await;
    greetings.sort_unstable();
    assert_eq!(greetings, ["ana: Well?", "bia: Well?"]);
    bot.receive("ana", "one").await.expect("received");
    assert_eq!(texts(&mut answers, 1).await, ["ana: You said one."]);
    bot.receive("ana", "again").await.expect("received");
    assert_eq!(texts(&mut answers, 1).await, ["ana: Well?"], "the flow had ended, so it begins anew");
    assert!(matches!(bot.receive("no id!", "hi").await, Err(BotError::Contact(_))));
    bot.stop().await;
    assert!(answers.recv().await.is_none(), "nobody delivers any more");
}

#[tokio::test]
async fn a_message_that_comes_twice_is_answered_once() {
    let (sender, mut answers) = mpsc::unbounded_channel();
    let bot = Bot::builder(echo("Well?"))
        .on_answer(move |answer| sender.send(answer).expect("somebody listens"))
        .start()
        .await
        .expect("a bot");
    for _ in 0..2 {
        bot.receive_message("ana", IncomingMessage::text("m1", "hi")).await.expect("received");
    }
    bot.receive_message("ana", IncomingMessage::text("m2", "yes")).await.expect("received");
    assert_eq!(texts(&mut answers, 2).await, ["ana: Well?", "ana: You said yes."]);
    bot.stop().await;
    assert!(answers.recv().await.is_none());
}

/// The transport of the first run fails, so that its answer is still to be delivered when the second run begins.
#[tokio::test]
async fn a_conversation_and_its_answers_survive_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bot.db");
    let (tried, mut tries) = mpsc::unbounded_channel();
    let bot = Bot::builder(echo("Well?"))
        .sqlite(&file)
        .transport(move |_answer| {
            let tried = tried.clone();
            async move {
                tried.send(()).expect("somebody listens");
                Err("the provider is away".into())
            }
        })
        .start()
        .await
        .expect("a bot");
    bot.receive("ana", "hi").await.expect("received");
    tries.recv().await.expect("a try");
    let second = Bot::builder(echo("Well?")).sqlite(&file).start().await;
    assert!(matches!(second, Err(BotError::InUse)), "two bots would answer twice");
    bot.stop().await;

    let (sender, mut answers) = mpsc::unbounded_channel();
    let bot = Bot::builder(echo("Changed"))
        .sqlite(&file)
        .on_answer(move |answer| sender.send(answer).expect("somebody listens"))
        .start()
        .await
        .expect("a bot");
    assert_eq!(texts(&mut answers, 1).await, ["ana: Well?"]);
    bot.receive("ana", "yes").await.expect("received");
    assert_eq!(texts(&mut answers, 1).await, ["ana: You said yes."], "the session goes on in its version");
    bot.receive("ana", "hi").await.expect("received");
    assert_eq!(texts(&mut answers, 1).await, ["ana: Changed"]);
    bot.stop().await;
}

/// An event that fails for good is a dead letter after five failures; an answer is not given up.
#[tokio::test]
async fn a_transport_that_was_away_gets_the_answer() {
    let (sender, mut answers) = mpsc::unbounded_channel();
    let tries = Arc::new(AtomicU32::new(0));
    let bot = Bot::builder(echo("Well?"))
        .transport(move |answer: Answer| {
            let (sender, tried) = (sender.clone(), tries.fetch_add(1, Ordering::SeqCst));
            async move {
                if tried < 5 {
                    return Err("the provider is away".into());
                }
                sender.send(answer).expect("somebody listens");
                Ok(())
            }
        })
        .start()
        .await
        .expect("a bot");
    bot.receive("ana", "hi").await.expect("received");
    assert_eq!(texts(&mut answers, 1).await, ["ana: Well?"]);
    bot.stop().await;
}

#[tokio::test]
async fn an_answer_that_is_refused_holds_nothing() {
    let (sender, mut answers) = mpsc::unbounded_channel();
    let bot = Bot::builder(echo("Well?"))
        .transport(move |answer: Answer| {
            let sender = sender.clone();
            async move {
                if answer.text() == "Well?" {
                    return Err(DeliveryError::Refused("the contact is gone".into()));
                }
                Ok(sender.send(answer)?)
            }
        })
        .start()
        .await
        .expect("a bot");
    bot.receive("ana", "hi").await.expect("received");
    bot.receive("ana", "yes").await.expect("received");
    assert_eq!(texts(&mut answers, 1).await, ["ana: You said yes."]);
    bot.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_contacts_at_once() {
    let (sender, mut answers) = mpsc::unbounded_channel();
    let bot = Bot::builder(echo("Well?"))
        .on_answer(move |answer| sender.send(answer).expect("somebody listens"))
        .start()
        .await
        .expect("a bot");
    let bot = Arc::new(bot);
    let mut contacts = tokio::task::JoinSet::new();
    for contact in 0..20 {
        let bot = Arc::clone(&bot);
        contacts.spawn(async move {
            let name = format!("contact-{contact}");
            bot.receive(&name, "hi").await.expect("received");
            bot.receive(&name, &name).await.expect("received");
        });
    }
    while let Some(done) = contacts.join_next().await {
        done.expect("no panic");
    }
    let all = texts(&mut answers, 40).await;
    for contact in 0..20 {
        let name = format!("contact-{contact}");
        let own: Vec<_> = all.iter().filter(|text| text.starts_with(&format!("{name}: "))).collect();
        assert_eq!(own, [&format!("{name}: Well?"), &format!("{name}: You said {name}.")]);
    }
    Arc::into_inner(bot).expect("nobody else has it").stop().await;
}

#[tokio::test]
async fn a_database_that_cannot_be_opened_is_not_said_to_be_in_use() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("missing").join("bot.db");
    let refused = Bot::builder(echo("Well?")).sqlite(&file).start().await.expect_err("no folder");
    assert!(matches!(refused, BotError::Database(_)), "{refused}");
}
