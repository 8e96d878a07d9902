//! OS::Nova::Server: a virtual machine with its disks, network ports and user data.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::types::heat::collecting;
use crate::types::neutron::port_settings;

pub(crate) mod attributes;
mod checks;
mod create;
mod disks;
pub(crate) mod interfaces;
pub(crate) mod lifecycle;
pub(crate) mod look;
pub(crate) mod networks;
pub(crate) mod update;
pub(crate) mod user_data;

pub(super) fn server() -> ResourceType {
    ResourceType::new("OS::Nova::Server")
        .about("A virtual machine with its disks, network ports and user data.")
        .service(Service::Compute)
        .entity("servers")
        .name_limit(53)
        .checkable()
        .detects_drift()
        .restorable()
        .snapshot_on_delete()
        .suspendable()
        .props([
            prop("admin_pass", Str).updatable(),
            prop("admin_user", Str).since("2013.2").deprecated("2014.1").hidden("5.0.0"),
            prop("availability_zone", Str),
            prop("block_device_mapping", List).each(record([
                prop("delete_on_termination", Bool),
                prop("device_name", Str).required(),
                prop("snapshot_id", Str).is("cinder.snapshot"),
                prop("volume_id", Str).is("cinder.volume"),
                prop("volume_size", Int),
            ])),
            block_device_mapping_v2(),
            prop("config_drive", Bool),
            prop("deployment_swift_data", Map)
                .updatable()
                .default_empty()
                .since("9.0.0")
                .members([prop("container", Str).min_length(1), prop("object", Str).min_length(1)]),
            prop("diskConfig", Str).one_of(["AUTO", "MANUAL"]),
            prop("flavor", Str).required().updatable().is("nova.flavor").by_name(),
            prop("flavor_update_policy", Str)
                .updatable()
                .default("RESIZE")
                .one_of(["RESIZE", "REPLACE"]),
            prop("image", Str).updatable().is("glance.image").by_name(),
            prop("image_update_policy", Str).updatable().default("REBUILD").one_of([
                "REBUILD",
                "REPLACE",
                "REBUILD_PRESERVE_EPHEMERAL",
            ]),
            prop("key_name", Str).is("nova.keypair"),
            prop("metadata", Map).updatable().default_empty(),
            prop("name", Str).updatable(),
            networks(),
            prop("personality", Map)
                .default_empty()
                .deprecated("12.0.0")
                .note("The compute API refuses it since microversion 2.57; use `user_data`."),
            prop("reservation_id", Str),
            prop("scheduler_hints", Map),
            prop("security_groups", List).default_empty(),
            prop("software_config_transport", Str).updatable().default("POLL_SERVER_CFN").one_of([
                "POLL_SERVER_CFN",
                "POLL_SERVER_HEAT",
                "POLL_TEMP_URL",
                "ZAQAR_MESSAGE",
            ]),
            prop("tags", List).updatable().since("8.0.0").each(item(Str)),
            prop("user_data", Str).updatable().default_empty(),
            prop("user_data_format", Str).default("HEAT_CFNTOOLS").one_of([
                "HEAT_CFNTOOLS",
                "RAW",
                "SOFTWARE_CONFIG",
            ]),
            prop("user_data_update_policy", Str)
                .updatable()
                .default("REPLACE")
                .one_of(["REPLACE", "IGNORE", "REBUILD"])
                .since("6.0.0"),
        ])
        .attrs([
            attr("accessIPv4", Str).since("2015.1").deprecated("14.0.0"),
            attr("accessIPv6", Str).since("2015.1").deprecated("14.0.0"),
            attr("addresses", Map).changed("11.0.0"),
            attr("console_urls", Map).since("2015.1"),
            attr("first_address", None)
                .since("2013.2")
                .deprecated("2014.2")
                .hidden("5.0.0")
                .note("Use `networks`."),
            attr("instance_name", Str),
            attr("name", Str),
            attr("networks", Map),
            attr("os_collect_config", Map).uncached().since("9.0.0"),
            attr("tags", List).since("8.0.0"),
        ])
        .check(checks::check)
        .finder(create::marker)
        .creates(|op| Box::pin(create::create(op)))
        .updates(|op| Box::pin(update::update(op)))
        .deletes(|op| Box::pin(lifecycle::remove(op)))
        .on(OperationKind::Check, |op| Box::pin(lifecycle::check(op)))
        .on(OperationKind::Suspend, |op| Box::pin(lifecycle::suspend(op)))
        .on(OperationKind::Resume, |op| Box::pin(lifecycle::resume(op)))
        .copied(|op| Box::pin(lifecycle::copy(op)), |op| Box::pin(lifecycle::forget(op)))
        .restores_with(lifecycle::restore)
        .replaced_if(update::needs_another)
        .restored_on_rollback()
        .metadata(collecting::metadata)
        .attributes(attributes::attribute)
}

fn block_device_mapping_v2() -> Prop {
    prop("block_device_mapping_v2", List).since("2015.1").each(record([
        prop("boot_index", Int),
        prop("delete_on_termination", Bool),
        prop("device_name", Str),
        prop("device_type", Str).one_of(["cdrom", "disk"]),
        prop("disk_bus", Str).one_of(["ide", "lame_bus", "sata", "scsi", "usb", "virtio"]),
        prop("ephemeral_format", Str)
            .one_of(["ext2", "ext3", "ext4", "xfs", "ntfs"])
            .since("8.0.0"),
        prop("ephemeral_size", Int).min(1).since("8.0.0"),
        prop("image", Str).is("glance.image").by_name().replaces("image_id").since("7.0.0"),
        prop("image_id", Str)
            .is("glance.image")
            .since("5.0.0")
            .deprecated("7.0.0")
            .hidden("9.0.0")
            .note("Use `image`."),
        prop("snapshot_id", Str).is("cinder.snapshot"),
        prop("swap_size", Int),
        prop("volume_id", Str).is("cinder.volume"),
        prop("volume_size", Int),
        prop("volume_type", Str).is("cinder.vtype").since("26.0.0"),
    ]))
}

fn networks() -> Prop {
    prop("networks", List).updatable().each(record([
        prop("allocate_network", Str).updatable().one_of(["none", "auto"]).since("9.0.0"),
        prop("fixed_ip", Str).is("ip_addr"),
        prop("floating_ip", Str).since("6.0.0"),
        prop("network", Str).is("neutron.network").by_name().replaces("uuid"),
        prop("port", Str).is("neutron.port").by_name(),
        prop("port_extra_properties", Map).updatable().since("6.0.0").members(port_settings()),
        prop("subnet", Str).names("neutron.subnet").since("5.0.0"),
        prop("tag", Str).since("9.0.0"),
        prop("uuid", Str)
            .is("neutron.network")
            .deprecated("2014.1")
            .hidden("5.0.0")
            .note("Use `network`."),
    ]))
}
