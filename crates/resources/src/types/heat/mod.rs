//! What the engine itself provides: groups, software deployments, wait conditions, values:
//! `OS::Heat::*`.

use crate::declare::ResourceType;

mod access_policy;
pub(crate) mod addresses;
mod auto_scaling_group;
mod cloud_config;
pub(crate) mod collecting;
mod common;
mod credentials;
mod cw_lite_alarm;
mod delay;
mod deployed_server;
mod deployment;
mod derive;
mod ha_restarter;
mod instance_group;
pub(crate) mod instances;
pub(crate) mod mailbox;
pub(crate) mod mime;
mod multipart_mime;
mod none;
mod outcome;
mod random_string;
mod reply_to;
mod resource_chain;
mod resource_group;
mod scaling_policy;
mod signal_transport;
pub(crate) mod signals;
mod software_component;
mod software_config;
mod software_deployment;
mod software_deployment_group;
mod software_deployments;
mod stack;
pub(crate) mod stack_user;
pub(crate) mod stored_config;
mod structured_config;
mod structured_deployment;
mod structured_deployment_group;
mod structured_deployments;
mod swift_signal;
mod swift_signal_handle;
mod test_resource;
mod update_wait_condition_handle;
mod value;
mod wait_condition;
mod wait_condition_handle;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![
        access_policy::access_policy(),
        auto_scaling_group::auto_scaling_group(),
        cloud_config::cloud_config(),
        cw_lite_alarm::cw_lite_alarm(),
        delay::delay(),
        deployed_server::deployed_server(),
        ha_restarter::ha_restarter(),
        instance_group::instance_group(),
        multipart_mime::multipart_mime(),
        none::none(),
        random_string::random_string(),
        resource_chain::resource_chain(),
        resource_group::resource_group(),
        scaling_policy::scaling_policy(),
        software_component::software_component(),
        software_config::software_config(),
        software_deployment::software_deployment(),
        software_deployment_group::software_deployment_group(),
        software_deployments::software_deployments(),
        stack::stack(),
        structured_config::structured_config(),
        structured_deployment::structured_deployment(),
        structured_deployment_group::structured_deployment_group(),
        structured_deployments::structured_deployments(),
        swift_signal::swift_signal(),
        swift_signal_handle::swift_signal_handle(),
        test_resource::test_resource(),
        update_wait_condition_handle::update_wait_condition_handle(),
        value::value(),
        wait_condition::wait_condition(),
        wait_condition_handle::wait_condition_handle(),
    ]
}
