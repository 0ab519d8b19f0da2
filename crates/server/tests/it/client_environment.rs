//! Where the client finds the server, and which token it takes along.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use countersign_server::access::first::TOKEN_FILE;
use countersign_server::client::{Client, SetupError};
use countersign_server::config::{Flags, Source};
use countersign_server::id::{SessionId, TokenId};
use serde_json::json;
use tempfile::TempDir;

use crate::wire::{Stage, json as said};

/// Somebody's home, with the data folder of a server in it.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, path: &str, text: &str, mode: u32) {
        let file = self.0.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// The token of the first start, in the usual place.
    fn first_token(&self) -> String {
        let text = format!("cst_{}_{}", TokenId::new().uuid().simple(), "ab".repeat(32));
        self.write(&format!(".local/share/countersign/{TOKEN_FILE}"), &text, 0o600);
        text
    }

    fn source(&self, variables: &[(&str, &str)]) -> Source {
        let home = self.0.path().to_str().unwrap();
        let own = [("HOME", home)];
        let all = own.iter().chain(variables);
        Source {
            environment: all.map(|(name, value)| (name.into(), value.into())).collect(),
            folder: self.0.path().to_owned(),
            flags: Flags::default(),
        }
    }

    fn client(&self, variables: &[(&str, &str)]) -> Result<Client, SetupError> {
        Client::builder_from(&self.source(variables))?.build()
    }

    /// The token that a server is sent by a client that this home makes.
    async fn sent(&self, stage: &Stage, variables: &[(&str, &str)]) -> String {
        let client = self.client(variables).unwrap();
        assert_eq!(client.address(), stage.url());
        let noted = said("202 Accepted", &json!({"session": SessionId::new()}));
        let (came, stopped) = tokio::join!(stage.answer(&noted), client.stop(SessionId::new()));
        stopped.unwrap();
        came.header("authorization").unwrap().strip_prefix("Bearer ").unwrap().to_owned()
    }
}

#[tokio::test]
async fn on_the_machine_of_the_server_nothing_has_to_be_said() {
    let (home, stage) = (Home::new(), Stage::new().await);
    let token = home.first_token();
    assert_eq!(home.client(&[]).unwrap().address(), "http://127.0.0.1:7787");
    home.write(
        ".config/countersign/server.toml",
        &format!("listen = \"{}\"", stage.address()),
        0o644,
    );
    assert_eq!(home.sent(&stage, &[]).await, token);
    // The configuration can also come from the environment.
    let other = Stage::new().await;
    let listen = other.address().to_string();
    assert_eq!(home.sent(&other, &[("COUNTERSIGN_LISTEN", &listen)]).await, token);
    assert_eq!(home.sent(&other, &[("COUNTERSIGN_SERVER", &other.url())]).await, token);
}

#[tokio::test]
async fn the_environment_wins() {
    let (home, stage) = (Home::new(), Stage::new().await);
    home.first_token();
    home.write(
        ".config/countersign/client.toml",
        "server = \"https://example.org\"\ntoken = \"cst_file\"",
        0o600,
    );
    let variables = [("COUNTERSIGN_SERVER", &*stage.url()), ("COUNTERSIGN_TOKEN", "cst_said")];
    assert_eq!(home.sent(&stage, &variables).await, "cst_said");
}

#[tokio::test]
async fn a_file_can_name_a_server_and_a_token() {
    let (home, stage) = (Home::new(), Stage::new().await);
    let server = format!("server = \"{}\"\n", stage.url());
    home.first_token();
    home.write(".config/countersign/client.toml", &(server.clone() + "token = \"cst_a\""), 0o600);
    assert_eq!(home.sent(&stage, &[]).await, "cst_a");
    assert_eq!(home.sent(&stage, &[("COUNTERSIGN_TOKEN", "cst_said")]).await, "cst_said");
    home.write(".config/countersign/secret", "cst_b\n", 0o600);
    for file in ["secret", "~/.config/countersign/secret"] {
        let text = format!("{server}token_file = {file:?}");
        home.write(".config/countersign/client.toml", &text, 0o644);
        assert_eq!(home.sent(&stage, &[]).await, "cst_b");
    }
}

#[tokio::test]
async fn the_token_of_the_data_folder_goes_to_where_the_server_listens() {
    let (home, stage) = (Home::new(), Stage::new().await);
    let token = home.first_token();
    let noted = said("202 Accepted", &json!({"session": SessionId::new()}));
    let config = |public: &str, more: &str| {
        let listen = stage.address();
        let text = format!("listen = \"{listen}\"\npublic_url = \"{public}\"\n{more}");
        home.write(".config/countersign/server.toml", &text, 0o644);
        home.client(&[]).unwrap()
    };
    // The names lead to nobody, and whoever they would lead to is not for this token.
    let plain = config("http://agents.invalid:7787", "");
    assert_eq!(plain.address(), "http://agents.invalid:7787");
    let (came, stopped) = tokio::join!(stage.answer(&noted), plain.stop(SessionId::new()));
    stopped.unwrap();
    assert_eq!(came.header("host"), Some("agents.invalid:7787"));
    assert_eq!(came.header("authorization"), Some(&*format!("Bearer {token}")));

    // Somebody in front of the server speaks TLS: here it does not.
    let proxied = config("https://agents.invalid", "");
    assert_eq!(proxied.address(), stage.url());
    let (came, stopped) = tokio::join!(stage.answer(&noted), proxied.stop(SessionId::new()));
    stopped.unwrap();
    assert_eq!(came.header("authorization"), Some(&*format!("Bearer {token}")));

    // The certificate is for the name, and the name is only that.
    let own = crate::wire::certificate(&["agents.invalid"]);
    home.write("cert.pem", &own.cert.pem(), 0o600);
    home.write("key.pem", &own.signing_key.serialize_pem(), 0o600);
    let folder = home.0.path().display();
    let files = format!("[tls]\ncertificate = \"{folder}/cert.pem\"\nkey = \"{folder}/key.pem\"");
    let secured = config("https://agents.invalid", &files);
    assert_eq!(secured.address(), "https://agents.invalid");
    let (came, stopped) =
        tokio::join!(stage.answer_secured(&own, &noted), secured.stop(SessionId::new()));
    stopped.unwrap();
    let came = came.unwrap();
    assert_eq!(came.header("host"), Some("agents.invalid"));
    assert_eq!(came.header("authorization"), Some(&*format!("Bearer {token}")));
}

#[test]
fn the_token_of_the_data_folder_does_not_go_to_another_machine_in_the_clear() {
    let home = Home::new();
    home.first_token();
    let text = "listen = \"192.0.2.1:7787\"\npublic_url = \"http://localhost:7787\"";
    home.write(".config/countersign/server.toml", text, 0o644);
    let error = home.client(&[]).unwrap_err();
    assert!(matches!(error, SetupError::InTheClear(_)), "{error}");
}

#[test]
fn a_token_only_goes_where_it_belongs() {
    let home = Home::new();
    home.first_token();
    home.write(
        ".config/countersign/client.toml",
        "server = \"https://example.org\"\ntoken = \"cst_file\"",
        0o600,
    );
    // Neither that of this machine nor that of the file is for a server that is named elsewhere.
    let error = home.client(&[("COUNTERSIGN_SERVER", "https://example.com")]).unwrap_err();
    assert!(matches!(error, SetupError::NoToken(_)), "{error}");
    home.write(".config/countersign/client.toml", "server = \"https://example.org\"", 0o600);
    let error = home.client(&[]).unwrap_err();
    assert!(matches!(error, SetupError::NoToken(_)), "{error}");
    let error = home
        .client(&[("COUNTERSIGN_SERVER", "http://10.0.0.1"), ("COUNTERSIGN_TOKEN", "cst_a")])
        .unwrap_err();
    assert!(matches!(error, SetupError::InTheClear(_)), "{error}");
}

#[test]
fn what_is_wrong_is_said_with_what_to_do_and_without_the_token() {
    let home = Home::new();
    let fails = |part: &str| {
        let error = home.client(&[]).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
        assert!(!error.contains("cst_"), "{error}");
    };
    fails("is this the data folder of the server?");
    let file = |text: &str, mode| home.write(".config/countersign/client.toml", text, mode);
    file("server = \"https://a\"\ntoken = \"cst_a\"", 0o644);
    fails("chmod 600");
    file("token = \"cst_a\"", 0o600);
    fails("no `server`");
    file("server = \"https://a\"\ntokn = \"cst_a\"", 0o600);
    fails("tokn");
    file("server = \"https://a\"\ntoken = cst_a", 0o600);
    fails("cannot be used");
    file("server = \"https://a\"\ntoken = \"cst_a\"\ntoken_file = \"b\"", 0o600);
    fails("leave one out");
    file("server = \"https://a\"\ntoken_file = \"b\"", 0o600);
    fails("No such file");
    file("server = \"https://a\"\ntoken = \"cst_a\"\nca_file = \"none.pem\"", 0o600);
    fails("none.pem");
    fs::remove_file(home.0.path().join(".config/countersign/client.toml")).unwrap();
    home.write(".config/countersign/server.toml", "listen = \"127.0.0.1:0\"", 0o600);
    fails("set COUNTERSIGN_SERVER");
}

#[test]
fn the_certificate_of_the_server_on_this_machine_is_trusted() {
    let home = Home::new();
    home.first_token();
    let own = crate::wire::certificate(&["localhost"]);
    let write = |path: &str, text: &str| home.write(path, text, 0o600);
    write("cert.pem", &own.cert.pem());
    write("key.pem", &own.signing_key.serialize_pem());
    let folder = home.0.path().display();
    write(
        ".config/countersign/server.toml",
        &format!(
            "public_url = \"https://localhost:7787\"\n[tls]\ncertificate = \"{folder}/cert.pem\"\n\
             key = \"{folder}/key.pem\""
        ),
    );
    assert_eq!(home.client(&[]).unwrap().address(), "https://localhost:7787");
    // The file is read: something else in it is noticed.
    fs::write(Path::new(home.0.path()).join("cert.pem"), "nothing").unwrap();
    assert!(matches!(home.client(&[]).unwrap_err(), SetupError::Roots(_)));
}
