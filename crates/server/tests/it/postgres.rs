//! The store in PostgreSQL, as a server uses it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use countersign_lab::postgres::{Certificate, Cluster, Lose, Lossy};
use countersign_server::access::Clock;
use countersign_server::bus::{Bus, News};
use countersign_server::id::SessionId;
use countersign_server::session::{Happening, Noted};
use countersign_server::store::conformance::{self, Place, agrees};
use countersign_server::store::{
    PostgresSettings, PostgresStore, Store, StoreError, StoreFuture, Write, WriteError, Written,
};
use proptest::prelude::*;
use rcgen::{BasicConstraints, CertificateParams, CertifiedKey, DnType, IsCa, Issuer, KeyPair};
use rustix::process::Signal;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::broadcast::Receiver;

use crate::{access_store, random};

/// A schema with a store in it.
struct Schema(String);

impl Place for Schema {
    fn open(&self, bus: Arc<Bus>, clock: Arc<dyn Clock>) -> StoreFuture<'_, Arc<dyn Store>> {
        Box::pin(async move {
            let settings = PostgresSettings { clock, ..PostgresSettings::default() };
            let store = PostgresStore::connect_with(&self.0, bus, settings).await?;
            Ok(Arc::new(store) as _)
        })
    }
}

/// Names schemas.
#[derive(Default)]
struct Schemas(AtomicUsize);

impl Schemas {
    fn next(&self, cluster: &Cluster) -> String {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        cluster.schema(&format!("s{number}")).unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_in_postgresql_keeps_all_rules() {
    let (cluster, schemas) = (Cluster::start().await.unwrap(), Schemas::default());
    let fresh = async || Arc::new(Schema(schemas.next(&cluster))) as _;
    let report = conformance::check(fresh).await;
    let broken: Vec<_> = report.broken.iter().map(ToString::to_string).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(report.passed.len() > 50, "{:?}", report.passed);
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_kept_in_postgresql() {
    let (cluster, schemas) = (Cluster::start().await.unwrap(), Schemas::default());
    access_store::conforms(async || {
        let url = schemas.next(&cluster);
        Arc::new(PostgresStore::connect(&url, Arc::default()).await.unwrap())
    })
    .await;
}

#[test]
fn whatever_is_tried_the_log_and_what_is_made_of_it_agree() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (cluster, schemas) = (runtime.block_on(Cluster::start()).unwrap(), Schemas::default());
    let written = std::cell::Cell::new(0);
    let config = ProptestConfig { cases: 32, failure_persistence: None, ..Default::default() };
    proptest!(config, |(steps in random::steps())| {
        let live = async {
            let place = Arc::new(Schema(schemas.next(&cluster)));
            random::live(place, &steps).await
        };
        written.set(written.get() + runtime.block_on(live));
    });
    assert!(written.get() > 100, "{written:?}");
}

/// A store with one session, and who is told of what is written.
struct Fixture {
    store: PostgresStore,
    session: SessionId,
    news: Receiver<News>,
}

impl Fixture {
    async fn new(url: &str, patience: Duration) -> Self {
        let (bus, session) = (Arc::new(Bus::new()), SessionId::new());
        let settings = PostgresSettings { patience, ..PostgresSettings::default() };
        let mut news = bus.subscribe_all();
        let store = PostgresStore::connect_with(url, bus, settings).await.unwrap();
        store.write(Write::to(session, vec![random::created()])).await.unwrap();
        news.recv().await.unwrap();
        Self { store, session, news }
    }

    async fn note(&self) -> Result<u64, WriteError> {
        let noted: Happening = Noted { text: "a note".into() }.into();
        let written = self.store.write(Write::to(self.session, vec![noted])).await?;
        let Written::Now { events, .. } = written else { return Ok(0) };
        Ok(events.first().unwrap().seq)
    }

    /// Nothing can be written or read, and subscribers are told of nothing.
    async fn is_unavailable(&mut self) {
        let written = self.note().await;
        let unavailable = matches!(written, Err(WriteError::Store(StoreError::Unavailable(_))));
        assert!(unavailable, "{written:?}");
        let read = self.store.head(self.session).await;
        assert!(matches!(read, Err(StoreError::Unavailable(_))), "{read:?}");
        assert!(self.news.try_recv().is_err(), "told of what is not written");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_gone_is_used_again_when_it_is_back() {
    let mut cluster = Cluster::start().await.unwrap();
    let url = cluster.schema("mine").unwrap();
    let mut fixture = Fixture::new(&url, Duration::from_secs(10)).await;
    let mut seq = 1;
    for signal in [Signal::INT, Signal::QUIT] {
        cluster.stop(signal);
        fixture.is_unavailable().await;
        fixture.is_unavailable().await;
        assert!(fixture.store.check().await.is_err());
        cluster.resume().await.unwrap();
        // The lock is ours again with the first thing that is written.
        fixture.store.check().await.unwrap();
        let second = PostgresStore::connect(&url, Arc::default()).await;
        assert!(matches!(second, Err(StoreError::InUse(_))), "{second:?}");
        seq += 1;
        assert_eq!(fixture.note().await.unwrap(), seq);
        let Ok(News::Event { event, .. }) = fixture.news.try_recv() else {
            panic!("subscribers are not told any more");
        };
        assert_eq!(event.seq, seq);
        agrees(&fixture.store, fixture.session).await.unwrap();
    }
    fixture.store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_does_not_answer_is_not_waited_for_forever() {
    let cluster = Cluster::start().await.unwrap();
    let url = cluster.schema("mine").unwrap();
    let mut fixture = Fixture::new(&url, Duration::from_millis(500)).await;
    cluster.freeze(Signal::STOP);
    fixture.is_unavailable().await;
    cluster.freeze(Signal::CONT);
    // The connection that was given up is gone when the database has noticed it.
    while let Err(error) = fixture.note().await {
        assert!(matches!(error, WriteError::Store(StoreError::Unavailable(_))), "{error}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    agrees(&fixture.store, fixture.session).await.unwrap();
    let head = fixture.store.head(fixture.session).await.unwrap().unwrap();
    assert_eq!(head.seq, 2, "something was written that was said not to be");
    fixture.store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn whether_a_lost_commit_was_done_is_found_out() {
    let cluster = Cluster::start().await.unwrap();
    let lossy = Lossy::to(&cluster.socket()).unwrap();
    cluster.schema("mine").unwrap();
    let url = cluster.url_through(lossy.folder(), "mine");
    let mut fixture = Fixture::new(&url, Duration::from_secs(10)).await;
    let store = &fixture.store;

    lossy.lose(Lose::Answer);
    assert_eq!(fixture.note().await.unwrap(), 2);
    assert!(lossy.has_lost());
    assert!(fixture.news.try_recv().is_ok(), "subscribers were not told");
    // Also when there is no event by which it could be known.
    lossy.lose(Lose::Answer);
    store.set_cursor("hook", 7).await.unwrap();
    assert!(lossy.has_lost());
    assert_eq!(store.cursor("hook").await.unwrap(), Some(7));

    lossy.lose(Lose::Commit);
    let written = fixture.note().await;
    let unavailable = matches!(written, Err(WriteError::Store(StoreError::Unavailable(_))));
    assert!(unavailable && lossy.has_lost(), "{written:?}");
    assert!(fixture.news.try_recv().is_err(), "told of what is not written");
    assert_eq!(fixture.note().await.unwrap(), 3);
    agrees(&fixture.store, fixture.session).await.unwrap();
    fixture.store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_beside_a_commit_that_nobody_knows_of_is_told_so() {
    let mut cluster = Cluster::start().await.unwrap();
    let lossy = Lossy::to(&cluster.socket()).unwrap();
    cluster.schema("mine").unwrap();
    let url = cluster.url_through(lossy.folder(), "mine");
    let fixture = Fixture::new(&url, Duration::from_secs(10)).await;
    lossy.lose(Lose::Answer);
    let crash_and_come_back = async {
        while !lossy.has_lost() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cluster.stop(Signal::QUIT);
        let beside = fixture.store.check().await;
        assert!(matches!(beside, Err(StoreError::Unavailable(_))), "{beside:?}");
        cluster.resume().await.unwrap();
    };
    let (written, ()) = tokio::join!(fixture.note(), crash_and_come_back);
    // The crash may have come before the commit was done. What is said is what is there.
    let seq = fixture.store.head(fixture.session).await.unwrap().unwrap().seq;
    assert_eq!(written.unwrap_or(1), seq);
    agrees(&fixture.store, fixture.session).await.unwrap();
    fixture.store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_a_crash_of_the_database_took_is_not_taken_for_done() {
    let mut cluster = Cluster::start().await.unwrap();
    // What is not committed stays in the memory of the database, and is lost in a crash: also that
    // the transaction had a number, which somebody else has then.
    cluster.run("ALTER SYSTEM SET wal_writer_delay = '10s'").unwrap();
    cluster.stop(Signal::INT);
    cluster.resume().await.unwrap();
    let lossy = Lossy::to(&cluster.socket()).unwrap();
    cluster.schema("mine").unwrap();
    let url = cluster.url_through(lossy.folder(), "mine");
    let mut fixture = Fixture::new(&url, Duration::from_secs(10)).await;
    cluster.run("CHECKPOINT").unwrap();
    lossy.lose_and_shut(Lose::Commit);
    let crash_and_come_back = async {
        while !lossy.has_lost() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cluster.stop(Signal::QUIT);
        cluster.resume().await.unwrap();
        cluster.run("CREATE TABLE public.other (a INT)").unwrap();
        cluster.run("INSERT INTO public.other VALUES (1)").unwrap();
        lossy.let_through();
    };
    let (written, ()) = tokio::join!(fixture.note(), crash_and_come_back);
    let unavailable = matches!(written, Err(WriteError::Store(StoreError::Unavailable(_))));
    assert!(unavailable, "{written:?}");
    assert!(fixture.news.try_recv().is_err(), "told of what is not written");
    assert_eq!(fixture.note().await.unwrap(), 2);
    agrees(&fixture.store, fixture.session).await.unwrap();
    fixture.store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_commit_is_found_out_though_another_server_wrote_meanwhile() {
    let cluster = Cluster::start().await.unwrap();
    let lossy = Lossy::to(&cluster.socket()).unwrap();
    let direct = cluster.schema("mine").unwrap();
    let url = cluster.url_through(lossy.folder(), "mine");
    let mut fixture = Fixture::new(&url, Duration::from_secs(10)).await;
    let session = fixture.session;
    lossy.lose_and_shut(Lose::Answer);
    let another = async {
        while !lossy.has_lost() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let other = PostgresStore::connect(&direct, Arc::default()).await.unwrap();
        let noted: Happening = Noted { text: "another note".into() }.into();
        other.write(Write::to(session, vec![noted])).await.unwrap();
        other.close().await.unwrap();
        lossy.let_through();
    };
    let (written, ()) = tokio::join!(fixture.note(), another);
    assert_eq!(written.unwrap(), 2);
    assert!(fixture.news.try_recv().is_ok(), "subscribers were not told");
    assert_eq!(fixture.note().await.unwrap(), 4, "what the other one wrote is known");
    agrees(&fixture.store, session).await.unwrap();
    fixture.store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_not_a_store_is_refused_and_left_alone() {
    let cluster = Cluster::start().await.unwrap();
    let url = cluster.schema("other").unwrap();
    cluster.run("CREATE TABLE other.mine (a INT)").unwrap();
    let error = PostgresStore::connect(&url, Arc::default()).await.unwrap_err();
    assert!(matches!(error, StoreError::Version(_)), "{error}");
    cluster.run("DROP TABLE other.mine").unwrap();
    let store = PostgresStore::connect(&url, Arc::default()).await.unwrap();
    store.close().await.unwrap();
    cluster.run("UPDATE other.countersign_version SET version = 1000").unwrap();
    let error = PostgresStore::connect(&url, Arc::default()).await.unwrap_err();
    assert!(matches!(&error, StoreError::Version(why) if why.contains("1000")), "{error}");
    let latin = "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0";
    cluster.run(latin).unwrap();
    let url = cluster.url("").replace("/postgres", "/latin");
    let error = PostgresStore::connect(&url, Arc::default()).await.unwrap_err();
    assert!(matches!(error, StoreError::Unsupported(_)), "{error}");
    let gone = cluster.url("").replace("/postgres", "/gone");
    let error = PostgresStore::connect(&gone, Arc::default()).await.unwrap_err();
    assert!(error.to_string().contains("gone"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_left_to_the_tool_for_it() {
    let cluster = Cluster::start().await.unwrap();
    let store =
        PostgresStore::connect(&cluster.schema("mine").unwrap(), Arc::default()).await.unwrap();
    let error = store.backup("/tmp/never".into()).await.unwrap_err();
    assert!(matches!(&error, StoreError::Unsupported(why) if why.contains("pg_dump")), "{error}");
    store.close().await.unwrap();
}

/// A certificate that this authority has signed, for these names.
fn signed(names: &[&str], by: &Issuer<'_, KeyPair>) -> CertifiedKey<KeyPair> {
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    let signing_key = KeyPair::generate().unwrap();
    let cert = CertificateParams::new(names).unwrap().signed_by(&signing_key, by).unwrap();
    CertifiedKey { cert, signing_key }
}

/// An authority, and its certificate.
fn authority(name: &str) -> (Issuer<'static, KeyPair>, String) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let pem = params.self_signed(&key).unwrap().pem();
    (Issuer::new(params, key), pem)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_is_secured_as_its_url_says() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, pem: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, pem).unwrap();
        file.display().to_string()
    };
    let ((ours, our_pem), (_, other_pem)) = (authority("ours"), authority("another"));
    let (ours_file, other_file) = (file("ours.pem", &our_pem), file("other.pem", &other_pem));
    let of_server = signed(&["localhost"], &ours);
    let (certificate, key) = (of_server.cert.pem(), of_server.signing_key.serialize_pem());
    let with = Certificate { certificate: &certificate, key: &key };
    let cluster = Cluster::start_secured(with).await.unwrap();
    cluster.run("ALTER ROLE test PASSWORD 'open sesame'").unwrap();
    cluster.schema("mine").unwrap();
    let port = cluster.secured().unwrap().port();
    let connect = async |host: &str, query: &str| {
        let url = format!(
            "postgresql://test:open%20sesame@{host}:{port}/postgres\
             ?options=-c%20search_path%3Dmine{query}"
        );
        let store = PostgresStore::connect(&url, Arc::default()).await?;
        store.check().await?;
        store.close().await
    };
    let secured = [
        ("localhost", format!("&sslmode=verify-full&sslrootcert={ours_file}")),
        // It is not for that name, which is not looked at.
        ("127.0.0.1", format!("&sslmode=verify-ca&sslrootcert={ours_file}")),
        ("127.0.0.1", format!("&sslmode=require&sslrootcert={ours_file}")),
        ("127.0.0.1", "&sslmode=require".to_owned()),
        ("127.0.0.1", "&sslmode=prefer".to_owned()),
    ];
    for (host, query) in &secured {
        connect(host, query).await.unwrap_or_else(|error| panic!("{query}: {error}"));
    }
    for (host, query, part) in [
        ("localhost", format!("&sslmode=verify-full&sslrootcert={other_file}"), "certificate"),
        ("localhost", "&sslmode=verify-full".to_owned(), "certificate"),
        ("127.0.0.1", format!("&sslmode=verify-full&sslrootcert={ours_file}"), "certificate"),
        ("127.0.0.1", format!("&sslmode=verify-ca&sslrootcert={other_file}"), "certificate"),
        ("127.0.0.1", "&sslmode=verify-ca".to_owned(), "certificate"),
        ("127.0.0.1", format!("&sslmode=require&sslrootcert={other_file}"), "certificate"),
        // The database wants TLS.
        ("127.0.0.1", "&sslmode=disable".to_owned(), "no encryption"),
        ("127.0.0.1", String::new(), "no encryption"),
    ] {
        let error = connect(host, &query).await.unwrap_err().to_string();
        assert!(error.contains(part), "{query}: {error}");
        assert!(!error.contains("sesame"), "{error}");
    }
    // All connections are, those that read as well.
    let url = format!(
        "postgresql://test:open%20sesame@localhost:{port}/postgres?sslmode=verify-full\
         &sslrootcert={ours_file}&options=-c%20search_path%3Dmine"
    );
    let fixture = Fixture::new(&url, Duration::from_secs(10)).await;
    fixture.store.head(fixture.session).await.unwrap().unwrap();
    let plain = "DO $$ BEGIN ASSERT (SELECT count(*) FILTER (WHERE ssl) >= 2
                     AND count(*) FILTER (WHERE NOT ssl) = 0
                     FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                     WHERE application_name = 'countersign'); END $$";
    cluster.run(plain).unwrap();
    fixture.store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_without_tls_is_not_taken_for_one_with_it() {
    // It speaks as PostgreSQL does that has no certificate: no.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let refuse = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut asked = [0; 8];
        stream.read_exact(&mut asked).await.unwrap();
        stream.write_all(b"N").await.unwrap();
        // What comes then is nothing: the password least of all.
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).await.unwrap();
        rest
    };
    let url = format!("postgresql://me:secret@127.0.0.1:{port}/db?sslmode=require");
    let connect = PostgresStore::connect(&url, Arc::default());
    let (rest, connected) = tokio::join!(refuse, connect);
    let error = connected.unwrap_err().to_string();
    assert!(error.contains("does not support TLS"), "{error}");
    assert!(rest.is_empty(), "{rest:?}");
}
