//! AWS::RDS::DBInstance: a server with a MySQL database on it, made by a nested stack.

use crate::declare::*;
use crate::types::shipped;

/// What is made.
const TEMPLATE: &str = include_str!("db_instance.yaml");

pub(super) fn db_instance() -> ResourceType {
    ResourceType::new("AWS::RDS::DBInstance")
        .about("A server with a MySQL database on it, made by a nested stack.")
        .template("etc/heat/templates/AWS_RDS_DBInstance.yaml")
        .props([
            prop("AllocatedStorage", Str).required().updatable(),
            prop("DBInstanceClass", Str).required().updatable(),
            prop("DBName", Str).required().updatable(),
            prop("DBSecurityGroups", List).updatable(),
            prop("Engine", Str).required().updatable().one_of(["MySQL"]),
            prop("KeyName", Str).updatable(),
            prop("MasterUserPassword", Str).required().updatable(),
            prop("MasterUsername", Str).required().updatable(),
            prop("Port", Str).updatable(),
        ])
        .attrs([attr("Endpoint.Address", None), attr("Endpoint.Port", None)])
        .nested()
        .staged(|group| shipped::stage(TEMPLATE, group))
        .reference(shipped::reference)
        .attributes(shipped::attribute)
}
