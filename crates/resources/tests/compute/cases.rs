//! The smallest sensible definition of each type, and what becomes of it in an update.

/// A type, its properties, and those after an update; nothing if nothing can be changed.
pub(super) struct Case {
    pub(super) kind: &'static str,
    pub(super) properties: &'static str,
    pub(super) changed: Option<&'static str>,
    /// How many objects there are more while it lives.
    pub(super) objects: usize,
}

const fn case(
    kind: &'static str,
    objects: usize,
    properties: &'static str,
    changed: Option<&'static str>,
) -> Case {
    Case { kind, properties, changed, objects }
}

/// Every type of these families that does something.
pub(super) const CASES: [Case; 25] = [
    case(
        "AWS::EC2::Instance",
        2,
        r#"{"ImageId": "image-1", "InstanceType": "m1.small", "SubnetId": "subnet-1",
            "Tags": [{"Key": "a", "Value": "b"}],
            "Volumes": [{"Device": "/dev/vdb", "VolumeId": "volume-1"}], "UserData": "hi"}"#,
        Some(
            r#"{"ImageId": "image-1", "InstanceType": "m1.large", "SubnetId": "subnet-2",
                "Volumes": [{"Device": "/dev/vdb", "VolumeId": "volume-1"}], "UserData": "hi"}"#,
        ),
    ),
    case("AWS::EC2::Volume", 1, r#"{"AvailabilityZone": "nova", "Size": 1}"#, None),
    case("AWS::EC2::Volume", 1, r#"{"AvailabilityZone": "nova", "SnapshotId": "backup-1"}"#, None),
    case(
        "AWS::EC2::VolumeAttachment",
        0,
        r#"{"Device": "/dev/vdc", "InstanceId": "server-1", "VolumeId": "volume-1"}"#,
        None,
    ),
    case(
        "OS::Cinder::EncryptedVolumeType",
        0,
        r#"{"provider": "luks", "volume_type": "fast", "key_size": 256}"#,
        Some(r#"{"provider": "luks", "volume_type": "fast", "key_size": 512}"#),
    ),
    case(
        "OS::Cinder::QoSAssociation",
        0,
        r#"{"qos_specs": "qos", "volume_types": ["fast"]}"#,
        Some(r#"{"qos_specs": "qos", "volume_types": ["slow"]}"#),
    ),
    case(
        "OS::Cinder::QoSSpecs",
        1,
        r#"{"specs": {"a": "1", "b": "2"}}"#,
        Some(r#"{"specs": {"b": "3", "c": "4"}}"#),
    ),
    case(
        "OS::Cinder::Quota",
        1,
        r#"{"project": "p1", "volumes": 5}"#,
        Some(r#"{"project": "p1", "volumes": 6}"#),
    ),
    case(
        "OS::Cinder::Volume",
        1,
        r#"{"size": 1, "metadata": {"a": "b"}, "volume_type": "fast", "read_only": true}"#,
        Some(
            r#"{"size": 2, "name": "n", "metadata": {}, "volume_type": "type-slow",
                "backup_id": "backup-1", "read_only": false}"#,
        ),
    ),
    case(
        "OS::Cinder::Volume",
        1,
        r#"{"backup_id": "backup-1", "name": "n", "description": "d"}"#,
        None,
    ),
    case(
        "OS::Cinder::VolumeAttachment",
        0,
        r#"{"instance_uuid": "server-1", "volume_id": "volume-1"}"#,
        Some(r#"{"instance_uuid": "server-2", "volume_id": "volume-2", "mountpoint": "/dev/vdc"}"#),
    ),
    case(
        "OS::Cinder::VolumeType",
        1,
        r#"{"name": "t", "is_public": false, "projects": ["p1"], "metadata": {"a": "1", "b": "2"}}"#,
        Some(r#"{"name": "u", "is_public": false, "projects": ["p2"], "metadata": {"b": "3"}}"#),
    ),
    case(
        "OS::Glance::WebImage",
        1,
        r#"{"container_format": "bare", "disk_format": "raw", "location": "http://x/y",
            "visibility": "shared", "members": ["p1"], "tags": ["a"], "os_distro": "x",
            "extra_properties": {"k": "v", "l": "w"}}"#,
        Some(
            r#"{"container_format": "bare", "disk_format": "raw", "location": "http://x/y",
                "visibility": "shared", "members": ["p2"], "tags": ["b"], "active": false,
                "architecture": "arm", "extra_properties": {"k": "u", "m": "x"}}"#,
        ),
    ),
    case(
        "OS::Nova::Flavor",
        1,
        r#"{"ram": 1, "vcpus": 1, "is_public": false, "tenants": ["project p1"],
            "extra_specs": {"a": "1", "b": "2"}}"#,
        Some(
            r#"{"ram": 1, "vcpus": 1, "is_public": false, "tenants": ["p2"],
                "extra_specs": {"b": "3"}}"#,
        ),
    ),
    case("OS::Nova::Flavor", 1, r#"{"ram": 1, "vcpus": 1, "name": "f", "flavorid": "7"}"#, None),
    case("OS::Nova::FloatingIP", 1, "{}", None),
    case("OS::Nova::FloatingIP", 1, r#"{"pool": "public"}"#, None),
    case(
        "OS::Nova::FloatingIPAssociation",
        0,
        r#"{"floating_ip": "fip-1", "server_id": "server-1"}"#,
        Some(r#"{"floating_ip": "fip-2", "server_id": "server-2"}"#),
    ),
    case(
        "OS::Nova::HostAggregate",
        1,
        r#"{"name": "a", "hosts": ["h1", "h2"], "metadata": {"a": "1", "b": "2"}}"#,
        Some(r#"{"name": "b", "hosts": ["h2", "h3"], "metadata": {"b": "3"}}"#),
    ),
    case("OS::Nova::KeyPair", 1, r#"{"name": "k", "save_private_key": true}"#, None),
    case("OS::Nova::KeyPair", 1, r#"{"name": "a b", "public_key": "ssh-rsa AAAA me"}"#, None),
    case(
        "OS::Nova::Quota",
        1,
        r#"{"project": "project p1", "cores": 5}"#,
        Some(r#"{"project": "project p1", "cores": 6, "fixed_ips": 3}"#),
    ),
    case(
        "OS::Nova::Server",
        3,
        r#"{"flavor": "small", "image": "image-1", "name": "web", "tags": ["t"],
            "metadata": {"a": 1}, "security_groups": [],
            "networks": [{"network": "net-2"}, {"subnet": "subnet-1", "floating_ip": "fip-1"}]}"#,
        Some(
            r#"{"flavor": "large", "image": "image-2", "tags": [], "metadata": {"b": "c"},
                "networks": [{"subnet": "subnet-2"}, {"port": "port-1", "floating_ip": "fip-1"}]}"#,
        ),
    ),
    case("OS::Nova::Server", 2, r#"{"flavor": "m1.small", "image": "image-1"}"#, None),
    case("OS::Nova::ServerGroup", 1, r#"{"policies": ["affinity"]}"#, None),
];
