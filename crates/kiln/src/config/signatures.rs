//! Who examines signatures.

use super::Config;
use super::options::{Flavor, Login};
use crate::streams::Failure;

/// The section that says so.
const SECTION: &str = "ec2authtoken";

/// The identity services that examine signatures, in the order in which they are asked; nothing if it is the one
/// that examines tokens.
pub(super) fn examiners(
    config: &Config,
    flavor: &Flavor,
    login: &Login,
) -> Result<Option<Vec<Login>>, Failure> {
    if config.flag(SECTION, "multi_cloud", false)? {
        let clouds = config.list(SECTION, "clouds");
        let clouds = clouds.iter().map(|name| {
            let section = format!("{SECTION}.{name}");
            let missing = || {
                let message = format!("{name} needs a section [{section}] with its auth_url");
                config.wrong(SECTION, "clouds", &message)
            };
            of_section(config, &section, login).ok_or_else(missing)
        });
        return clouds.collect::<Result<Vec<Login>, Failure>>().map(Some);
    }
    Ok(match (of_section(config, SECTION, login), flavor) {
        (Some(login), _) => Some(vec![login]),
        // Passwords are examined elsewhere for each request: there is nobody yet who could.
        (None, Flavor::Standalone) => Some(vec![login.clone()]),
        (None, _) => None,
    })
}

/// What a section says; what it does not say is as it is for tokens.
fn of_section(config: &Config, section: &str, login: &Login) -> Option<Login> {
    let auth_url = config.text(section, "auth_url")?;
    let text = |option: &str, usual: &String| {
        config.text(section, option).unwrap_or_else(|| usual.clone())
    };
    Some(Login {
        auth_url,
        username: text("username", &login.username),
        password: text("password", &login.password),
        project: text("project_name", &login.project),
        user_domain: text("user_domain_name", &login.user_domain),
        project_domain: text("project_domain_name", &login.project_domain),
        ..login.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Settings};

    fn urls(text: &str) -> Option<Vec<(String, String)>> {
        let settings = Settings::of(&Config::read(text).unwrap()).unwrap();
        let examiners = settings.examiners?;
        Some(examiners.into_iter().map(|it| (it.auth_url, it.username)).collect())
    }

    #[test]
    fn signatures_are_examined_where_the_file_says() {
        assert_eq!(urls(""), None);
        let token = "[keystone_authtoken]\nauth_url = http://a\nusername = kiln\n";
        let standalone = format!("{token}[paste_deploy]\nflavor = standalone\n");
        assert_eq!(urls(&standalone), Some(vec![("http://a".into(), "kiln".into())]));
        let apart = format!("{token}[ec2authtoken]\nauth_url = http://b\n");
        assert_eq!(urls(&apart), Some(vec![("http://b".into(), "kiln".into())]));
        let several = format!(
            "{token}[ec2authtoken]\nmulti_cloud = true\nclouds = one, two\n\
             [ec2authtoken.one]\nauth_url = http://1\n[ec2authtoken.two]\nauth_url = http://2\nusername = u\n"
        );
        let both = [("http://1".into(), "kiln".into()), ("http://2".into(), "u".into())];
        assert_eq!(urls(&several), Some(both.to_vec()));
        assert_eq!(urls("[ec2authtoken]\nmulti_cloud = true\n"), Some(Vec::new()));
        let wrong = Config::read("[ec2authtoken]\nmulti_cloud = true\nclouds = one\n").unwrap();
        assert!(Settings::of(&wrong).is_err());
    }
}
