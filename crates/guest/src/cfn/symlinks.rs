//! cfn-create-aws-symlinks: the tools once more, where templates for Amazon's cloud look for them.

use crate::files;
use crate::host::Host;
use crate::options::{Flag, Given, switch, value};
use std::os::unix::fs::symlink;

pub(crate) const FLAGS: &[Flag] = &[
    value("source", Some('s'), "Where the tools are."),
    value("target", Some('t'), "Where the links go."),
    switch("force", Some('f'), "Replace what is there."),
];

pub(crate) fn main(host: &Host, given: &Given) -> i32 {
    let source = host.path(given.get("source").unwrap_or("/usr/bin"));
    let target = host.path(given.get("target").unwrap_or("/opt/aws/bin"));
    if source == target {
        host.error(format!("source and target are both {}", source.display()));
        return 1;
    }
    if let Err(problem) = files::folder(&target, 0o755) {
        host.error(problem.to_string());
        return 1;
    }
    for name in files::names(&source).iter().filter(|name| name.starts_with("cfn-")) {
        let (from, to) = (source.join(name), target.join(name));
        let is_there = to.symlink_metadata().is_ok();
        if is_there && !given.has("force") {
            host.warn(format!("{} is there already", to.display()));
            continue;
        }
        host.print(&format!("{} -> {}", from.display(), to.display()));
        let made = if is_there { files::remove(&to) } else { Ok(()) };
        let made = made.map_err(|it| it.to_string());
        if let Err(why) = made.and_then(|()| symlink(&from, &to).map_err(|it| it.to_string())) {
            host.error(why);
            return 1;
        }
    }
    0
}
