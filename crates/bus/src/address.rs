//! The address of a broker in the format of oslo.messaging: `rabbit://USER:PASSWORD@HOST:PORT,…/VIRTUAL_HOST`.

use kiln_template::files::url::percent_decode;
use std::fmt;

/// The address of a broker: the nodes of its cluster and the virtual host.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    /// The nodes of the cluster, which are tried in turn.
    pub hosts: Vec<Host>,
    /// The virtual host.
    pub virtual_host: String,
    /// Whether the URL requests TLS.
    pub is_encrypted: bool,
}

/// A node of the cluster, and its credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct Host {
    /// The host name or IP address.
    pub name: String,
    /// The port.
    pub port: u16,
    /// The user name.
    pub user: String,
    /// The password.
    pub password: String,
}

/// The credentials are not printed.
impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.contains(':') {
            write!(f, "[{}]:{}", self.name, self.port)
        } else {
            write!(f, "{}:{}", self.name, self.port)
        }
    }
}

/// The reason why a URL is invalid. It does not repeat the URL, which may contain a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadAddress(pub String);

impl fmt::Display for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The default port of RabbitMQ.
const PORT: u16 = 5672;

/// The maximal length of a name in AMQP.
const MAX_NAME_BYTES: usize = 255;

impl Default for Host {
    fn default() -> Host {
        let guest = || "guest".to_owned();
        Host { name: "localhost".to_owned(), port: PORT, user: guest(), password: guest() }
    }
}

impl Default for Address {
    fn default() -> Address {
        let virtual_host = "/".to_owned();
        Address { hosts: vec![Host::default()], virtual_host, is_encrypted: false }
    }
}

impl Address {
    /// Parses a transport URL.
    pub fn parse(url: &str) -> Result<Address, BadAddress> {
        let Some((scheme, rest)) = url.trim().split_once("://") else {
            return Err(bad("write it as rabbit://USER:PASSWORD@HOST:PORT/"));
        };
        if !["rabbit", "kombu", "amqp"].contains(&scheme) {
            return Err(bad(&format!("{scheme}:// is no broker that is known; it is rabbit://")));
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, path) = rest.split_once('/').unwrap_or((rest, ""));
        let virtual_host = match percent_decode(path) {
            path if path.is_empty() => "/".to_owned(),
            path => path,
        };
        if virtual_host.len() > MAX_NAME_BYTES {
            return Err(bad("the virtual host has more than 255 bytes"));
        }
        let hosts: Result<Vec<Host>, BadAddress> = hosts.split(',').map(Host::parse).collect();
        let is_yes = |value: &str| ["1", "true", "yes", "on"].contains(&value);
        let is_encrypted = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .any(|(name, value)| name == "ssl" && is_yes(&value.to_ascii_lowercase()));
        Ok(Address { hosts: hosts?, virtual_host, is_encrypted })
    }
}

impl Host {
    /// Parses `USER:PASSWORD@HOST:PORT`, of which only the host is required.
    fn parse(text: &str) -> Result<Host, BadAddress> {
        let mut host = Host::default();
        let (login, place) = match text.trim().rsplit_once('@') {
            Some((login, place)) => (Some(login), place),
            None => (None, text.trim()),
        };
        if let Some(login) = login {
            let (user, password) = login.split_once(':').unwrap_or((login, ""));
            (host.user, host.password) = (percent_decode(user), percent_decode(password));
        }
        let (name, port) = match place.strip_prefix('[').and_then(|it| it.split_once(']')) {
            Some((name, rest)) => (name, rest.strip_prefix(':')),
            None => match place.split_once(':') {
                Some((name, port)) => (name, Some(port)),
                None => (place, None),
            },
        };
        if !name.is_empty() {
            host.name = name.to_owned();
        }
        if let Some(port) = port.filter(|port| !port.is_empty()) {
            host.port = port.parse().map_err(|_| bad("the port is not a number up to 65535"))?;
        }
        if host.user.len() > MAX_NAME_BYTES {
            return Err(bad("the name of the user has more than 255 bytes"));
        }
        Ok(host)
    }
}

fn bad(why: &str) -> BadAddress {
    BadAddress(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(user: &str, password: &str, name: &str, port: u16) -> Host {
        let (user, password) = (user.to_owned(), password.to_owned());
        Host { name: name.to_owned(), port, user, password }
    }

    #[test]
    fn addresses_are_read_as_oslo_messaging_reads_them() {
        let cases = [
            ("rabbit://", vec![host("guest", "guest", "localhost", 5672)], "/"),
            ("rabbit://h", vec![host("guest", "guest", "h", 5672)], "/"),
            ("rabbit://u:p@h:1/", vec![host("u", "p", "h", 1)], "/"),
            ("rabbit://u:p@h:1//", vec![host("u", "p", "h", 1)], "/"),
            ("rabbit://u:p@h/v%2Fw", vec![host("u", "p", "h", 5672)], "v/w"),
            ("rabbit://u:a%40b%3A%2F%25@h/v?x=1", vec![host("u", "a@b:/%", "h", 5672)], "v"),
            (
                "rabbit://a:b@h1:1,c:d@h2:2,h3/v",
                vec![
                    host("a", "b", "h1", 1),
                    host("c", "d", "h2", 2),
                    host("guest", "guest", "h3", 5672),
                ],
                "v",
            ),
            ("rabbit://u:p@[::1]:7/v", vec![host("u", "p", "::1", 7)], "v"),
            ("kombu://u@[fe80::1]", vec![host("u", "", "fe80::1", 5672)], "/"),
        ];
        for (url, hosts, virtual_host) in cases {
            let virtual_host = virtual_host.to_owned();
            let expected = Address { hosts, virtual_host, is_encrypted: false };
            assert_eq!(Address::parse(url), Ok(expected), "{url}");
        }
        assert!(Address::parse("rabbit://h/?ssl=1").is_ok_and(|it| it.is_encrypted));
    }

    #[test]
    fn what_cannot_be_used_is_told_without_the_password() {
        let why = |url: &str| Address::parse(url).unwrap_err().to_string();
        assert_eq!(why("h:5672"), "write it as rabbit://USER:PASSWORD@HOST:PORT/");
        assert_eq!(
            why("kafka://u:secret@h"),
            "kafka:// is no broker that is known; it is rabbit://"
        );
        assert_eq!(why("rabbit://u:secret@h:x/"), "the port is not a number up to 65535");
        let long = "v".repeat(256);
        assert!(why(&format!("rabbit://u:secret@h/{long}")).starts_with("the virtual host"));
        assert!(why(&format!("rabbit://{long}:secret@h")).starts_with("the name of the user"));
        let shown = format!("{:?}", Address::parse("rabbit://u:secret@h"));
        assert!(!shown.contains("secret"), "{shown}");
    }
}
