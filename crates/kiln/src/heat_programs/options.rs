//! The options that all services of OpenStack have: their configuration files, and what they log.

use crate::config::ConfigFile;
use crate::stdio::CommandError;
use clap::{ArgAction, Args};
use std::path::{Path, PathBuf};

/// The configuration file of the package, for programs that find none of Heat.
const OWN_FILE: &str = "/etc/kiln/kiln.conf";

/// The options of a service. Those about logs are the options of the file with the same names.
#[derive(Debug, Args)]
pub(super) struct CommonOptions {
    /// Configuration file; may be repeated, later files take precedence [default: heat.conf and PROGRAM.conf in
    /// ~/.heat, ~, /etc/heat and /etc, or else /etc/kiln/kiln.conf]
    #[arg(long = "config-file", value_name = "PATH")]
    config_files: Vec<PathBuf>,

    /// Directory whose *.conf are read after the files, in the order of their names; may be repeated
    #[arg(long = "config-dir", value_name = "DIR")]
    config_dirs: Vec<PathBuf>,

    /// Log at level DEBUG
    #[arg(short, long, overrides_with = "nodebug")]
    debug: bool,

    /// Do not log at level DEBUG
    #[arg(long, overrides_with = "debug")]
    nodebug: bool,

    /// Log JSON objects
    #[arg(long, overrides_with = "nouse_json")]
    use_json: bool,

    /// Do not log JSON objects
    #[arg(long, overrides_with = "use_json")]
    nouse_json: bool,

    /// Not supported: logs go to standard error
    #[arg(long, alias = "logfile", value_name = "PATH")]
    log_file: Option<String>,

    /// Not supported: logs go to standard error
    #[arg(long, alias = "logdir", value_name = "DIR")]
    log_dir: Option<String>,

    /// Not supported: logs go to standard error
    #[arg(long, aliases = ["log-config", "log_config"], value_name = "PATH")]
    log_config_append: Option<String>,

    /// Not supported: logs go to standard error
    #[arg(long, action = ArgAction::SetTrue)]
    use_syslog: bool,

    /// Not supported: logs go to standard error, which systemd passes on to the journal
    #[arg(long, action = ArgAction::SetTrue)]
    use_journal: bool,

    /// Not supported: logs go to standard error
    #[arg(long, action = ArgAction::SetTrue)]
    watch_log_file: bool,

    /// Ignored; log lines have one format
    #[arg(long, value_name = "FORMAT", hide = true)]
    log_date_format: Option<String>,

    /// Ignored; log lines have one format
    #[arg(long, value_name = "FORMAT", hide = true)]
    log_format: Option<String>,

    /// Ignored; there is no such facility
    #[arg(long, value_name = "FACILITY", hide = true)]
    syslog_log_facility: Option<String>,

    /// Ignored; what `--verbose` logged is always logged
    #[arg(short, long, hide = true)]
    verbose: bool,

    /// Ignored
    #[arg(long, hide = true)]
    noverbose: bool,

    /// Ignored: it is the default
    #[arg(long, hide = true)]
    nouse_syslog: bool,

    /// Ignored: it is the default
    #[arg(long, hide = true)]
    nouse_journal: bool,

    /// Ignored: it is the default
    #[arg(long, hide = true)]
    nowatch_log_file: bool,
}

impl CommonOptions {
    /// The configuration of a program: its files, and what the command line says.
    pub(super) fn load(&self, program: &str) -> Result<ConfigFile, CommandError> {
        let mut paths = self.config_files.clone();
        if paths.is_empty() && self.config_dirs.is_empty() {
            paths = default_files(program);
        }
        paths.extend(self.config_dirs.iter().cloned());
        let mut file = ConfigFile::load_all(&paths)?;
        for (name, value) in self.values() {
            let flag = format!("--{}", name.replace('_', "-"));
            file.set(("DEFAULT", name), &value, &flag);
        }
        Ok(file)
    }

    /// The options of the file that the command line sets.
    fn values(&self) -> impl Iterator<Item = (&'static str, String)> {
        let flag = |is_on: bool, is_off: bool| match (is_on, is_off) {
            (true, _) => Some("true".to_owned()),
            (false, true) => Some("false".to_owned()),
            (false, false) => None,
        };
        let all = [
            ("debug", flag(self.debug, self.nodebug)),
            ("use_json", flag(self.use_json, self.nouse_json)),
            ("log_file", self.log_file.clone()),
            ("log_dir", self.log_dir.clone()),
            ("log_config_append", self.log_config_append.clone()),
            ("use_syslog", flag(self.use_syslog, false)),
            ("use_journal", flag(self.use_journal, false)),
            ("watch_log_file", flag(self.watch_log_file, false)),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }
}

/// The files that a program of Heat reads if it is given none.
fn default_files(program: &str) -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let homes = home.iter().flat_map(|home| [home.join(".heat"), home.clone()]);
    let dirs: Vec<PathBuf> =
        homes.chain([PathBuf::from("/etc/heat"), PathBuf::from("/etc")]).collect();
    let first = |name: &str| dirs.iter().map(|it| it.join(name)).find(|it| it.is_file());
    let found: Vec<PathBuf> =
        [first("heat.conf"), first(&format!("{program}.conf"))].into_iter().flatten().collect();
    match found.is_empty() && Path::new(OWN_FILE).is_file() {
        true => vec![OWN_FILE.into()],
        false => found,
    }
}
