//! AWS::RDS::DBInstance: a server with a MySQL database on it, made by a nested stack.

use crate::declare::*;
use crate::types::shipped;

/// The template of the nested stack.
const TEMPLATE: &str = include_str!("db_instance.yaml");

pub(super) fn db_instance() -> ResourceType {
    ResourceType::new("AWS::RDS::DBInstance")
        .about("A server with a MySQL database on it, made by a nested stack.")
        .template("etc/heat/templates/AWS_RDS_DBInstance.yaml")
        .props([
            prop("AllocatedStorage", Str, "Size of the database storage in GB; it is accepted and ignored.").required().updatable(),
            prop("DBInstanceClass", Str, "Size of the database server, such as `db.m1.small`, from which its flavor follows.").required().updatable(),
            prop("DBName", Str, "Name of the database that is made on the server.").required().updatable(),
            prop("DBSecurityGroups", List, "Security groups that say who may reach the database, which have no effect here.").updatable(),
            prop("Engine", Str, "Database software on the server, of which there is only `MySQL`.").required().updatable().one_of(["MySQL"]),
            prop("KeyName", Str, "Name of the SSH key pair that is put on the server.").updatable(),
            prop("MasterUserPassword", Str, "Password of the database user with all rights.").required().updatable(),
            prop("MasterUsername", Str, "Name of the database user with all rights.").required().updatable(),
            prop("Port", Str, "TCP port on which the database is reached; 3306 if omitted.").updatable(),
        ])
        .attrs([attr("Endpoint.Address", None, "IP address under which the database is reached."), attr("Endpoint.Port", None, "TCP port on which the database is reached.")])
        .nested()
        .staged(|group| shipped::stage(TEMPLATE, group))
        .reference(shipped::reference)
        .attributes(shipped::attribute)
}
