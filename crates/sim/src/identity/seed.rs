//! The seed data.
//!
//! The ids are derived from names, so they are the same on every machine and after every restart, and stored stacks
//! keep their owners.

use serde_json::json;

use super::in_process::ServiceLogin;
use super::records::{
    ActorType, Domain, Endpoint, Extra, Grant, Implication, Keys, Project, Region, Role, Scope,
    Service, User,
};
use super::secret::{self, Error};
use super::state::State;
use super::time::Moment;

/// The domain of human users.
pub(super) const DEFAULT_DOMAIN: &str = "default";

/// The seed data: one region, two domains, three projects, four users and a catalogue.
#[derive(Clone, Debug)]
pub struct Seed {
    /// The URL of the service: `http://127.0.0.1:5000`.
    pub public_url: String,
    /// The name of the region.
    pub region: String,
    /// The password of the user `admin`.
    pub admin_password: String,
    /// The password of the user `demo`.
    pub demo_password: String,
    /// The password of the user `heat`; random by default.
    pub service_password: Option<String>,
    /// The password of the user `heat_domain_admin`; random by default.
    pub domain_admin_password: Option<String>,
    /// The catalogue: type, name and URL of each service. In URLs, `%(project_id)s` and `$(project_id)s` stand for
    /// the project.
    pub services: Vec<(String, String, String)>,
}

impl Seed {
    /// Returns the default seed, with the identity service as the only service in the catalogue.
    pub fn new(public_url: &str) -> Seed {
        let public_url = public_url.trim_end_matches('/');
        let seed = Seed {
            public_url: public_url.to_owned(),
            region: "RegionOne".to_owned(),
            admin_password: "admin".to_owned(),
            demo_password: "demo".to_owned(),
            service_password: None,
            domain_admin_password: None,
            services: Vec::new(),
        };
        seed.service("identity", "keystone", &format!("{public_url}/v3"))
    }

    /// Adds a service to the catalogue.
    pub fn service(mut self, service_type: &str, name: &str, url: &str) -> Seed {
        self.services.push((service_type.to_owned(), name.to_owned(), url.to_owned()));
        self
    }

    /// Adds services to the catalogue: type, name and URL of each.
    pub fn services(mut self, rows: impl IntoIterator<Item = (String, String, String)>) -> Seed {
        self.services.extend(rows);
        self
    }
}

/// Returns the id of a seeded user of the domain `default`.
pub fn user_id(name: &str) -> String {
    secret::fixed_id(&["user", DEFAULT_DOMAIN, name])
}

/// Returns the id of a seeded project of the domain `default`.
pub fn project_id(name: &str) -> String {
    secret::fixed_id(&["project", DEFAULT_DOMAIN, name])
}

/// The result of seeding: the signing key and the logins of the service users.
pub(super) struct Seeded {
    pub(super) signing: Vec<u8>,
    pub(super) service: ServiceLogin,
    pub(super) domain_admin: ServiceLogin,
}

/// The roles, and whether they are immutable.
const ROLES: &[(&str, bool)] = &[
    ("admin", true),
    ("heat_stack_owner", false),
    ("heat_stack_user", false),
    ("manager", true),
    ("member", true),
    ("reader", true),
    ("service", true),
];

const IMPLICATIONS: &[(&str, &str)] =
    &[("admin", "manager"), ("manager", "member"), ("member", "reader")];

const PROJECTS: &[(&str, &str)] =
    &[("admin", "Bootstrap project for initializing the cloud."), ("demo", ""), ("service", "")];

/// The grants: user, project, role.
const GRANTS: &[(&str, &str, &str)] = &[
    ("admin", "admin", "admin"),
    ("admin", "admin", "heat_stack_owner"),
    ("admin", "demo", "admin"),
    ("admin", "demo", "heat_stack_owner"),
    ("demo", "demo", "heat_stack_owner"),
    ("demo", "demo", "member"),
    ("heat", "service", "admin"),
    ("heat", "service", "service"),
];

/// Adds the seed data that the state lacks.
pub(super) fn seed_state(state: &mut State, seed: &Seed) -> Result<Seeded, Error> {
    let signing = signing_key(state)?;
    // A name that a client has taken in the meantime stays taken, so the results below are ignored.
    let region =
        Region { id: seed.region.clone(), description: String::new(), parent_region_id: None };
    let _ = state.regions.add(region);
    let heat = secret::fixed_id(&["domain", "heat"]);
    seed_domain(state, DEFAULT_DOMAIN, "Default", "The default domain");
    seed_domain(state, &heat, "heat", "Owns the users of stacks.");
    seed_roles(state);
    for (name, description) in PROJECTS {
        seed_project(state, name, description);
    }
    seed_user(state, DEFAULT_DOMAIN, "admin", &seed.admin_password, false)?;
    seed_user(state, DEFAULT_DOMAIN, "demo", &seed.demo_password, false)?;
    // Tokens are signed with the same key; the colon keeps the derived passwords apart from them.
    let derived = |name: &str| {
        let text = format!("password:{name}");
        hex::encode(&secret::hmac(&signing, text.as_bytes())[..16])
    };
    let service_password = seed.service_password.clone().unwrap_or_else(|| derived("heat"));
    let service_user = seed_user(state, DEFAULT_DOMAIN, "heat", &service_password, true)?;
    let admin_password =
        seed.domain_admin_password.clone().unwrap_or_else(|| derived("heat_domain_admin"));
    let admin_user = seed_user(state, &heat, "heat_domain_admin", &admin_password, true)?;
    for (user, project, role) in GRANTS {
        grant(state, &user_id(user), Scope::Project(project_id(project)), role);
    }
    grant(state, &user_id("admin"), Scope::System, "admin");
    grant(state, &admin_user, Scope::Domain(heat.clone()), "admin");
    seed_catalogue(state, seed);
    Ok(Seeded {
        signing,
        service: ServiceLogin {
            user_id: service_user,
            user_name: "heat".to_owned(),
            user_domain_id: DEFAULT_DOMAIN.to_owned(),
            password: service_password,
            project_id: Some(project_id("service")),
            project_name: Some("service".to_owned()),
            domain_id: None,
        },
        domain_admin: ServiceLogin {
            user_id: admin_user,
            user_name: "heat_domain_admin".to_owned(),
            user_domain_id: heat.clone(),
            password: admin_password,
            project_id: None,
            project_name: None,
            domain_id: Some(heat),
        },
    })
}

fn signing_key(state: &mut State) -> Result<Vec<u8>, Error> {
    if let Some(keys) = state.keys.get("keys") {
        return Ok(keys.signing.clone().into_bytes());
    }
    let signing = hex::encode(secret::random::<32>()?);
    let keys = Keys { signing: signing.clone(), floor: Moment(i64::MIN), next: 0 };
    let _ = state.keys.put(keys);
    Ok(signing.into_bytes())
}

fn seed_domain(state: &mut State, id: &str, name: &str, description: &str) {
    let _ = state.domains.add(Domain {
        id: id.to_owned(),
        name: name.to_owned(),
        description: Some(description.to_owned()),
        enabled: true,
        tags: Vec::new(),
        options: Extra::new(),
        extra: Extra::new(),
    });
}

fn seed_roles(state: &mut State) {
    for (name, check_mutable) in ROLES {
        let mut options = Extra::new();
        if *check_mutable {
            options.insert("immutable".to_owned(), json!(true));
        }
        let _ = state.roles.add(Role {
            id: secret::fixed_id(&["role", name]),
            name: (*name).to_owned(),
            domain_id: None,
            description: None,
            options,
        });
    }
    for (prior, implied) in IMPLICATIONS {
        let id = |name: &str| secret::fixed_id(&["role", name]);
        if state.roles.has(&id(prior)) && state.roles.has(&id(implied)) {
            let _ = state.implications.add(Implication { prior: id(prior), implied: id(implied) });
        }
    }
}

fn seed_project(state: &mut State, name: &str, description: &str) {
    let _ = state.projects.add(Project {
        id: project_id(name),
        domain_id: DEFAULT_DOMAIN.to_owned(),
        name: name.to_owned(),
        description: Some(description.to_owned()),
        enabled: true,
        parent_id: DEFAULT_DOMAIN.to_owned(),
        tags: Vec::new(),
        options: Extra::new(),
        extra: Extra::new(),
        epoch: 0,
    });
}

/// Adds a user. An existing user keeps its password, unless the service has to know the password.
fn seed_user(
    state: &mut State,
    domain: &str,
    name: &str,
    password: &str,
    known: bool,
) -> Result<String, Error> {
    let id = secret::fixed_id(&["user", domain, name]);
    let user = match state.users.get(&id) {
        Some(_) if !known => return Ok(id),
        Some(user) if secret::password_is(password, user.password.as_deref()) => return Ok(id),
        Some(user) => User {
            password: Some(secret::hash_password(password)?),
            epoch: user.epoch + 1,
            ..user.clone()
        },
        None => User {
            id: id.clone(),
            domain_id: domain.to_owned(),
            name: name.to_owned(),
            enabled: true,
            password: Some(secret::hash_password(password)?),
            default_project_id: None,
            options: Extra::new(),
            extra: Extra::new(),
            epoch: 0,
        },
    };
    let _ = state.users.put(user);
    Ok(id)
}

fn grant(state: &mut State, user: &str, scope: Scope, role: &str) {
    let role = secret::fixed_id(&["role", role]);
    let there = match &scope {
        Scope::Project(id) => state.projects.has(id),
        Scope::Domain(id) => state.domains.has(id),
        Scope::System => true,
    };
    if there && state.users.has(user) && state.roles.has(&role) {
        let _ = state.grants.add(Grant {
            actor: user.to_owned(),
            actor_type: ActorType::User,
            scope,
            role,
        });
    }
}

/// Replaces the seeded services of an earlier start; services that a client created stay.
fn seed_catalogue(state: &mut State, seed: &Seed) {
    let seeded_id = |service_type: &str| secret::fixed_id(&["service", service_type]);
    let old: Vec<String> = state
        .services
        .iter()
        .filter(|service| service.id == seeded_id(&service.service_type))
        .map(|service| service.id.clone())
        .collect();
    old.iter().for_each(|id| state.remove_service(id));
    for (service_type, name, url) in &seed.services {
        let mut extra = Extra::new();
        extra.insert("name".to_owned(), json!(name));
        let service = Service {
            id: seeded_id(service_type),
            service_type: service_type.clone(),
            enabled: true,
            extra,
        };
        let _ = state.services.put(service);
        for interface in ["admin", "internal", "public"] {
            let _ = state.endpoints.put(Endpoint {
                id: secret::fixed_id(&["endpoint", service_type, interface]),
                service_id: seeded_id(service_type),
                interface: interface.to_owned(),
                url: url.clone(),
                region_id: Some(seed.region.clone()),
                enabled: true,
                extra: Extra::new(),
            });
        }
    }
}
