//! The services of a cloud that resource types talk to.

/// A service of the cloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Service {
    /// Alarms (Aodh).
    Alarming,
    /// Machines without a hypervisor (Ironic).
    BareMetal,
    /// Servers (Nova).
    Compute,
    /// Containers (Zun).
    Container,
    /// Container clusters (Magnum).
    ContainerInfra,
    /// Databases (Trove).
    Database,
    /// Names (Designate).
    Dns,
    /// Projects, users and roles (Keystone).
    Identity,
    /// Images (Glance).
    Image,
    /// Keys and certificates (Barbican).
    KeyManager,
    /// Load balancers (Octavia).
    LoadBalancer,
    /// Queues (Zaqar).
    Messaging,
    /// Networks (Neutron).
    Network,
    /// Objects and containers (Swift).
    ObjectStore,
    /// Stacks and software configuration: Kiln itself, or another Heat.
    Orchestration,
    /// Leases (Blazar).
    Reservation,
    /// Shared file systems (Manila).
    Share,
    /// Block storage (Cinder).
    Volume,
    /// Workflows (Mistral).
    Workflow,
}

impl Service {
    /// Every service.
    pub const ALL: [Service; 19] = [
        Service::Alarming,
        Service::BareMetal,
        Service::Compute,
        Service::Container,
        Service::ContainerInfra,
        Service::Database,
        Service::Dns,
        Service::Identity,
        Service::Image,
        Service::KeyManager,
        Service::LoadBalancer,
        Service::Messaging,
        Service::Network,
        Service::ObjectStore,
        Service::Orchestration,
        Service::Reservation,
        Service::Share,
        Service::Volume,
        Service::Workflow,
    ];

    /// The project that implements it, which is how Heat's documents and options call it.
    pub fn project(self) -> &'static str {
        self.facts().project
    }

    /// The type under which the service catalogue lists it.
    pub fn catalogue_type(self) -> &'static str {
        self.facts().types[0]
    }

    /// The types under which catalogues list it, the usual one first.
    pub fn catalogue_types(self) -> &'static [&'static str] {
        self.facts().types
    }

    /// The last part of the root of its API's version: it is put behind an endpoint that names none.
    pub(crate) fn version(self) -> &'static str {
        self.facts().version
    }

    /// The microversion that calls are written for unless they say otherwise.
    pub(crate) fn microversion(self) -> Option<&'static str> {
        self.facts().microversion
    }

    fn facts(self) -> Facts {
        let facts = |project, types, version| Facts { project, types, version, microversion: None };
        match self {
            Service::Alarming => facts("aodh", &["alarming", "alarm"], "v2"),
            Service::BareMetal => facts("ironic", &["baremetal"], "v1").at("1.90"),
            Service::Compute => facts("nova", &["compute"], "v2.1").at("2.90"),
            Service::Container => facts("zun", &["container"], "v1").at("1.12"),
            Service::ContainerInfra => facts("magnum", &["container-infra"], "v1"),
            Service::Database => facts("trove", &["database"], "v1.0"),
            Service::Dns => facts("designate", &["dns"], "v2"),
            Service::Identity => facts("keystone", &["identity"], "v3"),
            Service::Image => facts("glance", &["image"], "v2"),
            Service::KeyManager => facts("barbican", &["key-manager"], "v1"),
            Service::LoadBalancer => facts("octavia", &["load-balancer"], "v2"),
            Service::Messaging => facts("zaqar", &["messaging"], "v2"),
            Service::Network => facts("neutron", &["network"], "v2.0"),
            Service::ObjectStore => facts("swift", &["object-store"], "v1"),
            Service::Orchestration => facts("heat", &["orchestration"], "v1"),
            Service::Reservation => facts("blazar", &["reservation"], "v1"),
            Service::Share => facts("manila", &["sharev2", "shared-file-system"], "v2").at("2.13"),
            Service::Volume => {
                facts("cinder", &["volumev3", "block-storage", "block-store"], "v3").at("3.59")
            }
            Service::Workflow => facts("mistral", &["workflowv2", "workflow"], "v2"),
        }
    }
}

struct Facts {
    project: &'static str,
    types: &'static [&'static str],
    version: &'static str,
    microversion: Option<&'static str>,
}

impl Facts {
    fn at(self, microversion: &'static str) -> Facts {
        Facts { microversion: Some(microversion), ..self }
    }
}
