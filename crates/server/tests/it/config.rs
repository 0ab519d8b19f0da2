//! The configuration: layers, messages, and the page that documents it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_server::config::{
    Checked, Config, ConfigError, Flags, Loaded, LogFormat, LogLevel, Origin, Source, Store,
};

const PAGE: &str = include_str!("../../../../docs/server-config.md");

/// A home with perhaps a configuration file in it.
struct Home(tempfile::TempDir);

impl Home {
    fn new(file: &str) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(home.file().parent().unwrap()).unwrap();
        if !file.is_empty() {
            fs::write(home.file(), file).unwrap();
        }
        home
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self) -> PathBuf {
        self.path().join(".config/countersign/server.toml")
    }

    fn load(&self, variables: &[(&str, &str)], flags: Flags) -> Result<Loaded, ConfigError> {
        let mut environment: BTreeMap<_, _> =
            variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        environment.insert("HOME".into(), self.path().into());
        Config::load(&Source { environment, folder: self.path().join("here"), flags })
    }

    fn check(&self, variables: &[(&str, &str)]) -> Checked {
        self.load(variables, Flags::default()).unwrap().check()
    }
}

/// What is said of a file that is not understood.
fn message(file: &str) -> String {
    let home = Home::new(file);
    let message = home.load(&[], Flags::default()).unwrap_err().to_string();
    message.replace(home.file().to_str().unwrap(), "FILE")
}

/// What is said of a variable that is not understood.
fn variable_message(name: &str, value: &str) -> String {
    Home::new("").load(&[(name, value)], Flags::default()).unwrap_err().to_string()
}

/// The faults of a file that is understood, as they are shown.
fn faults(file: &str) -> Vec<String> {
    let home = Home::new(file);
    let faults = home.check(&[]).faults;
    faults
        .iter()
        .map(|fault| fault.to_string().replace(home.file().to_str().unwrap(), "FILE"))
        .collect()
}

#[test]
fn without_a_word_there_are_defaults() {
    let home = Home::new("");
    let loaded = home.load(&[], Flags::default()).unwrap();
    let data = home.path().join(".local/share/countersign");
    let expected =
        Config { store: Store::Sqlite(data.join("countersign.db")), data, ..Config::default() };
    assert_eq!(loaded.config, expected);
    assert_eq!(loaded.file, None);
    assert_eq!(loaded.config.listen.to_string(), "127.0.0.1:7787");
    assert_eq!(loaded.config.limits.live_processes, 8);
    assert_eq!(loaded.config.limits.park_after, Some(Duration::from_secs(120)));
    assert_eq!(loaded.config.limits.approval_expiry, None);
    assert!(loaded.check().faults.is_empty());
}

#[test]
fn each_layer_wins_over_the_one_before_it() {
    let home = Home::new(
        "listen = \"127.0.0.1:1\"\n[limits]\nlive_processes = 2\npark_after = \"5m\"\n[log]\nlevel = \"warn\"\n",
    );
    let variables =
        [("COUNTERSIGN_LIMITS_LIVE_PROCESSES", "3"), ("COUNTERSIGN_LOG_FORMAT", "json")];
    let flags =
        Flags { live_processes: Some(4), log_level: Some(LogLevel::Debug), ..Flags::default() };
    let loaded = home.load(&variables, flags).unwrap();

    assert_eq!(loaded.config.listen.port(), 1);
    assert_eq!(loaded.config.limits.park_after, Some(Duration::from_secs(300)));
    assert_eq!(loaded.config.limits.live_processes, 4);
    assert_eq!(loaded.config.log.level, LogLevel::Debug);
    assert_eq!(loaded.config.log.format, LogFormat::Json);

    let file = |line| Origin::File { file: home.file(), line };
    assert_eq!(*loaded.origin("listen"), file(1));
    assert_eq!(*loaded.origin("limits.park_after"), file(4));
    assert_eq!(*loaded.origin("limits.live_processes"), Origin::Flag);
    assert_eq!(*loaded.origin("log.format"), Origin::Environment("COUNTERSIGN_LOG_FORMAT".into()));
    assert_eq!(*loaded.origin("allow_bypass"), Origin::Default);
}

#[test]
fn a_path_is_relative_to_where_it_was_written() {
    let home =
        Home::new("roots = [\"work\", \"~/all\", \"/srv\"]\n[tls]\ncertificate = \"a.pem\"\n");
    let flags = Flags { tls_key: Some("b.pem".into()), ..Flags::default() };
    let config = home.load(&[("COUNTERSIGN_DATA", "state")], flags).unwrap().config;
    let beside = home.file().parent().unwrap().to_owned();
    assert_eq!(config.roots, [beside.join("work"), home.path().join("all"), PathBuf::from("/srv")]);
    assert_eq!(config.tls.certificate, Some(beside.join("a.pem")));
    assert_eq!(config.tls.key, Some(home.path().join("here/b.pem")));
    assert_eq!(config.data, home.path().join("here/state"));
    assert_eq!(config.store, Store::Sqlite(home.path().join("here/state/countersign.db")));
}

#[test]
fn lists_in_variables_have_commas_and_paths_have_colons() {
    let variables = [
        ("COUNTERSIGN_ROOTS", "/a:~/b"),
        ("COUNTERSIGN_ALLOWED_HOSTS", "one.example.org, two.example.org:8443"),
        ("COUNTERSIGN_PUBLIC_URL", ""),
    ];
    let home = Home::new("");
    let config = home.load(&variables, Flags::default()).unwrap().config;
    assert_eq!(config.roots, [PathBuf::from("/a"), home.path().join("b")]);
    let hosts: Vec<_> = config.allowed_hosts.iter().map(ToString::to_string).collect();
    assert_eq!(hosts, ["one.example.org", "two.example.org:8443"]);
    assert_eq!(config.public_url, None);
}

#[test]
fn the_folders_of_the_desktop_specification_are_used() {
    let home = Home::new("");
    let other = home.path().join("other");
    fs::create_dir_all(other.join("countersign")).unwrap();
    fs::write(other.join("countersign/server.toml"), "allow_bypass = true").unwrap();
    let other = other.to_str().unwrap();
    let loaded = home
        .load(&[("XDG_CONFIG_HOME", other), ("XDG_DATA_HOME", other)], Flags::default())
        .unwrap();
    assert!(loaded.config.allow_bypass);
    assert_eq!(loaded.config.data, Path::new(other).join("countersign"));
}

#[test]
fn a_file_that_was_asked_for_has_to_be_there() {
    let home = Home::new("");
    let flags = Flags { config: Some("no.toml".into()), ..Flags::default() };
    let error = home.load(&[], flags).unwrap_err();
    assert!(
        matches!(&error, ConfigError::Read { file, .. } if *file == home.path().join("here/no.toml"))
    );
    assert!(matches!(
        home.load(&[("COUNTERSIGN_CONFIG", "/no/such.toml")], Flags::default()),
        Err(ConfigError::Read { .. })
    ));
}

#[test]
fn without_a_home_the_data_folder_has_to_be_said() {
    let source = Source { folder: "/".into(), ..Source::default() };
    let error = Config::load(&source).unwrap_err();
    assert!(matches!(error, ConfigError::NoHome), "{error}");
}

#[test]
fn a_mistake_in_the_file_is_named_with_line_and_key() {
    for (file, expected) in [
        (
            "listen = \"localhost:7787\"\n",
            "FILE:1: `listen`: `localhost:7787` is not an IP address with a port; write",
        ),
        (
            "\n[limits]\nidle_after = \"ten\"\n",
            "FILE:3: `limits.idle_after`: `ten` is not a duration; write",
        ),
        (
            "\n[limits]\nidle_after = 10\n",
            "FILE:3: `limits.idle_after`: invalid type: integer `10`, expected a string",
        ),
        (
            "[limits]\n\nidle = \"10m\"\n",
            "FILE:3: `limits.idle`: unknown field `idle`, expected one of `live_processes`",
        ),
        ("limits.restarts.count = -1\n", "FILE:1: `limits.restarts.count`: "),
        ("limits = { body = \"32MB\" }\n", "FILE:1: `limits.body`: `32MB` is not a size; write"),
        ("roots = [\"/a\", 1]\n", "FILE:1: `roots[1]`: "),
        (
            "allowed_hosts = [\"*.example.org\"]\n",
            "FILE:1: `allowed_hosts`: `*.example.org` is not a host; write",
        ),
        (
            "\n[[webhooks]]\nurl = \"https://a\"\nevents = [\"approval.closed\"]\n",
            "FILE:4: `webhooks[0].events[0]`: unknown variant",
        ),
        ("\n[[webhooks]]\nsecret_file = \"a\"\n", "FILE:2: `webhooks[0]`: missing field `url`"),
        ("a = \n", "FILE:1: "),
        ("data = \"/a\"\ndata = \"/b\"\n", "FILE:2: duplicate key"),
        ("store = \"mysql://me:hunter2@host/db\"\n", "FILE:1: `store`: this is no store; write"),
    ] {
        let said = message(file);
        assert!(said.starts_with(expected), "{file}\nsays {said}\nnot  {expected}");
        assert!(!said.contains("hunter2"), "{said}");
    }
}

#[test]
fn a_mistake_in_a_variable_is_named_with_the_variable() {
    for (name, value, expected) in [
        ("COUNTERSIGN_LIMITS_PARK_AFTER", "soon", "`soon` is not a duration; write"),
        ("COUNTERSIGN_LIMITS_LIVE_PROCESSES", "many", "`many` is not a whole number"),
        ("COUNTERSIGN_ALLOW_BYPASS", "yes", "`yes` is neither \"true\" nor \"false\""),
        ("COUNTERSIGN_LOG_LEVEL", "loud", "unknown variant `loud`, expected one of"),
        (
            "COUNTERSIGN_WEBHOOKS",
            "https://a",
            "`webhooks` does not fit into a variable; write it into the file",
        ),
    ] {
        let said = variable_message(name, value);
        assert!(
            said.starts_with(&format!("the environment variable {name}: {expected}")),
            "{said}"
        );
    }
}

#[test]
fn a_mistake_in_a_flag_is_named_with_its_key() {
    let flags = Flags { public_url: Some("box".into()), ..Flags::default() };
    let said = Home::new("").load(&[], flags).unwrap_err().to_string();
    assert!(
        said.starts_with("the command line: `public_url`: `box` is not where people"),
        "{said}"
    );
}

#[test]
fn an_address_that_others_reach_needs_tls_or_a_word() {
    for listen in ["0.0.0.0:7787", "[::]:7787", "192.0.2.1:7787"] {
        let said = faults(&format!("listen = \"{listen}\"\n"));
        assert!(
            said[0].starts_with("`listen` (FILE:1): other machines reach this address"),
            "{said:?}"
        );
        let word = format!("listen = \"{listen}\"\nallow_non_loopback_without_tls = true\n");
        assert_eq!(faults(&word), Vec::<String>::new());
    }
    for listen in ["127.0.0.1:0", "127.8.9.1:1", "[::1]:7787"] {
        assert_eq!(faults(&format!("listen = \"{listen}\"\n")), Vec::<String>::new());
    }
}

#[test]
fn all_faults_are_said_at_once() {
    let said = faults(
        "roots = [\"/no/such/folder\"]\n[limits]\nlive_processes = 0\npark_after = \"0s\"\nbody = \"1\"\n\
         [tls]\nkey = \"/no/key\"\n[[webhooks]]\nurl = \"ftp://a\"\nevents = []\n",
    );
    for (fault, expected) in said.iter().zip([
        "`tls.certificate` (default): a key needs its certificate",
        "`limits.live_processes` (FILE:3): nothing works with zero",
        "`limits.park_after` (FILE:4): nothing works with zero; set it to more, or to \"off\"",
        "`limits.body` (FILE:5): ",
        "`roots` (FILE:1): the root /no/such/folder cannot be used",
        "`tls.key` (FILE:7): the file cannot be read",
        "`webhooks[0]` (FILE:8): its `url` is neither",
        "`webhooks[0]` (FILE:8): its `events` are empty",
        "`webhooks[0]` (FILE:8): give it either `secret` or `secret_file`",
    ]) {
        assert!(fault.starts_with(expected), "{fault}\nnot {expected}");
    }
    assert_eq!(said.len(), 9, "{said:#?}");
}

#[test]
fn what_is_shown_has_no_secrets() {
    let home = Home::new(
        "store = \"postgres://me:hunter2@db/agents?sslmode=require\"\n[cli.set]\nANTHROPIC_API_KEY = \"hunter2\"\n\
         [[webhooks]]\nurl = \"https://hooks.example.org/T00/hunter2\"\nsecret = \"hunter2hunter2hunter2\"\n",
    );
    fs::set_permissions(home.file(), fs::Permissions::from_mode(0o644)).unwrap();
    let checked = home.check(&[]);
    assert!(checked.faults.is_empty(), "{:?}", checked.faults);
    let shown = serde_json::to_string(&checked).unwrap() + &format!("{checked:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("ANTHROPIC_API_KEY") && shown.contains("hooks.example.org"), "{shown}");
    assert!(toml::to_string(&checked.config).is_ok());
    let warned =
        |home: &Home| home.check(&[]).warnings.iter().any(|text| text.contains("chmod 600"));
    assert!(warned(&home));
    fs::set_permissions(home.file(), fs::Permissions::from_mode(0o600)).unwrap();
    assert!(!warned(&home));
}

#[test]
fn a_database_that_is_reached_in_the_clear_is_a_fault() {
    for url in
        ["postgres://me:hunter2@db.example.org/a", "postgres://me:hunter2@db/a?sslmode=prefer"]
    {
        let checked = Home::new(&format!("store = \"{url}\"")).check(&[]);
        let said: Vec<_> = checked.faults.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("`store` ("), "{said:?}");
        assert!(said[0].contains("sslmode=verify-full"), "{said:?}");
        assert!(!said[0].contains("hunter2"), "{said:?}");
    }
    for url in [
        "postgres://me@db.example.org/a?sslmode=verify-full",
        "postgres://me@db.example.org/a?sslmode=disable",
        "postgres://me@localhost/a",
    ] {
        let checked = Home::new(&format!("store = \"{url}\"")).check(&[]);
        assert!(checked.faults.is_empty(), "{url}: {:?}", checked.faults);
    }
}

#[test]
fn what_deserves_a_look_is_a_warning() {
    let home = Home::new("");
    let data = home.path().join("data");
    fs::create_dir(&data).unwrap();
    let [root, data] = [home.path(), &data].map(|path| path.to_str().unwrap().to_owned());
    let checked = home.check(&[
        ("COUNTERSIGN_ROOTS", &root),
        ("COUNTERSIGN_DATA", &data),
        ("COUNTERSIGN_LIMITS_PARK", "2m"),
        ("COUNTERSIGN_CLI_CACHE", "/cache"),
    ]);
    let said = checked.warnings.join("\n");
    assert!(said.contains("the data folder is within a root"), "{said}");
    assert!(said.contains("COUNTERSIGN_LIMITS_PARK sets nothing"), "{said}");
    assert!(!said.contains("COUNTERSIGN_CLI_CACHE"), "{said}");
    assert!(Home::new("").check(&[]).warnings[0].contains("--root FOLDER"));
}

#[test]
fn the_address_for_people_is_one_that_a_browser_can_go_to() {
    let url = |file: &str| {
        let config = Home::new(file).load(&[], Flags::default()).unwrap().config;
        config.url(config.listen)
    };
    assert_eq!(url(""), "http://127.0.0.1:7787");
    assert_eq!(url("listen = \"0.0.0.0:80\""), "http://127.0.0.1:80");
    assert_eq!(url("listen = \"[::]:80\""), "http://[::1]:80");
    assert_eq!(url("public_url = \"https://box/\""), "https://box");
    assert_eq!(url("tls = { certificate = \"a\", key = \"b\" }"), "https://127.0.0.1:7787");
}

/// The text between the fences of the first block of TOML.
fn example() -> &'static str {
    PAGE.split("```toml\n").nth(1).unwrap().split("```").next().unwrap()
}

#[test]
fn the_example_of_the_page_is_understood() {
    let home = Home::new(example());
    let loaded = home.load(&[], Flags::default()).unwrap();
    assert_eq!(loaded.config.webhooks.len(), 1);
    assert_eq!(loaded.config.roots.len(), 2);
}

/// The rows of the tables of keys: key, default, variable.
fn rows() -> Vec<[&'static str; 3]> {
    PAGE.lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let mut cells = line.split('|').skip(1).map(|cell| cell.trim().trim_matches('`'));
            [(); 3].map(|()| cells.next().unwrap())
        })
        .collect()
}

#[test]
fn the_page_has_every_key_with_its_default() {
    fn leaves(table: &toml::Table, front: &str, all: &mut BTreeMap<String, String>) {
        for (key, value) in table {
            match value {
                toml::Value::Table(inner) if !inner.is_empty() => {
                    leaves(inner, &format!("{front}{key}."), all);
                }
                _ => {
                    all.insert(format!("{front}{key}"), value.to_string());
                }
            }
        }
    }
    let mut expected = BTreeMap::new();
    leaves(&toml::Table::try_from(Config::default()).unwrap(), "", &mut expected);
    expected.remove("tls");
    // These depend on the user, or have no default, or are too long for a table.
    for key in ["public_url", "tls.certificate", "tls.key", "cli.path", "cli.home"] {
        expected.insert(key.into(), "none".into());
    }
    expected.insert("data".into(), "~/.local/share/countersign".into());
    expected.insert("store".into(), "\"sqlite\"".into());
    expected.insert("cli.pass".into(), "see below".into());
    let documented: BTreeMap<String, String> =
        rows().into_iter().map(|[key, default, _]| (key.into(), default.into())).collect();
    assert_eq!(documented, expected);
    for name in Config::default().cli.pass {
        assert!(PAGE.contains(&format!("`{name}`")), "{name} is not on the page");
    }
}

#[test]
fn the_variables_of_the_page_are_the_ones_that_are_read() {
    for [key, _, variable] in rows() {
        if variable == "file only" {
            continue;
        }
        assert_eq!(variable, format!("COUNTERSIGN_{}", key.replace('.', "_").to_uppercase()));
        // A list of one strange character is a list; for all else it is a mistake, or a text.
        let home = Home::new("");
        let known = match home.load(&[(variable, "\u{1}")], Flags::default()) {
            Err(error) => error.to_string().contains(variable),
            Ok(loaded) => *loaded.origin(key) == Origin::Environment(variable.into()),
        };
        assert!(known, "{variable} is not read");
    }
}
