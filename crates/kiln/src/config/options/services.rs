//! Options of single services of the cloud: sections `[clients_SERVICE]`, and what is different for some services.

use super::login::{TlsKeys, TlsOptions};
use crate::config::file::ConfigFile;
use crate::config::option::{OptionRow, Setting};
use crate::stdio::CommandError;
use kiln_cloud::{Service, ServiceSettings};
use std::collections::BTreeMap;

/// The section of the table that describes all sections `[clients_SERVICE]`.
pub(in crate::config) const SERVICE: &str = "clients_SERVICE";

/// The endpoint types, with and without the suffix of older files.
pub(super) const ENDPOINT_TYPES: &[&str] =
    &["", "publicURL", "internalURL", "adminURL", "public", "internal", "admin"];

/// The values.
#[derive(Default)]
pub(in crate::config) struct ServiceOptions {
    endpoint_type: String,
    tls: TlsOptions,
    shared_region: Option<String>,
    shared_types: Vec<String>,
    max_cinder: Option<String>,
    max_ironic: Option<String>,
    max_nova: Option<String>,
}

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow::new(
        "DEFAULT",
        "max_cinder_api_microversion",
        "The highest microversion of the volume service that is used.",
        Setting::MaybeText(|it| &mut it.services.max_cinder),
    ),
    OptionRow::new(
        "DEFAULT",
        "max_ironic_api_microversion",
        "The highest microversion of the bare metal service that is used.",
        Setting::MaybeText(|it| &mut it.services.max_ironic),
    ),
    OptionRow::new(
        "DEFAULT",
        "max_nova_api_microversion",
        "The highest microversion of the compute service that is used.",
        Setting::MaybeText(|it| &mut it.services.max_nova),
    ),
    OptionRow::new(
        "DEFAULT",
        "region_name_for_shared_services",
        "The region of the services in shared_services_types; region_name_for_services if not set.",
        Setting::MaybeText(|it| &mut it.services.shared_region),
    ),
    OptionRow::new(
        "DEFAULT",
        "shared_services_types",
        "The types of services that several regions share.",
        Setting::List(&["image", "volumev3"], |it| &mut it.services.shared_types),
    ),
    OptionRow::new(
        SERVICE,
        "ca_file",
        "The CA certificates to trust in calls to this service; those of [clients] if not set. SERVICE is nova, \
         neutron and so on.",
        Setting::File(None, |it| &mut it.services.tls.ca_file),
    ),
    OptionRow::new(
        SERVICE,
        "cert_file",
        "The certificate of Kiln for calls to this service; that of [clients] if not set.",
        Setting::File(None, |it| &mut it.services.tls.cert_file),
    ),
    OptionRow::new(
        SERVICE,
        "endpoint_type",
        "The type of the endpoint of this service; that of [clients] if not set.",
        Setting::Choice("", ENDPOINT_TYPES, |it| &mut it.services.endpoint_type),
    ),
    OptionRow::new(
        SERVICE,
        "insecure",
        "Whether the TLS certificate of this service is not verified; as in [clients] if not set.",
        Setting::MaybeFlag(|it| &mut it.services.tls.insecure),
    ),
    OptionRow::new(
        SERVICE,
        "key_file",
        "The key of that certificate.",
        Setting::File(None, |it| &mut it.services.tls.key_file),
    ),
];

/// The service of a section `[clients_SERVICE]`.
pub(in crate::config) fn service_of(section: &str) -> Option<Service> {
    let name = section.strip_prefix("clients_")?;
    Service::ALL.into_iter().find(|service| service.project().eq_ignore_ascii_case(name))
}

/// What is different for single services; `tls` has the values of `[clients]`.
pub(super) fn settings(
    file: &ConfigFile,
    common: &ServiceOptions,
    tls: &TlsOptions,
) -> Result<BTreeMap<Service, ServiceSettings>, CommandError> {
    let mut settings: BTreeMap<Service, ServiceSettings> = BTreeMap::new();
    for service in Service::ALL {
        let section = format!("clients_{}", service.project().to_ascii_lowercase());
        let own = file.options_as(SERVICE, &section)?.services;
        let keys = TlsKeys {
            ca_file: (SERVICE, "ca_file"),
            cert_file: (SERVICE, "cert_file"),
            key_file: (SERVICE, "key_file"),
        };
        let interface = Some(own.endpoint_type.replace("URL", "")).filter(|it| !it.is_empty());
        let own_tls = (!own.tls.is_empty()).then(|| own.tls.or(tls).settings(file, &keys));
        let is_shared = common.shared_types.iter().any(|it| is_type(service, it));
        let max_microversion = match service {
            Service::Volume => common.max_cinder.clone(),
            Service::BareMetal => common.max_ironic.clone(),
            Service::Compute => common.max_nova.clone(),
            _ => None,
        };
        let own = ServiceSettings {
            region: common.shared_region.clone().filter(|_| is_shared),
            interface,
            tls: own_tls.transpose()?,
            max_microversion,
        };
        settings.insert(service, own);
    }
    Ok(settings)
}

fn is_type(service: Service, name: &str) -> bool {
    service.catalogue_types().contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    #[test]
    fn a_service_has_what_its_section_says() {
        let text = "\
[DEFAULT]
region_name_for_services = One
region_name_for_shared_services = Two
max_nova_api_microversion = 2.50
[clients]
endpoint_type = internalURL
[clients_nova]
endpoint_type = admin
insecure = true
";
        let file = ConfigFile::parse(text).unwrap();
        let cloud = Settings::from_file(&file).unwrap().cloud.unwrap();
        let of = |service: Service| &cloud.services[&service];
        assert_eq!(cloud.interface, "internal");
        assert_eq!(of(Service::Compute).interface.as_deref(), Some("admin"));
        assert!(of(Service::Compute).tls.as_ref().unwrap().is_insecure);
        assert_eq!(of(Service::Compute).region, None);
        assert_eq!(of(Service::Compute).max_microversion.as_deref(), Some("2.50"));
        assert_eq!(of(Service::Image).region.as_deref(), Some("Two"));
        assert_eq!(of(Service::Volume).region.as_deref(), Some("Two"));
        assert_eq!(of(Service::Network).interface, None);
        assert_eq!(of(Service::Network).tls, None);
        assert_eq!(service_of("clients_nova"), Some(Service::Compute));
        assert_eq!(service_of("clients_x"), None);
        let wrong = ConfigFile::parse("[clients_nova]\nca_file = /nowhere/ca.pem\n").unwrap();
        assert!(Settings::from_file(&wrong).is_err());
    }
}
