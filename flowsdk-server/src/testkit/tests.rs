use super::*;

async fn status_of(app: &TestApp, path: &str) -> u16 {
    app.send(Request::get(path).body(Body::empty()).expect("a request")).await.status().as_u16()
}

#[tokio::test]
async fn two_apps_of_one_seed_are_alike() {
    let mut ids = Vec::new();
    for _ in 0..2 {
        let app =
            TestApp::start(TestApp::configuration(&[]).expect("a configuration")).await.expect("an app");
        assert_eq!((status_of(&app, "/healthz").await, status_of(&app, "/users").await), (200, 401));
        app.advance(Duration::from_secs(3_600)).await;
        let answer = app.send(Request::get("/nothing").body(Body::empty()).expect("a request")).await;
        let id = answer.headers()["x-request-id"].to_str().expect("text").to_owned();
        // The time is of the run.
        ids.push(id[9..].to_owned());
        app.stop().await.expect("an end in order");
    }
    assert_eq!(ids[0], ids[1]);
}

#[tokio::test]
async fn a_problem_of_the_configuration_is_told() {
    let problems = TestApp::configuration(&[("CRYPTO_SECRET", "short")]).expect_err("a short key").problems;
    assert_eq!(problems, ["CRYPTO_SECRET must be exactly 32 characters (bytes), found 5"]);
}
