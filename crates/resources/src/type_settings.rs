//! What an operator decides about built-in types: defaults of properties, and what services can do.

use crate::declare::{ResourceType, Value};

/// The types whose servers have names of limited length.
const SERVERS: [&str; 3] = ["AWS::EC2::Instance", "OS::Heat::DeployedServer", "OS::Nova::Server"];

/// The types of volumes, which may be backed up when they are deleted.
const VOLUMES: [&str; 2] = ["AWS::EC2::Volume", "OS::Cinder::Volume"];

/// The operator's decisions, with the defaults of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeSettings {
    /// The default of `user_data_format` of servers.
    pub user_data_format: String,
    /// The default of `software_config_transport` of servers.
    pub software_config_transport: String,
    /// The default of `signal_transport` of deployments.
    pub signal_transport: String,
    /// The maximum length of the names of servers.
    pub max_server_name: usize,
    /// Whether volumes can be backed up when they are deleted.
    pub has_volume_backups: bool,
}

impl Default for TypeSettings {
    fn default() -> TypeSettings {
        TypeSettings {
            user_data_format: "HEAT_CFNTOOLS".into(),
            software_config_transport: "POLL_SERVER_CFN".into(),
            signal_transport: "CFN_SIGNAL".into(),
            max_server_name: 53,
            has_volume_backups: true,
        }
    }
}

impl TypeSettings {
    pub(crate) fn apply(&self, kind: &mut ResourceType) {
        let name = kind.name().to_owned();
        if SERVERS.contains(&&*name) {
            kind.name_limit = self.max_server_name;
            set_default(kind, "user_data_format", &self.user_data_format);
            set_default(kind, "software_config_transport", &self.software_config_transport);
        }
        if name.starts_with("OS::Heat::") && name.contains("Deployment") {
            set_default(kind, "signal_transport", &self.signal_transport);
        }
        if VOLUMES.contains(&&*name) {
            kind.schema.snapshots &= self.has_volume_backups;
        }
    }
}

fn set_default(kind: &mut ResourceType, property: &str, value: &str) {
    let mut properties = kind.schema.properties.iter_mut();
    let found = properties.find(|it| *it.name == *property && it.default.is_some());
    if let Some(property) = found {
        property.default = Some(Value::from(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    fn default_of(types: &Registry, kind: &str, property: &str) -> Option<String> {
        let properties = &types.get(kind).unwrap().schema.properties;
        let found = properties.iter().find(|it| *it.name == *property).unwrap();
        found.default.as_ref().and_then(Value::as_text).map(ToString::to_string)
    }

    #[test]
    fn the_defaults_are_those_of_the_declarations() {
        let types = Registry::builtin();
        let same = types.adjusted(&TypeSettings::default());
        for (kind, same) in types.iter().zip(same.iter()) {
            assert_eq!(format!("{:?}", kind.schema), format!("{:?}", same.schema));
            assert_eq!(kind.name_limit, same.name_limit, "{}", kind.name());
        }
    }

    #[test]
    fn an_operator_changes_defaults() {
        let settings = TypeSettings {
            user_data_format: "RAW".into(),
            software_config_transport: "POLL_SERVER_HEAT".into(),
            signal_transport: "HEAT_SIGNAL".into(),
            max_server_name: 20,
            has_volume_backups: false,
        };
        let types = Registry::builtin().adjusted(&settings);
        for (kind, property, value) in [
            ("OS::Nova::Server", "user_data_format", "RAW"),
            ("OS::Nova::Server", "software_config_transport", "POLL_SERVER_HEAT"),
            ("OS::Heat::SoftwareDeployment", "signal_transport", "HEAT_SIGNAL"),
            ("OS::Heat::StructuredDeploymentGroup", "signal_transport", "HEAT_SIGNAL"),
        ] {
            assert_eq!(default_of(&types, kind, property).as_deref(), Some(value), "{kind}");
        }
        assert_eq!(types.get("OS::Nova::Server").unwrap().name_limit, 20);
        assert!(!types.get("OS::Cinder::Volume").unwrap().schema.snapshots);
    }
}
