//! Packages, installed by the package manager of the system. A package that cannot be installed is only logged.

use crate::error::Result;
use crate::host::Host;
use crate::process;
use std::cmp::Ordering;
use std::path::Path;

/// A package and the requested versions.
type Package = (String, Vec<String>);

/// Installs packages.
pub(super) fn install(host: &Host, manager: &str, packages: &[Package]) -> Result<()> {
    match manager {
        "apt" | "dpkg" => run(host, &apt(packages)),
        "yum" | "dnf" | "zypper" => {
            let manager = match manager {
                "yum" if !is_there("yum") && is_there("dnf") => "dnf",
                other => other,
            };
            let missing: Vec<String> = packages
                .iter()
                .map(|(name, versions)| rpm_name(name, versions))
                .filter(|name| !is_installed(host, name))
                .collect();
            run(host, &rpm(manager, &missing))
        }
        "rubygems" => packages.iter().try_for_each(|package| run(host, &gem(package))),
        "python" => {
            packages.iter().try_for_each(|(name, versions)| run(host, &pip(name, versions)))
        }
        // heat-cfntools accepts this section and does nothing.
        "rpm" => Ok(()),
        other => {
            host.warn(format!("unknown package manager {other:?}"));
            Ok(())
        }
    }
}

fn apt(packages: &[Package]) -> Vec<String> {
    if packages.is_empty() {
        Vec::new()
    } else {
        let start = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "install"];
        let names = packages.iter().map(|(name, _)| name.clone());
        start.iter().map(|it| (*it).to_owned()).chain(names).collect()
    }
}

fn rpm(manager: &str, names: &[String]) -> Vec<String> {
    let start: &[&str] = match manager {
        _ if names.is_empty() => return Vec::new(),
        "dnf" => &["dnf", "-y", "--best", "--allowerasing", "install"],
        "zypper" => &["zypper", "-n", "install", "--oldpackage"],
        other => &[other, "-y", "install"],
    };
    start.iter().map(|it| (*it).to_owned()).chain(names.iter().cloned()).collect()
}

fn gem((name, versions): &Package) -> Vec<String> {
    let mut words: Vec<String> = ["gem", "install", "-b", "-y"].map(str::to_owned).to_vec();
    if let Some(version) = newest(versions) {
        words.extend(["--version".into(), version.to_owned()]);
    }
    words.push(name.clone());
    words
}

fn pip(name: &str, versions: &[String]) -> Vec<String> {
    let wanted = newest(versions).map_or(name.to_owned(), |version| format!("{name}=={version}"));
    // The program that heat-cfntools calls is often absent.
    if is_there("easy_install") {
        vec!["easy_install".into(), wanted]
    } else {
        ["python3", "-m", "pip", "install", &wanted].map(str::to_owned).to_vec()
    }
}

/// Returns the name of a package with the newest requested version.
fn rpm_name(name: &str, versions: &[String]) -> String {
    newest(versions).map_or(name.to_owned(), |version| format!("{name}-{version}"))
}

fn newest(versions: &[String]) -> Option<&str> {
    versions.iter().map(String::as_str).max_by(|a, b| compare(a, b))
}

/// Compares versions by their parts: numbers numerically, and as newer than letters.
fn compare(a: &str, b: &str) -> Ordering {
    let parts = |text: &str| {
        let mut parts: Vec<(bool, u64, String)> = Vec::new();
        for part in text.split(|it: char| !it.is_ascii_alphanumeric()) {
            let mut rest = part;
            while let Some(first) = rest.chars().next() {
                let is_number = first.is_ascii_digit();
                let end = rest.find(|it: char| it.is_ascii_digit() != is_number);
                let (token, behind) = rest.split_at(end.unwrap_or(rest.len()));
                parts.push((is_number, token.parse().unwrap_or(0), token.to_owned()));
                rest = behind;
            }
        }
        parts
    };
    let key = |(is_number, number, text): (bool, u64, String)| {
        (is_number, number, if is_number { String::new() } else { text })
    };
    parts(a).into_iter().map(key).cmp(parts(b).into_iter().map(key))
}

fn is_installed(host: &Host, name: &str) -> bool {
    let mut command = process::program(host, "rpm");
    process::capture(command.args(["-q", name]), None, None).is_ok_and(|it| it.status == 0)
}

fn is_there(program: &str) -> bool {
    ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin"]
        .iter()
        .any(|folder| Path::new(folder).join(program).exists())
}

fn run(host: &Host, words: &[String]) -> Result<()> {
    let [program, arguments @ ..] = words else { return Ok(()) };
    let mut command = process::program(host, program);
    match process::capture(command.args(arguments), None, None) {
        Ok(output) if output.status == 0 => host.info(words.join(" ")),
        Ok(output) => host.warn(format!("{}: {}", words.join(" "), output.err.trim())),
        Err(error) => host.warn(error.to_string()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, versions: &[&str]) -> Package {
        (name.to_owned(), versions.iter().map(|it| (*it).to_owned()).collect())
    }

    #[test]
    fn one_call_for_all_packages() {
        let all = [package("nginx", &[]), package("curl", &["7.0"])];
        assert_eq!(
            apt(&all).join(" "),
            "env DEBIAN_FRONTEND=noninteractive apt-get -y install nginx curl"
        );
        assert!(apt(&[]).is_empty());
        assert_eq!(rpm("yum", &["httpd-2.4.6".into()]).join(" "), "yum -y install httpd-2.4.6");
        assert_eq!(
            gem(&package("rake", &["1", "2"])).join(" "),
            "gem install -b -y --version 2 rake"
        );
    }

    #[test]
    fn the_newest_version_wins() {
        assert_eq!(
            rpm_name("httpd", &["2.4.6".into(), "2.4.10".into(), "2.4.9-1".into()]),
            "httpd-2.4.10"
        );
        assert_eq!(compare("1.0", "1.0.1"), Ordering::Less);
        assert_eq!(compare("1.0a", "1.0.1"), Ordering::Less);
    }
}
