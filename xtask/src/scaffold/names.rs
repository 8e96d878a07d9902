//! Names of directories, files and functions for the names of types.

/// Returns the family of a type, which is its directory: `OS::Nova::Server` belongs to `nova`.
pub(crate) fn family(name: &str) -> String {
    let mut parts = name.split("::");
    let (owner, service) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    match owner {
        "OS" => service.to_lowercase(),
        owner => format!("{}_{}", owner.to_lowercase(), service.to_lowercase()),
    }
}

/// Returns the name of the file and function of a type: `OS::Neutron::LBaaS::L7Policy` is `lbaas_l7_policy`.
pub(crate) fn file(name: &str) -> String {
    name.split("::").skip(2).map(snake).collect::<Vec<_>>().join("_")
}

/// Words that are not split at capitals.
const WHOLE: [&str; 8] = ["QoS", "LBaaS", "TaaS", "IPsec", "IKE", "RBAC", "L2", "L7"];

fn snake(mut camel: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    while !camel.is_empty() {
        let length = match WHOLE.iter().find(|word| camel.starts_with(**word)) {
            Some(word) => word.len(),
            None => word_length(camel),
        };
        let (word, rest) = camel.split_at(length);
        words.push(word.to_lowercase());
        camel = rest;
    }
    words.join("_")
}

/// Returns the length of the first word: a run of capitals up to the last one, which begins the next word, or a
/// capital and the letters after it.
fn word_length(camel: &str) -> usize {
    let capitals = camel.chars().take_while(char::is_ascii_uppercase).count();
    match capitals {
        0 | 1 => {
            let tail = camel.chars().skip(1).take_while(|c| !c.is_ascii_uppercase()).count();
            (1 + tail).min(camel.len())
        }
        run if run == camel.len() => run,
        run => run - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::{family, file};

    #[test]
    fn files_are_named_after_the_words_of_a_type() {
        for (name, expected) in [
            ("AWS::EC2::EIPAssociation", "aws_ec2/eip_association"),
            ("AWS::EC2::VPC", "aws_ec2/vpc"),
            ("AWS::RDS::DBInstance", "aws_rds/db_instance"),
            ("OS::Aodh::LBMemberHealthAlarm", "aodh/lb_member_health_alarm"),
            ("OS::Cinder::QoSSpecs", "cinder/qos_specs"),
            ("OS::Neutron::FloatingIPPortForward", "neutron/floating_ip_port_forward"),
            ("OS::Neutron::IPsecSiteConnection", "neutron/ipsec_site_connection"),
            ("OS::Neutron::LBaaS::L7Policy", "neutron/lbaas_l7_policy"),
            ("OS::Zaqar::SignedQueueURL", "zaqar/signed_queue_url"),
        ] {
            assert_eq!(format!("{}/{}", family(name), file(name)), expected);
        }
    }
}
