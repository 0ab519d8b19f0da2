//! TLS from certificate files, which may be renewed while the server runs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use thiserror::Error;
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert, ServerConfig};
use tokio_rustls::rustls::sign::CertifiedKey;

use crate::config::TlsFiles;

/// How often it is looked whether the files have changed.
const LOOK: Duration = Duration::from_secs(60);

/// Why there is no TLS.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{file} cannot be read: {source}")]
    Read {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// There is not in a file what should be there.
    #[error("{file} is not a PEM file with what is needed: {source}")]
    Pem {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: pem::Error,
    },
    /// There is no certificate in the file.
    #[error("{file} has no certificate in it; it needs a block that begins with BEGIN CERTIFICATE")]
    NoCertificate {
        /// The file.
        file: PathBuf,
    },
    /// Certificate and key are not for each other, or of a kind that is not known.
    #[error("the certificate {certificate} cannot be used with the key {key}: {source}")]
    Unusable {
        /// The certificate.
        certificate: PathBuf,
        /// The key.
        key: PathBuf,
        /// Why not.
        source: rustls::Error,
    },
}

/// TLS with a certificate that can be renewed.
#[derive(Debug)]
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    shown: Arc<Shown>,
    config: Arc<ServerConfig>,
}

/// The certificate that is shown now.
#[derive(Debug)]
struct Shown(RwLock<Loaded>);

#[derive(Clone, Debug)]
struct Loaded {
    key: Arc<CertifiedKey>,
    /// Of both files, to see when they have changed.
    hash: [u8; 32],
}

impl Shown {
    fn get(&self) -> Loaded {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ResolvesServerCert for Shown {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.get().key)
    }
}

impl Tls {
    /// Reads the certificate and its key.
    ///
    /// # Errors
    ///
    /// They cannot be read or used.
    pub fn load(files: TlsFiles<'_>) -> Result<Self, TlsError> {
        let shown = Arc::new(Shown(RwLock::new(load(files.certificate, files.key)?)));
        let unusable = |source| TlsError::Unusable {
            certificate: files.certificate.to_owned(),
            key: files.key.to_owned(),
            source,
        };
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_no_client_auth()
            .with_cert_resolver(shown.clone());
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            certificate: files.certificate.to_owned(),
            key: files.key.to_owned(),
            shown,
            config: Arc::new(config),
        })
    }

    /// Reads the files again, and says whether they had changed. New connections get the new
    /// certificate.
    ///
    /// # Errors
    ///
    /// They cannot be read or used; the certificate stays the old one.
    pub fn reload(&self) -> Result<bool, TlsError> {
        let new = load(&self.certificate, &self.key)?;
        let mut shown = self.shown.0.write().unwrap_or_else(PoisonError::into_inner);
        let changed = shown.hash != new.hash;
        *shown = new;
        Ok(changed)
    }

    /// Looks for ever whether the files have changed. While they are of no use, because one of them
    /// is being written, the certificate stays the old one.
    pub(super) async fn watch(&self) {
        loop {
            sleep(LOOK).await;
            match self.reload() {
                Ok(true) => tracing::info!("took up a new certificate"),
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "the certificate stays the old one"),
            }
        }
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.config.clone())
    }
}

fn load(certificate: &Path, key: &Path) -> Result<Loaded, TlsError> {
    let read = |file: &Path| {
        fs::read(file).map_err(|source| TlsError::Read { file: file.to_owned(), source })
    };
    let (certificate_text, key_text) = (read(certificate)?, read(key)?);
    let wrong = |file: &Path, source| TlsError::Pem { file: file.to_owned(), source };
    let chain = CertificateDer::pem_slice_iter(&certificate_text).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|source| wrong(certificate, source))?;
    if chain.is_empty() {
        return Err(TlsError::NoCertificate { file: certificate.to_owned() });
    }
    let private = PrivateKeyDer::from_pem_slice(&key_text).map_err(|source| wrong(key, source))?;
    let certified = CertifiedKey::from_der(chain, private, &ring::default_provider());
    let certified = certified.map_err(|source| TlsError::Unusable {
        certificate: certificate.to_owned(),
        key: key.to_owned(),
        source,
    })?;
    let hash = Sha256::new().chain_update(&certificate_text).chain_update(&key_text).finalize();
    Ok(Loaded { key: Arc::new(certified), hash: hash.into() })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Tls, TlsError};
    use crate::config::TlsFiles;

    struct Files(tempfile::TempDir);

    impl Files {
        fn new() -> Self {
            let files = Self(tempfile::tempdir().unwrap());
            files.renew();
            files
        }

        fn renew(&self) {
            let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
            fs::write(self.0.path().join("certificate"), made.cert.pem()).unwrap();
            fs::write(self.0.path().join("key"), made.signing_key.serialize_pem()).unwrap();
        }

        fn load(&self) -> Result<Tls, TlsError> {
            let [certificate, key] = ["certificate", "key"].map(|name| self.0.path().join(name));
            Tls::load(TlsFiles { certificate: &certificate, key: &key })
        }

        fn write(&self, name: &str, text: &str) {
            fs::write(self.0.path().join(name), text).unwrap();
        }
    }

    #[test]
    fn a_renewed_certificate_is_taken_up_and_a_broken_one_is_not() {
        let files = Files::new();
        let tls = files.load().unwrap();
        let old = tls.shown.get().hash;
        assert!(!tls.reload().unwrap());

        files.write("certificate", "half of a fi");
        assert!(tls.reload().is_err());
        assert_eq!(tls.shown.get().hash, old);

        files.renew();
        assert!(tls.reload().unwrap());
        assert_ne!(tls.shown.get().hash, old);
    }

    #[test]
    fn what_cannot_be_used_is_said_with_its_file() {
        let files = Files::new();
        files.write("certificate", "nothing");
        assert!(matches!(files.load(), Err(TlsError::NoCertificate { .. })));
        let files = Files::new();
        files.write("key", "nothing");
        assert!(matches!(files.load(), Err(TlsError::Pem { .. })));
        let (files, others) = (Files::new(), Files::new());
        fs::copy(others.0.path().join("key"), files.0.path().join("key")).unwrap();
        let error = files.load().unwrap_err();
        assert!(matches!(error, TlsError::Unusable { .. }), "{error}");
        fs::remove_file(files.0.path().join("key")).unwrap();
        assert!(matches!(files.load(), Err(TlsError::Read { .. })));
    }
}
