//! A real OpenStack, and a `kiln server` that uses it.

use crate::cloud::kiln_process::KilnProcess;
use crate::test_directory::TestDirectory;
use serde_json::Value as Json;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A real OpenStack. One test at a time has it: each counts everything that is there.
pub(crate) struct Real {
    path: PathBuf,
    clouds: Json,
    _lock: File,
}

impl Real {
    /// The cloud that the environment names, once no other test uses it.
    fn found() -> Option<Real> {
        let Some(path) = std::env::var_os("KILN_OPENSTACK").map(PathBuf::from) else {
            println!("skipped: KILN_OPENSTACK names no cloud; `dev/test openstack` starts one");
            return None;
        };
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("KILN_OPENSTACK: {}: {error}", path.display()));
        let clouds = serde_json::from_str(&text).expect("KILN_OPENSTACK: a clouds.yaml in JSON");
        let lock = File::create(path.with_extension("lock")).expect("a file to lock");
        lock.lock().expect("the lock");
        Some(Real { path, clouds, _lock: lock })
    }

    fn auth(&self, cloud: &str, name: &str) -> &str {
        let value = &self.clouds["clouds"][cloud]["auth"][name];
        value.as_str().unwrap_or_else(|| panic!("KILN_OPENSTACK: cloud {cloud} has no {name}"))
    }

    /// The URL of the identity service, with its version.
    pub(crate) fn identity(&self) -> String {
        self.auth("kiln", "auth_url").to_owned()
    }

    /// The file that names the clouds.
    pub(crate) fn clouds(&self) -> &Path {
        &self.path
    }

    /// The password of the user of a cloud.
    pub(crate) fn password(&self, cloud: &str) -> String {
        self.auth(cloud, "password").to_owned()
    }

    fn configuration(&self) -> String {
        let [url, user, password, project] =
            ["auth_url", "username", "password", "project_name"].map(|it| self.auth("kiln", it));
        let region = self.clouds["clouds"]["kiln"]["region_name"].as_str().unwrap_or_default();
        let stack_domain = if self.clouds["clouds"]["stacks"].is_object() {
            let [domain, user, password] =
                ["user_domain_name", "username", "password"].map(|it| self.auth("stacks", it));
            format!(
                "stack_user_domain_name = {domain}\nstack_domain_admin = {user}\n\
                 stack_domain_admin_password = {password}\n"
            )
        } else {
            String::new()
        };
        format!(
            "[DEFAULT]\nregion_name_for_services = {region}\n{stack_domain}\
             [heat_api]\nbind_host = 127.0.0.1\nbind_port = 0\n\
             [heat_api_cfn]\nbind_host = 127.0.0.1\nbind_port = 0\n\
             [heat_api_cloudwatch]\nbind_host = 127.0.0.1\nbind_port = 0\n\
             [keystone_authtoken]\nauth_url = {url}\nusername = {user}\npassword = {password}\n\
             project_name = {project}\n"
        )
    }
}

impl KilnProcess {
    /// A server with a real cloud, if there is one.
    pub(crate) async fn on_openstack() -> Option<KilnProcess> {
        let real = Real::found()?;
        let directory = TestDirectory::with(&[("kiln.conf", &real.configuration())]);
        let (process, addresses) = served(directory.path(), &[]);
        Some(KilnProcess::with(process, addresses, real, directory).await)
    }

    /// Kills the server, with no chance to tidy up, and starts another where it was.
    pub(crate) fn kill_and_start(&mut self, arguments: &[&str]) {
        self.process.kill().expect("it is killed");
        self.process.wait().expect("it is gone");
        let (process, [api, _]) = served(self.directory.path(), arguments);
        self.process = process;
        self.orchestration = format!("{api}/v1");
    }
}

/// Starts a server in a folder with its configuration, which logs everything there; tells where its native API is, and that of CloudFormation.
pub(crate) fn served(folder: &Path, arguments: &[&str]) -> (Child, [String; 2]) {
    let log = File::options().append(true).create(true).open(folder.join("log"));
    let mut process = Command::new(env!("CARGO_BIN_EXE_kiln"))
        .args(["server", "--config", "kiln.conf"])
        .args(arguments)
        .current_dir(folder)
        .env("KILN_LOG", "debug")
        .stdout(Stdio::piped())
        .stderr(log.expect("a log"))
        .spawn()
        .expect("the program starts");
    let out = BufReader::new(process.stdout.take().expect("its output"));
    let mut lines = out.lines().map_while(Result::ok);
    let addresses = ["orchestration", "CloudFormation"].map(|api| {
        let said = format!("The {api} API listens on ");
        let address = lines.find_map(|line| Some(line.strip_prefix(&said)?.to_owned()));
        let said = || std::fs::read_to_string(folder.join("log")).unwrap_or_default();
        let address = address.unwrap_or_else(|| panic!("no {api} API: {}", said()));
        address.trim_end_matches('.').to_owned()
    });
    (process, addresses)
}
