use std::process::Command;

use aws_lc_rs::rsa::{
    OAEP_SHA256_MGF1SHA256, OaepPrivateDecryptingKey, OaepPublicEncryptingKey, PublicEncryptingKey,
};
use pkcs8::EncryptedPrivateKeyInfoRef;

use super::*;

fn der(pem: &str, label: &str) -> Vec<u8> {
    let (found, document) = Document::from_pem(pem).expect("a PEM");
    assert_eq!(found, label);
    document.as_bytes().to_vec()
}

#[tokio::test]
async fn what_the_public_key_seals_the_private_key_opens() {
    let pair = FormKeyMaker::new(1, 0).make().await.expect("a pair");
    let passphrase = pair.passphrase.expose_secret();
    assert!(passphrase.len() == 64 && passphrase.bytes().all(|b| b.is_ascii_hexdigit()), "{passphrase}");
    let sealed = der(pair.private_key.expose_secret(), "ENCRYPTED PRIVATE KEY");
    let sealed = EncryptedPrivateKeyInfoRef::try_from(sealed.as_slice()).expect("PKCS#8");
    assert!(sealed.decrypt("wrong").is_err());
    let private = sealed.decrypt(passphrase).expect("opens");
    let private = PrivateDecryptingKey::from_pkcs8(private.as_bytes()).expect("a key");
    assert_eq!(private.key_size_bits(), 2048);
    let public = PublicEncryptingKey::from_der(&der(&pair.public_key, "PUBLIC KEY")).expect("a key");
    let public = OaepPublicEncryptingKey::new(public).expect("OAEP");
    let mut cipher = vec![0; public.ciphertext_size()];
    let cipher = public.encrypt(&OAEP_SHA256_MGF1SHA256, b"an AES key", &mut cipher, None).expect("sealed");
    let private = OaepPrivateDecryptingKey::new(private).expect("OAEP");
    let mut clear = vec![0; private.min_output_size()];
    let clear = private.decrypt(&OAEP_SHA256_MGF1SHA256, cipher, &mut clear, None).expect("opened");
    assert_eq!(clear, b"an AES key");
}

#[tokio::test]
#[allow(clippy::print_stderr, reason = "a skipped test must be seen")]
async fn openssl_opens_the_private_key_and_finds_the_same_public_one() {
    if Command::new("openssl").arg("version").output().is_err() {
        return eprintln!("SKIPPED: there is no openssl");
    }
    let pair = FormKeyMaker::new(1, 0).make().await.expect("a pair");
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), pair.private_key.expose_secret()).expect("written");
    let pkey = |passphrase: &str| {
        let path = file.path().to_str().expect("a path");
        let password = format!("pass:{passphrase}");
        let arguments = ["pkey", "-in", path, "-passin", &password, "-pubout"];
        Command::new("openssl").args(arguments).output().expect("openssl runs")
    };
    let found = pkey(pair.passphrase.expose_secret());
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    assert_eq!(String::from_utf8(found.stdout).expect("text"), pair.public_key);
    assert!(!pkey("wrong").status.success());
    let parameters =
        Command::new("openssl").args(["asn1parse", "-in"]).arg(file.path()).output().expect("runs");
    let parameters = String::from_utf8_lossy(&parameters.stdout).into_owned();
    for name in ["PBES2", "PBKDF2", "hmacWithSHA256", "aes-256-cbc"] {
        assert!(parameters.contains(name), "{name} is not in {parameters}");
    }
}

#[tokio::test]
async fn pairs_and_their_passphrases_are_never_the_same_and_hidden() {
    let maker = FormKeyMaker::new(2, 2);
    let (a, b) = tokio::join!(maker.make(), maker.make());
    let (a, b) = (a.expect("a pair"), b.expect("a pair"));
    assert_ne!(a.public_key, b.public_key);
    assert_ne!(a.passphrase.expose_secret(), b.passphrase.expose_secret());
    let shown = format!("{a:?}");
    assert!(!shown.contains(a.passphrase.expose_secret()) && !shown.contains("ENCRYPTED"), "{shown}");
}

#[tokio::test]
async fn beyond_its_queue_it_is_busy() {
    let maker = FormKeyMaker::new(1, 0);
    let (first, second) = tokio::join!(maker.make(), maker.make());
    assert!(first.is_ok());
    assert!(matches!(second, Err(FormKeyError::Busy)));
}
