//! OS::Zun::Container: a container run by the container service.

use crate::declare::*;

pub(super) fn container() -> ResourceType {
    ResourceType::new("OS::Zun::Container")
        .about("A container run by the container service.")
        .service(Service::Container)
        .entity("containers")
        .since("9.0.0")
        .props([
            prop("command", Str),
            prop("cpu", Num).updatable(),
            prop("environment", Map),
            prop("hints", Map).since("10.0.0"),
            prop("hostname", Str).since("10.0.0"),
            prop("image", Str).required(),
            prop("image_driver", Str).one_of(["docker", "glance"]),
            prop("image_pull_policy", Str).one_of(["ifnotpresent", "always", "never"]),
            prop("interactive", Bool),
            prop("labels", Map),
            prop("memory", Int).updatable(),
            prop("mounts", List).each(record([
                prop("mount_path", Str).required(),
                prop("volume_id", Str).is("cinder.volume"),
                prop("volume_size", Int),
            ])),
            prop("name", Str).updatable(),
            prop("networks", List).updatable().since("11.0.0").each(record([
                prop("fixed_ip", Str).is("ip_addr"),
                prop("network", Str).is("neutron.network").by_name(),
                prop("port", Str).is("neutron.port").by_name(),
            ])),
            prop("restart_policy", Str),
            prop("security_groups", List).default_empty().since("10.0.0"),
            prop("tty", Bool).since("14.0.0"),
            prop("workdir", Str),
        ])
        .attrs([attr("addresses", Map), attr("name", Str)])
}
