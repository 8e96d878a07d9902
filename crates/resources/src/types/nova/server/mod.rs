//! OS::Nova::Server: a virtual machine with its disks, network ports and user data.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::types::heat::collecting;
use crate::types::neutron::port_settings;

pub(crate) mod attributes;
mod checks;
mod create;
pub(crate) mod disks;
pub(crate) mod interfaces;
pub(crate) mod lifecycle;
pub(crate) mod look;
pub(crate) mod networks;
pub(crate) mod observe;
pub(crate) mod update;
pub(crate) mod user_data;

pub(super) fn server() -> ResourceType {
    ResourceType::new("OS::Nova::Server")
        .plain_data([networks::INTERNAL, networks::COUNT, networks::NUMBERS, lifecycle::COPY])
        .about("A virtual machine with its disks, network ports and user data.")
        .service(Service::Compute)
        .entity("servers")
        .name_limit(53)
        .checkable()
        .detects_drift()
        .restorable()
        .snapshot_on_delete()
        .suspendable()
        .props(collecting::transport_props())
        .props([
            prop("admin_pass", Str, "Password of the administrator inside the server; the service makes one up if omitted.").updatable(),
            prop("admin_user", Str, "Name of the account that cloud-init sets up inside the server.").since("2013.2").deprecated("2014.1").hidden("5.0.0"),
            prop("availability_zone", Str, "Name of the availability zone in which the server is placed."),
            prop("block_device_mapping", List, "Volumes that the server gets as disks, in the older form of the compute API.").each(record([
                prop("delete_on_termination", Bool, "Whether the volume is deleted together with the server."),
                prop("device_name", Str, "Device name under which the server sees the volume, such as `vda`.").required(),
                prop("snapshot_id", Str, "ID of the snapshot from which a volume is made for the disk.").is(VOLUME_SNAPSHOT),
                prop("volume_id", Str, "ID of the existing volume that becomes the disk.").is(VOLUME),
                prop("volume_size", Int, "Size of the new volume in GiB; that of the snapshot if omitted."),
            ])),
            block_device_mapping_v2(),
            prop("config_drive", Bool, "Whether the server gets its metadata and user data on an extra disk too."),
            prop("diskConfig", Str, "Whether the root partition is grown to the whole disk at boot (`AUTO`) or left alone.").one_of(["AUTO", "MANUAL"]),
            prop("flavor", Str, "Name or ID of the flavor, which sets memory, CPUs and disk size.").required().updatable().is(FLAVOR).by_name(),
            prop("flavor_update_policy", Str, "Whether another flavor resizes the server or replaces it.")
                .updatable()
                .default("RESIZE")
                .one_of(["RESIZE", "REPLACE"]),
            prop("image", Str, "Name or ID of the image to boot from; not needed when booting from a volume.").updatable().is(IMAGE).by_name(),
            prop("image_update_policy", Str, "Whether another image rebuilds the server or replaces it.").updatable().default("REBUILD").one_of([
                "REBUILD",
                "REPLACE",
                "REBUILD_PRESERVE_EPHEMERAL",
            ]),
            prop("key_name", Str, "Name of the SSH key pair that is put on the server.").is(KEY_PAIR),
            prop("metadata", Map, "Keys and values that are kept with the server and readable inside it.").updatable().default_empty(),
            prop("name", Str, "Name of the server; made from the stack and resource names if omitted.").updatable(),
            networks(),
            prop("personality", Map, "Files that are written into the server, as paths with their contents.")
                .default_empty()
                .deprecated("12.0.0")
                .note("The compute API refuses it since microversion 2.57; use `user_data`."),
            prop("reservation_id", Str, "Text by which servers that are made together can be found."),
            prop("scheduler_hints", Map, "Hints for the choice of a host, such as `group` with the ID of a server group."),
            prop("security_groups", List, "IDs or names of the security groups of ports that are made for the server.").default_empty(),
            prop("tags", List, "Words by which the server can be found.").updatable().since("8.0.0").each(item(Str)),
            prop("user_data", Str, "Script or cloud-init configuration for the first boot, or the ID of a software config.").updatable().default_empty(),
            prop("user_data_format", Str, "Whether user data are sent as they are or together with parts for guest tools or deployments.").default("HEAT_CFNTOOLS").one_of([
                "HEAT_CFNTOOLS",
                "RAW",
                "SOFTWARE_CONFIG",
            ]),
            prop("user_data_update_policy", Str, "Whether other user data replace the server, rebuild it or are ignored.")
                .updatable()
                .default("REPLACE")
                .one_of(["REPLACE", "IGNORE", "REBUILD"])
                .since("6.0.0"),
        ])
        .attrs([
            attr("accessIPv4", Str, "IPv4 address that is recorded for access to the server.").since("2015.1").deprecated("14.0.0"),
            attr("accessIPv6", Str, "IPv6 address that is recorded for access to the server.").since("2015.1").deprecated("14.0.0"),
            attr("addresses", Map, "Map from network name and ID to its addresses, each with port, subnets and MAC address.").changed("11.0.0"),
            attr("console_urls", Map, "Map from console type, such as `novnc`, to how its URL is obtained.").since("2015.1"),
            attr("first_address", None, "First IP address of the server; empty if it has none.")
                .since("2013.2")
                .deprecated("2014.2")
                .hidden("5.0.0")
                .note("Use `networks`."),
            attr("instance_name", Str, "Name of the server at the hypervisor, such as `instance-0000002a`."),
            attr("name", Str, "Name of the server in the compute service."),
            attr("networks", Map, "Map from network name and ID to the list of the server's addresses there."),
            attr("os_collect_config", Map, "Settings with which `os-collect-config` on the server fetches its metadata.").uncached().handed_out().since("9.0.0"),
            attr("tags", List, "Words by which the server can be found.").since("8.0.0"),
        ])
        .check_with_siblings(checks::check)
        .finder(create::marker)
        .creates(|op| Box::pin(create::create(op)))
        .updates(|op| Box::pin(update::update(op)))
        .deletes(|op| Box::pin(lifecycle::remove(op)))
        .on(OperationKind::Check, |op| Box::pin(lifecycle::check(op)))
        .observes(observe::COMPARED, |op| Box::pin(observe::observe(op)))
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
    prop(
        "block_device_mapping_v2",
        List,
        "Disks of the server: volumes, images, snapshots, ephemeral and swap disks.",
    )
    .since("2015.1")
    .each(record([
        prop("boot_index", Int, "Place of the disk in the boot order; 0 is first, -1 means never."),
        prop(
            "delete_on_termination",
            Bool,
            "Whether the volume is deleted together with the server.",
        ),
        prop(
            "device_name",
            Str,
            "Device name under which the server sees the disk, such as `vda`.",
        ),
        prop("device_type", Str, "Whether the server sees a disk or a CD-ROM drive.")
            .one_of(["cdrom", "disk"]),
        prop(
            "disk_bus",
            Str,
            "Bus through which the hypervisor attaches the disk, such as `virtio`.",
        )
        .one_of(["ide", "lame_bus", "sata", "scsi", "usb", "virtio"]),
        prop("ephemeral_format", Str, "File system with which the ephemeral disk is formatted.")
            .one_of(["ext2", "ext3", "ext4", "xfs", "ntfs"])
            .since("8.0.0"),
        prop("ephemeral_size", Int, "Size of an ephemeral local disk in GiB.")
            .min(1)
            .since("8.0.0"),
        prop("image", Str, "Name or ID of the image from which a volume is made for the disk.")
            .is(IMAGE)
            .by_name()
            .replaces("image_id")
            .since("7.0.0"),
        prop("image_id", Str, "ID of the image from which a volume is made for the disk.")
            .is(IMAGE)
            .since("5.0.0")
            .deprecated("7.0.0")
            .hidden("9.0.0")
            .note("Use `image`."),
        prop("snapshot_id", Str, "ID of the snapshot from which a volume is made for the disk.")
            .is(VOLUME_SNAPSHOT),
        prop("swap_size", Int, "Size of a swap disk in MiB."),
        prop("volume_id", Str, "ID of the existing volume that becomes the disk.").is(VOLUME),
        prop("volume_size", Int, "Size of the new volume in GiB; that of its source if omitted."),
        prop("volume_type", Str, "Name or ID of the volume type of the new volume.")
            .is(VOLUME_TYPE)
            .since("26.0.0"),
    ]))
}

fn networks() -> Prop {
    prop("networks", List, "Network interfaces of the server, in order.").updatable().each(record([
        prop("allocate_network", Str, "Whether the service makes a network of its own choice (`auto`) or the server has none.").updatable().one_of(["none", "auto"]).since("9.0.0"),
        prop("fixed_ip", Str, "Fixed IP address of the interface; one is picked from the subnet if omitted.").is(IP_ADDR),
        prop("floating_ip", Str, "ID of the floating IP that leads to the interface.").since("6.0.0"),
        prop("network", Str, "Name or ID of the network on which the interface gets a port.").is(NETWORK).by_name().replaces("uuid"),
        prop("port", Str, "Name or ID of an existing port to be used as the interface.").is(PORT).by_name(),
        prop("port_extra_properties", Map, "Further settings of the port that is made for the interface.").updatable().since("6.0.0").members(port_settings()),
        prop("subnet", Str, "Name or ID of the subnet that the address is from.").finds(SUBNET).since("5.0.0"),
        prop("tag", Str, "Label by which the interface is found in the metadata inside the server.").since("9.0.0"),
        prop("uuid", Str, "ID of the network on which the interface gets a port.")
            .is(NETWORK)
            .deprecated("2014.1")
            .hidden("5.0.0")
            .note("Use `network`."),
    ]))
}
