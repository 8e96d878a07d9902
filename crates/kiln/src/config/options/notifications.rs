//! Options of notifications to operators.

use crate::config::file::ConfigFile;
use crate::config::option::{OptionKey, OptionRow, Setting};
use crate::serving::host_name;
use crate::stdio::CommandError;
use kiln_bus::{Address, BusConfig, Driver, Level, Tls};
use std::path::PathBuf;

const NOTIFICATIONS: &str = "oslo_messaging_notifications";
const RABBIT: &str = "oslo_messaging_rabbit";

const DRIVER: OptionKey = (NOTIFICATIONS, "driver");
const TOPICS: OptionKey = (NOTIFICATIONS, "topics");
const TRANSPORT_URL: OptionKey = (NOTIFICATIONS, "transport_url");
const COMMON_TRANSPORT_URL: OptionKey = ("DEFAULT", "transport_url");
const EXCHANGE: OptionKey = ("DEFAULT", "control_exchange");
const HOSTS: OptionKey = (RABBIT, "rabbit_hosts");
const CERT_FILE: OptionKey = (RABBIT, "ssl_cert_file");

/// The maximum length of a name in AMQP, with room for a level.
const MAX_NAME_BYTES: usize = 240;

/// The values.
#[derive(Default)]
pub(in crate::config) struct NotificationOptions {
    drivers: Vec<String>,
    topics: Vec<String>,
    transport_url: Option<String>,
    common_transport_url: Option<String>,
    retries: Option<u64>,
    exchange: String,
    level: String,
    publisher: Option<String>,
    host: Option<String>,
    is_durable: bool,
    is_auto_delete: bool,
    is_quorum: bool,
    rabbit_host: String,
    rabbit_port: Option<u16>,
    rabbit_hosts: Option<String>,
    rabbit_user: String,
    rabbit_password: Option<String>,
    rabbit_virtual_host: String,
    is_encrypted: bool,
    ca_file: Option<PathBuf>,
    cert_file: Option<PathBuf>,
    key_file: Option<PathBuf>,
}

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow::new(
        "DEFAULT",
        "control_exchange",
        "The exchange to which notifications are published.",
        Setting::Text("heat", |it| &mut it.notifications.exchange),
    ),
    OptionRow::new(
        "DEFAULT",
        "default_notification_level",
        "The level of notifications about successful actions.",
        Setting::Choice(
            "INFO",
            &["AUDIT", "DEBUG", "INFO", "WARN", "ERROR", "CRITICAL", "SAMPLE"],
            |it| &mut it.notifications.level,
        ),
    ),
    OptionRow::new(
        "DEFAULT",
        "default_publisher_id",
        "The publisher of notifications; orchestration.HOST if not set.",
        Setting::MaybeText(|it| &mut it.notifications.publisher),
    ),
    OptionRow::new(
        "DEFAULT",
        "host",
        "The name of this machine in notifications; its host name if not set.",
        Setting::MaybeText(|it| &mut it.notifications.host),
    ),
    OptionRow::new(
        "DEFAULT",
        "transport_url",
        "The message broker. It carries wake-ups between the processes of a site, and notifications if [oslo_messaging_notifications] transport_url is not set.",
        Setting::Url(None, |it| &mut it.notifications.common_transport_url),
    ),
    OptionRow::new(
        "oslo_messaging_notifications",
        "driver",
        "How notifications are sent: messagingv2, messaging, log or noop; may be repeated.",
        Setting::Repeated(&[], |it| &mut it.notifications.drivers),
    )
    .formerly(&[("DEFAULT", "notification_driver")]),
    OptionRow::new(
        "oslo_messaging_notifications",
        "retry",
        "The number of times that sending a notification is retried; -1 for no limit.",
        Setting::Limit(None, |it| &mut it.notifications.retries),
    ),
    OptionRow::new(
        "oslo_messaging_notifications",
        "topics",
        "The prefixes of the names of notification queues.",
        Setting::List(&["notifications"], |it| &mut it.notifications.topics),
    )
    .formerly(&[("rpc_notifier2", "topics"), ("DEFAULT", "notification_topics")]),
    OptionRow::new(
        "oslo_messaging_notifications",
        "transport_url",
        "The message broker: rabbit://USER:PASSWORD@HOST:PORT,.../VIRTUAL_HOST.",
        Setting::Url(None, |it| &mut it.notifications.transport_url),
    )
    .formerly(&[("DEFAULT", "notification_transport_url")]),
    OptionRow::new(
        "oslo_messaging_rabbit",
        "amqp_auto_delete",
        "Whether the exchange and the queues are deleted when they are no longer used.",
        Setting::Flag(false, |it| &mut it.notifications.is_auto_delete),
    )
    .formerly(&[("DEFAULT", "amqp_auto_delete")]),
    OptionRow::new(
        "oslo_messaging_rabbit",
        "amqp_durable_queues",
        "Whether the exchange and the queues survive a restart of the broker.",
        Setting::Flag(false, |it| &mut it.notifications.is_durable),
    )
    .formerly(&[("DEFAULT", "amqp_durable_queues")]),
    OptionRow::new(
        "oslo_messaging_rabbit",
        "rabbit_host",
        "The host of the broker, if there is no transport_url.",
        Setting::Text("localhost", |it| &mut it.notifications.rabbit_host),
    )
    .formerly(&[("DEFAULT", "rabbit_host")]),
    OptionRow::new(
        "oslo_messaging_rabbit",
        "rabbit_hosts",
        "The hosts of the broker as HOST:PORT,..., if there is no transport_url.",
        Setting::MaybeText(|it| &mut it.notifications.rabbit_hosts),
    )
    .formerly(&[("DEFAULT", "rabbit_hosts")]),
    OptionRow::new(
        "oslo_messaging_rabbit",
        "rabbit_password",
        "The password at the broker, if there is no transport_url; guest if not set.",
        Setting::Password(|it| &mut it.notifications.rabbit_password),
    )
    .formerly(&[("DEFAULT", "rabbit_password")]),
    OptionRow::new(
        "oslo_messaging_rabbit",
        "rabbit_port",
        "The port of the broker, if there is no transport_url.",
        Setting::Port(Some(5672), |it| &mut it.notifications.rabbit_port),
    )
    .formerly(&[("DEFAULT", "rabbit_port")]),
    OptionRow::new(
        "oslo_messaging_rabbit",
        "rabbit_quorum_queue",
        "Whether the broker replicates the queues.",
        Setting::Flag(false, |it| &mut it.notifications.is_quorum),
    )
    .formerly(&[("DEFAULT", "rabbit_quorum_queue")]),
    OptionRow::new(
        "oslo_messaging_rabbit",
        "rabbit_userid",
        "The user at the broker, if there is no transport_url.",
        Setting::Text("guest", |it| &mut it.notifications.rabbit_user),
    )
    .formerly(&[("DEFAULT", "rabbit_userid")]),
    OptionRow::new(
        "oslo_messaging_rabbit",
        "rabbit_virtual_host",
        "The virtual host of the broker, if there is no transport_url.",
        Setting::Text("/", |it| &mut it.notifications.rabbit_virtual_host),
    )
    .formerly(&[("DEFAULT", "rabbit_virtual_host")]),
    OptionRow::new(
        "oslo_messaging_rabbit",
        "ssl",
        "Whether the connection to the broker is encrypted.",
        Setting::Flag(false, |it| &mut it.notifications.is_encrypted),
    )
    .formerly(&[(RABBIT, "rabbit_use_ssl"), ("DEFAULT", "rabbit_use_ssl")]),
    OptionRow::new(
        "oslo_messaging_rabbit",
        "ssl_ca_file",
        "The CA certificates to trust in connections to the broker, in PEM format.",
        Setting::File(None, |it| &mut it.notifications.ca_file),
    )
    .formerly(&[(RABBIT, "kombu_ssl_ca_certs"), ("DEFAULT", "kombu_ssl_ca_certs")]),
    OptionRow::new(
        "oslo_messaging_rabbit",
        "ssl_cert_file",
        "The client certificate for the broker, in PEM format.",
        Setting::File(None, |it| &mut it.notifications.cert_file),
    )
    .formerly(&[(RABBIT, "kombu_ssl_certfile"), ("DEFAULT", "kombu_ssl_certfile")]),
    OptionRow::new(
        "oslo_messaging_rabbit",
        "ssl_key_file",
        "The key of that certificate, in PEM format.",
        Setting::File(None, |it| &mut it.notifications.key_file),
    )
    .formerly(&[(RABBIT, "kombu_ssl_keyfile"), ("DEFAULT", "kombu_ssl_keyfile")]),
];

impl NotificationOptions {
    /// The settings of the bus; `None` if no notifications are sent.
    pub(in crate::config) fn settings(
        &self,
        file: &ConfigFile,
    ) -> Result<Option<BusConfig>, CommandError> {
        let drivers = self.drivers(file)?;
        if drivers.is_empty() {
            return Ok(None);
        }
        for (key, name) in
            self.topics.iter().map(|it| (TOPICS, it)).chain([(EXCHANGE, &self.exchange)])
        {
            if name.len() > MAX_NAME_BYTES {
                let message = format!("{name} has more than {MAX_NAME_BYTES} bytes");
                return Err(file.error_at(key, &message));
            }
        }
        let needs_broker = drivers.iter().any(|driver| *driver != Driver::Log);
        let address = if needs_broker { self.address(file)? } else { Address::default() };
        Ok(Some(BusConfig {
            drivers,
            topics: self.topics.clone(),
            tls: self.tls(file, &address)?,
            address,
            exchange: self.exchange.clone(),
            level: Level::parse(&self.level).unwrap_or_default(),
            publisher: self.publisher(),
            is_durable: self.is_durable,
            is_auto_delete: self.is_auto_delete,
            is_quorum: self.is_quorum,
            retries: self.retries.map(|retries| u32::try_from(retries).unwrap_or(u32::MAX)),
            ..BusConfig::default()
        }))
    }

    /// The broker that carries wake-ups between the processes of this site; `None` if the site has none.
    pub(in crate::config) fn broker(
        &self,
        file: &ConfigFile,
    ) -> Result<Option<BusConfig>, CommandError> {
        let Some(url) = &self.common_transport_url else { return Ok(None) };
        let address = Address::parse(url)
            .map_err(|bad| file.error_at(COMMON_TRANSPORT_URL, &bad.to_string()))?;
        let (tls, publisher) = (self.tls(file, &address)?, self.publisher());
        Ok(Some(BusConfig { address, tls, publisher, ..BusConfig::default() }))
    }

    fn drivers(&self, file: &ConfigFile) -> Result<Vec<Driver>, CommandError> {
        let mut drivers = Vec::new();
        for name in &self.drivers {
            // Older names are those of modules.
            match name.rsplit('.').next().unwrap_or_default() {
                "messagingv2" | "rpc_notifier2" => {
                    drivers.push(Driver::Messaging { is_enveloped: true });
                }
                "messaging" | "rpc_notifier" => {
                    drivers.push(Driver::Messaging { is_enveloped: false });
                }
                "log" | "log_notifier" => drivers.push(Driver::Log),
                "noop" | "no_op_notifier" | "test" | "test_notifier" | "" => {}
                _ => {
                    let message =
                        format!("{name} is not known; it is messagingv2, messaging, log or noop");
                    return Err(file.error_at(DRIVER, &message));
                }
            }
        }
        drivers.dedup();
        Ok(drivers)
    }

    fn publisher(&self) -> String {
        self.publisher.clone().unwrap_or_else(|| {
            let host = self.host.clone().unwrap_or_else(|| host_name().to_string());
            format!("orchestration.{host}")
        })
    }

    fn address(&self, file: &ConfigFile) -> Result<Address, CommandError> {
        let urls = [
            (TRANSPORT_URL, &self.transport_url),
            (COMMON_TRANSPORT_URL, &self.common_transport_url),
        ];
        for (key, url) in urls {
            if let Some(url) = url {
                return Address::parse(url).map_err(|bad| file.error_at(key, &bad.to_string()));
            }
        }
        let address = Address::parse(&self.url_of_parts());
        address.map_err(|bad| file.error_at(HOSTS, &bad.to_string()))
    }

    /// The URL that the options from before `transport_url` describe.
    fn url_of_parts(&self) -> String {
        // Special characters of a password must not have a meaning in the URL.
        let quoted = |text: &str| {
            kiln_template::files::url::percent_encode(text, &kiln_template::files::url::COMPONENT)
        };
        let password = self.rabbit_password.as_deref().unwrap_or("guest");
        let login = format!("{}:{}", quoted(&self.rabbit_user), quoted(password));
        let port = self.rabbit_port.unwrap_or_default();
        let one = format!("{}:{port}", self.rabbit_host);
        let hosts = self.rabbit_hosts.as_deref().unwrap_or(&one).split([',', '\n']);
        let hosts: Vec<String> = hosts.map(|host| format!("{login}@{}", host.trim())).collect();
        format!("rabbit://{}/{}", hosts.join(","), quoted(&self.rabbit_virtual_host))
    }

    fn tls(&self, file: &ConfigFile, address: &Address) -> Result<Option<Tls>, CommandError> {
        if !self.is_encrypted && !address.is_encrypted {
            return Ok(None);
        }
        let own = match (&self.cert_file, &self.key_file) {
            (Some(certificate), Some(key)) => Some((certificate.clone(), key.clone())),
            (None, None) => None,
            _ => {
                let message = "ssl_cert_file and ssl_key_file must be set together";
                return Err(file.error_at(CERT_FILE, message));
            }
        };
        Ok(Some(Tls { authorities: self.ca_file.clone(), own }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<BusConfig>, String> {
        let file = ConfigFile::parse(text)?;
        let message = |error| match error {
            CommandError::Usage(message) => message,
            _ => "another failure".to_owned(),
        };
        let options = file.options().map_err(message)?;
        options.notifications.settings(&file).map_err(message)
    }

    fn settings(text: &str) -> BusConfig {
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
            why("[DEFAULT]\ndefault_notification_level = loud\n").contains("must be one of AUDIT")
        );
    }
}
