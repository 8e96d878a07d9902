//! The shipped environment: the names under which types are known besides their own.
//!
//! It lies below every environment that an operator or a user brings. A type that a template of the
//! shipped environment stands behind is a declared type like any other, and says so
//! ([`ResourceType::template`](crate::declare::ResourceType)).

use kiln_template::environment::GlobalEnvironment;

/// Another name for a type, or for all types whose names begin alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The other name; a star at its end stands for whatever follows.
    pub name: &'static str,
    /// The type; a star at its end stands for the same.
    pub target: &'static str,
}

/// The mappings of the shipped environment, in order of name.
pub const MAPPINGS: [Mapping; 7] = [
    Mapping { name: "OS::Ceilometer::Alarm", target: "OS::Aodh::Alarm" },
    Mapping { name: "OS::Ceilometer::CombinationAlarm", target: "OS::Aodh::CombinationAlarm" },
    Mapping {
        name: "OS::Ceilometer::GnocchiAggregationByMetricsAlarm",
        target: "OS::Aodh::GnocchiAggregationByMetricsAlarm",
    },
    Mapping {
        name: "OS::Ceilometer::GnocchiAggregationByResourcesAlarm",
        target: "OS::Aodh::GnocchiAggregationByResourcesAlarm",
    },
    Mapping {
        name: "OS::Ceilometer::GnocchiResourcesAlarm",
        target: "OS::Aodh::GnocchiResourcesAlarm",
    },
    Mapping { name: "OS::Metering::Alarm", target: "OS::Aodh::Alarm" },
    Mapping { name: "OS::Quantum*", target: "OS::Neutron*" },
];

/// The shipped environment, over which an operator's files are loaded.
pub fn shipped() -> GlobalEnvironment {
    GlobalEnvironment::from_aliases(MAPPINGS.iter().map(|mapping| (mapping.name, mapping.target)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_template::environment::{Implementation, Layer, Registry};
    use std::sync::Arc;

    #[test]
    fn a_mapping_with_a_star_keeps_what_follows() {
        let registry = Registry::new(Layer::default(), Arc::new(shipped()));
        let target = |name: &str| match registry.resolve(name, None, &|_| true) {
            Ok(Implementation::Builtin(name)) => Some(name.to_string()),
            _ => None,
        };
        assert_eq!(target("OS::Quantum::Port").as_deref(), Some("OS::Neutron::Port"));
        assert_eq!(target("OS::Metering::Alarm").as_deref(), Some("OS::Aodh::Alarm"));
        assert_eq!(target("OS::Neutron::Port").as_deref(), Some("OS::Neutron::Port"));
    }

    #[test]
    fn mappings_are_sorted() {
        assert!(MAPPINGS.is_sorted_by_key(|mapping| mapping.name));
    }
}
