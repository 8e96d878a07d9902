//! What several sections say alike: who logs in to an identity service, and how a connection is encrypted.

use crate::config::file::ConfigFile;
use crate::config::option::OptionKey;
use crate::stdio::CommandError;
use kiln_cloud::{DomainRef, EntityRef, Tls};
use std::path::{Path, PathBuf};

/// The domain of users and projects for which none is named.
const DEFAULT_DOMAIN: &str = "Default";

/// The values that name a user or a project.
#[derive(Clone, Default)]
pub(super) struct EntityOptions {
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) domain_id: Option<String>,
    pub(super) domain_name: Option<String>,
}

impl EntityOptions {
    /// The user or project; the other one if nothing is set. An id comes before a name, as in keystoneauth.
    pub(super) fn or(&self, other: &EntityRef) -> EntityRef {
        let domain = match (&self.domain_id, &self.domain_name) {
            (Some(id), _) => Some(DomainRef::Id(id.clone())),
            (None, Some(name)) => Some(DomainRef::Name(name.clone())),
            (None, None) => None,
        };
        let default = || match other {
            EntityRef::NameInDomainId { domain_id, .. } => DomainRef::Id(domain_id.clone()),
            EntityRef::NameInDomainName { domain_name, .. } => DomainRef::Name(domain_name.clone()),
            EntityRef::Id(_) => DomainRef::Name(DEFAULT_DOMAIN.to_owned()),
        };
        match (&self.id, &self.name, other) {
            (Some(id), ..) => EntityRef::Id(id.clone()),
            (None, Some(name), _) => EntityRef::named(name, domain.unwrap_or_else(default)),
            (None, None, EntityRef::Id(id)) => EntityRef::Id(id.clone()),
            (
                None,
                None,
                EntityRef::NameInDomainId { name, .. } | EntityRef::NameInDomainName { name, .. },
            ) => EntityRef::named(name, domain.unwrap_or_else(default)),
        }
    }
}

/// A user or project by its name, in the domain that is used where none is named.
pub(super) fn in_default_domain(name: &str) -> EntityRef {
    EntityRef::named(name, DomainRef::Name(DEFAULT_DOMAIN.to_owned()))
}

/// The values of an encrypted connection.
#[derive(Clone, Default)]
pub(super) struct TlsOptions {
    pub(super) ca_file: Option<PathBuf>,
    pub(super) cert_file: Option<PathBuf>,
    pub(super) key_file: Option<PathBuf>,
    pub(super) insecure: Option<bool>,
}

/// The options that name the files of a connection.
pub(super) struct TlsKeys {
    pub(super) ca_file: OptionKey,
    pub(super) cert_file: OptionKey,
    pub(super) key_file: OptionKey,
}

impl TlsOptions {
    /// Whether nothing is set.
    pub(super) fn is_empty(&self) -> bool {
        let files = [&self.ca_file, &self.cert_file, &self.key_file];
        files.into_iter().all(Option::is_none) && self.insecure.is_none()
    }

    /// The same, with the values of others where nothing is set.
    pub(super) fn or(&self, others: &TlsOptions) -> TlsOptions {
        let or = |value: &Option<PathBuf>, other: &Option<PathBuf>| value.clone().or(other.clone());
        TlsOptions {
            ca_file: or(&self.ca_file, &others.ca_file),
            cert_file: or(&self.cert_file, &others.cert_file),
            key_file: or(&self.key_file, &others.key_file),
            insecure: self.insecure.or(others.insecure),
        }
    }

    /// The settings, with the contents of the files.
    pub(super) fn settings(&self, file: &ConfigFile, keys: &TlsKeys) -> Result<Tls, CommandError> {
        let text = |path: &Option<PathBuf>, key: OptionKey| {
            path.as_deref().map(|path| read(file, path, key)).transpose()
        };
        let certificate = text(&self.cert_file, keys.cert_file)?;
        let key = text(&self.key_file, keys.key_file)?;
        let identity = certificate.map(|it| [it, key.unwrap_or_default()].concat());
        if self.key_file.is_some() && self.cert_file.is_none() {
            return Err(file.error_at(keys.key_file, "a key needs its certificate, too"));
        }
        let tls = Tls {
            authorities: text(&self.ca_file, keys.ca_file)?.unwrap_or_default().into(),
            identity: identity.map(Into::into),
            is_insecure: self.insecure.unwrap_or(false),
        };
        // What is wrong with the contents is told at the start, not at the first call.
        match tls.configure(kiln_cloud::client_builder()).and_then(|client| client.build()) {
            Ok(_) => Ok(tls),
            Err(error) => {
                let key = if self.cert_file.is_some() { keys.cert_file } else { keys.ca_file };
                Err(file.error_at(key, &format!("the certificates cannot be used: {error}")))
            }
        }
    }
}

fn read(file: &ConfigFile, path: &Path, key: OptionKey) -> Result<String, CommandError> {
    std::fs::read_to_string(path)
        .map_err(|error| file.error_at(key, &format!("{} cannot be read: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_comes_before_a_name_and_a_domain_before_the_default() {
        let some = |text: &str| Some(text.to_owned());
        let heat = in_default_domain("heat");
        let none = EntityOptions::default();
        assert_eq!(none.or(&heat), heat);
        let by_id = EntityOptions { id: some("u"), name: some("x"), ..none.clone() };
        assert_eq!(by_id.or(&heat), EntityRef::Id("u".into()));
        let domain = EntityOptions { domain_id: some("d"), domain_name: some("D"), ..none.clone() };
        let named = |domain| EntityRef::named("heat", domain);
        assert_eq!(domain.or(&heat), named(DomainRef::Id("d".into())));
        let other = EntityOptions { domain_name: some("D"), ..none.clone() };
        assert_eq!(other.or(&heat), named(DomainRef::Name("D".into())));
        // A name takes over the domain of the login that it replaces.
        let name = EntityOptions { name: some("trustee"), ..none };
        let expected = EntityRef::named("trustee", DomainRef::Id("d".into()));
        assert_eq!(name.or(&domain.or(&heat)), expected);
    }
}
