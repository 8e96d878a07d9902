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
        self.names().0
    }

    /// The type under which the service catalogue lists it.
    pub fn catalogue_type(self) -> &'static str {
        self.names().1
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Service::Alarming => ("aodh", "alarming"),
            Service::BareMetal => ("ironic", "baremetal"),
            Service::Compute => ("nova", "compute"),
            Service::Container => ("zun", "container"),
            Service::ContainerInfra => ("magnum", "container-infra"),
            Service::Database => ("trove", "database"),
            Service::Dns => ("designate", "dns"),
            Service::Identity => ("keystone", "identity"),
            Service::Image => ("glance", "image"),
            Service::KeyManager => ("barbican", "key-manager"),
            Service::LoadBalancer => ("octavia", "load-balancer"),
            Service::Messaging => ("zaqar", "messaging"),
            Service::Network => ("neutron", "network"),
            Service::ObjectStore => ("swift", "object-store"),
            Service::Orchestration => ("heat", "orchestration"),
            Service::Reservation => ("blazar", "reservation"),
            Service::Share => ("manila", "sharev2"),
            Service::Volume => ("cinder", "volumev3"),
            Service::Workflow => ("mistral", "workflowv2"),
        }
    }
}
