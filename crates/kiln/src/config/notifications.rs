//! Whether and how operators are told of what happens to stacks.

use super::Config;
use crate::serving::host_name;
use crate::streams::Failure;
use kiln_bus::{Address, Driver, Host, Level, Settings, Tls};

const SECTION: &str = "oslo_messaging_notifications";
const RABBIT: &str = "oslo_messaging_rabbit";

/// What AMQP can say in a name, with room for a level.
const LONGEST_NAME: usize = 240;

/// How they are told; nothing if they are not.
pub(super) fn notifications(config: &Config) -> Result<Option<Settings>, Failure> {
    let drivers = drivers(config)?;
    if drivers.is_empty() {
        return Ok(None);
    }
    let flag = |option: &str| match config.text(RABBIT, option) {
        Some(_) => config.flag(RABBIT, option, false),
        None => config.flag("DEFAULT", option, false),
    };
    let address = match drivers.iter().any(|driver| *driver != Driver::Log) {
        true => address(config)?,
        false => Address::default(),
    };
    Ok(Some(Settings {
        drivers,
        topics: topics(config)?,
        tls: tls(config, &address)?,
        address,
        exchange: name(config, "DEFAULT", "control_exchange", "heat")?,
        level: level(config)?,
        publisher: publisher(config),
        is_durable: flag("amqp_durable_queues")?,
        is_auto_delete: flag("amqp_auto_delete")?,
        is_quorum: flag("rabbit_quorum_queue")?,
        retries: config
            .limit(SECTION, "retry", u64::MAX)?
            .filter(|_| config.text(SECTION, "retry").is_some())
            .map(|retries| u32::try_from(retries).unwrap_or(u32::MAX)),
        ..Settings::default()
    }))
}

/// The first of some options that has a value, and where it stands.
fn first<'n>(
    config: &Config,
    options: &[(&'n str, &'n str)],
) -> Option<(&'n str, &'n str, String)> {
    options.iter().find_map(|(section, option)| {
        config.text(section, option).map(|value| (*section, *option, value))
    })
}

fn drivers(config: &Config) -> Result<Vec<Driver>, Failure> {
    let places = [(SECTION, "driver"), ("DEFAULT", "notification_driver")];
    let given = places.iter().find(|(section, option)| config.text(section, option).is_some());
    let Some((section, option)) = given else { return Ok(Vec::new()) };
    let mut drivers = Vec::new();
    for name in config.all(section, option) {
        // Older names are those of modules.
        match name.rsplit('.').next().unwrap_or_default() {
            "messagingv2" | "rpc_notifier2" => {
                drivers.push(Driver::Messaging { is_enveloped: true });
            }
            "messaging" | "rpc_notifier" => drivers.push(Driver::Messaging { is_enveloped: false }),
            "log" | "log_notifier" => drivers.push(Driver::Log),
            "noop" | "no_op_notifier" | "test" | "test_notifier" | "" => {}
            _ => {
                let message = format!(
                    "{name} is not known; it is messagingv2, messaging, log, noop or nothing"
                );
                return Err(config.wrong(section, option, &message));
            }
        }
    }
    drivers.dedup();
    Ok(drivers)
}

fn topics(config: &Config) -> Result<Vec<String>, Failure> {
    let places =
        [(SECTION, "topics"), ("rpc_notifier2", "topics"), ("DEFAULT", "notification_topics")];
    for (section, option) in places {
        let topics = config.list(section, option);
        if let Some(long) = topics.iter().find(|topic| topic.len() > LONGEST_NAME) {
            let message = format!("{long} has more than {LONGEST_NAME} bytes");
            return Err(config.wrong(section, option, &message));
        }
        if !topics.is_empty() {
            return Ok(topics);
        }
    }
    Ok(Settings::default().topics)
}

fn name(config: &Config, section: &str, option: &str, default: &str) -> Result<String, Failure> {
    let name = config.text(section, option).unwrap_or_else(|| default.to_owned());
    match name.len() > LONGEST_NAME {
        true => {
            let message = format!("it has more than {LONGEST_NAME} bytes");
            Err(config.wrong(section, option, &message))
        }
        false => Ok(name),
    }
}

fn level(config: &Config) -> Result<Level, Failure> {
    let Some(given) = config.text("DEFAULT", "default_notification_level") else {
        return Ok(Level::default());
    };
    Level::parse(&given).ok_or_else(|| {
        let message = format!(
            "{given} is not known; it is AUDIT, DEBUG, INFO, WARN, ERROR, CRITICAL or SAMPLE"
        );
        config.wrong("DEFAULT", "default_notification_level", &message)
    })
}

fn publisher(config: &Config) -> String {
    config.text("DEFAULT", "default_publisher_id").unwrap_or_else(|| {
        let host = config.text("DEFAULT", "host").unwrap_or_else(|| host_name().to_string());
        format!("orchestration.{host}")
    })
}

fn address(config: &Config) -> Result<Address, Failure> {
    let places = [
        (SECTION, "transport_url"),
        ("DEFAULT", "notification_transport_url"),
        ("DEFAULT", "transport_url"),
    ];
    match first(config, &places) {
        Some((section, option, url)) => {
            Address::parse(&url).map_err(|bad| config.wrong(section, option, &bad.to_string()))
        }
        None => old_address(config),
    }
}

/// What was said of brokers before there were addresses.
fn old_address(config: &Config) -> Result<Address, Failure> {
    let text = |option: &'static str| first(config, &[(RABBIT, option), ("DEFAULT", option)]);
    let usual = Host::default();
    let part = |option: &'static str, usual: &str| text(option).map_or(usual.to_owned(), |it| it.2);
    let (user, password) = (part("rabbit_userid", "guest"), part("rabbit_password", "guest"));
    let (host, port) = (part("rabbit_host", &usual.name), part("rabbit_port", "5672"));
    let places = part("rabbit_hosts", &format!("{host}:{port}"));
    // What may be in a password must not mean anything.
    let quoted = |text: &str| kiln_template::files::url::quoted(text, b"");
    let login = format!("{}:{}", quoted(&user), quoted(&password));
    let hosts: Vec<String> =
        places.split([',', '\n']).map(|place| format!("{login}@{}", place.trim())).collect();
    let virtual_host = quoted(&part("rabbit_virtual_host", "/"));
    Address::parse(&format!("rabbit://{}/{virtual_host}", hosts.join(","))).map_err(|bad| {
        let (section, option, _) =
            text("rabbit_hosts").or_else(|| text("rabbit_port")).unwrap_or((RABBIT, "", "".into()));
        config.wrong(section, option, &bad.to_string())
    })
}

fn tls(config: &Config, address: &Address) -> Result<Option<Tls>, Failure> {
    let is_asked = config.flag(RABBIT, "ssl", false)?
        || config.flag(RABBIT, "rabbit_use_ssl", false)?
        || config.flag("DEFAULT", "rabbit_use_ssl", false)?;
    if !is_asked && !address.is_encrypted {
        return Ok(None);
    }
    let file = |options: [&str; 2]| {
        let places = [(RABBIT, options[0]), (RABBIT, options[1]), ("DEFAULT", options[1])];
        first(config, &places).map(|(_, _, path)| path.into())
    };
    let own = match (
        file(["ssl_cert_file", "kombu_ssl_certfile"]),
        file(["ssl_key_file", "kombu_ssl_keyfile"]),
    ) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        _ => {
            let message = "ssl_cert_file and ssl_key_file go together";
            return Err(config.wrong(RABBIT, "ssl_cert_file", message));
        }
    };
    Ok(Some(Tls { authorities: file(["ssl_ca_file", "kombu_ssl_ca_certs"]), own }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Settings>, String> {
        let config = Config::read(text)?;
        notifications(&config).map_err(|failure| match failure {
            Failure::Usage(message) => message,
            _ => "another failure".to_owned(),
        })
    }

    fn settings(text: &str) -> Settings {
        read(text).expect("a good file").expect("notifications")
    }

    #[test]
    fn nothing_is_sent_unless_a_driver_is_named() {
        for text in [
            "",
            "[DEFAULT]\ntransport_url = rabbit://h/",
            "[oslo_messaging_notifications]\ndriver =\n",
            "[oslo_messaging_notifications]\ndriver = noop\ndriver = test\n",
            "[DEFAULT]\nnotification_driver = heat.openstack.common.notifier.no_op_notifier\n",
        ] {
            assert!(read(text).expect("a good file").is_none(), "{text}");
        }
    }

    #[test]
    fn options_mean_what_they_mean_to_oslo_messaging() {
        let text = "\
[DEFAULT]
transport_url = rabbit://rpc:x@rpc/
host = node-7
default_notification_level = audit
[oslo_messaging_notifications]
driver = messagingv2
driver = log
topics = notifications, billing
transport_url = rabbit://u:p%40@h1:1,u:p@h2:2/v
retry = 3
[oslo_messaging_rabbit]
amqp_durable_queues = true
ssl = true
ssl_ca_file = /etc/ca.pem
";
        let settings = settings(text);
        assert_eq!(settings.drivers, [Driver::Messaging { is_enveloped: true }, Driver::Log]);
        assert_eq!(settings.topics, ["notifications", "billing"]);
        assert_eq!(settings.address.hosts.len(), 2);
        assert_eq!(settings.address.hosts[0].password, "p@");
        assert_eq!(settings.address.virtual_host, "v");
        assert_eq!(settings.publisher, "orchestration.node-7");
        assert_eq!((settings.level, settings.retries), (Level::Audit, Some(3)));
        assert!(settings.is_durable && !settings.is_auto_delete);
        assert_eq!(settings.tls, Some(Tls { authorities: Some("/etc/ca.pem".into()), own: None }));
        let short = "[oslo_messaging_notifications]\ndriver = messaging\nretry = -1\n";
        let short = settings_of(short);
        assert_eq!(short, (vec!["notifications".to_owned()], "heat".to_owned(), None));
    }

    fn settings_of(text: &str) -> (Vec<String>, String, Option<u32>) {
        let settings = settings(text);
        (settings.topics, settings.exchange, settings.retries)
    }

    #[test]
    fn older_names_do_as_well() {
        let text = "\
[DEFAULT]
notification_driver = heat.openstack.common.notifier.rpc_notifier
notification_topics = old
default_publisher_id = me
control_exchange = other
amqp_auto_delete = true
rabbit_hosts = a:1,b
rabbit_userid = u
rabbit_password = p@/:
rabbit_virtual_host = /v
";
        let settings = settings(text);
        assert_eq!(settings.drivers, [Driver::Messaging { is_enveloped: false }]);
        assert_eq!((&*settings.topics[0], &*settings.publisher), ("old", "me"));
        assert_eq!((&*settings.exchange, settings.is_auto_delete), ("other", true));
        let hosts = &settings.address.hosts;
        let place = |at: usize| (hosts[at].to_string(), hosts[at].password.clone());
        assert_eq!(place(0), ("a:1".into(), "p@/:".into()));
        assert_eq!(place(1), ("b:5672".into(), "p@/:".into()));
        assert_eq!(settings.address.virtual_host, "/v");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place_and_without_passwords() {
        let why = |rest: &str| {
            let text = format!("[oslo_messaging_notifications]\ndriver = messagingv2\n{rest}");
            read(&text).expect_err("a bad file")
        };
        assert_eq!(
            why("transport_url = kafka://u:secret@h\n"),
            "kiln.conf: line 3: [oslo_messaging_notifications] transport_url: kafka:// is no broker that \
             is known; it is rabbit://"
        );
        assert!(why("driver = pigeon\n").contains("pigeon is not known"));
        assert!(why("retry = often\n").contains("must be a whole number"));
        assert!(
            why("[DEFAULT]\ndefault_notification_level = loud\n").contains("loud is not known")
        );
    }
}
