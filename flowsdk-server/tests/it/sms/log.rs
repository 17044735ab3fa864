use std::io;
use std::sync::{Arc, Mutex};

use flowsdk_server::config::SmsSettings;
use flowsdk_server::sms;
use tracing_subscriber::fmt::MakeWriter;

use super::{CODE, sms as message};

/// A log in memory.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("whole").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Written {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// What the driver writes into the log.
async fn logged(settings: SmsSettings) -> String {
    let written = Written::default();
    let subscriber = tracing_subscriber::fmt().with_writer(written.clone()).with_ansi(false).finish();
    // For this thread, which is the only one of the test's runtime.
    let _current = tracing::subscriber::set_default(subscriber);
    sms::sender(&settings).expect("a sender").send(&message()).await.expect("accepted");
    let bytes = written.0.lock().expect("whole").clone();
    String::from_utf8(bytes).expect("text")
}

#[tokio::test]
async fn the_log_has_the_code_and_a_warning() {
    let text = logged(SmsSettings::Log).await;
    assert!(text.contains("WARN") && text.contains(CODE) && text.contains("SMS_DRIVER"), "{text}");
}

#[tokio::test]
async fn none_warns_without_the_code() {
    let text = logged(SmsSettings::None).await;
    assert!(text.contains("WARN") && text.contains("SMS_DRIVER is none"), "{text}");
    assert!(!text.contains(CODE) && !text.contains("5511999990000"), "{text}");
}
