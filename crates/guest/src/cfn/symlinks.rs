//! cfn-create-aws-symlinks: links to the tools at the paths that templates for AWS use.

use crate::files;
use crate::host::Host;
use crate::options::{Args, Flag, switch, value};
use std::os::unix::fs::symlink;

pub(crate) const FLAGS: &[Flag] = &[
    value("source", Some('s'), "The directory of the tools."),
    value("target", Some('t'), "The directory of the links."),
    switch("force", Some('f'), "Replace existing files."),
];

pub(crate) fn main(host: &Host, args: &Args) -> i32 {
    let source = host.path(args.get("source").unwrap_or("/usr/bin"));
    let target = host.path(args.get("target").unwrap_or("/opt/aws/bin"));
    if source == target {
        host.error(format!("source and target are both {}", source.display()));
        return 1;
    }
    if let Err(error) = files::folder(&target, 0o755) {
        host.error(error.to_string());
        return 1;
    }
    for name in files::names(&source).iter().filter(|name| name.starts_with("cfn-")) {
        let (from, to) = (source.join(name), target.join(name));
        let is_there = to.symlink_metadata().is_ok();
        if is_there && !args.has("force") {
            host.warn(format!("{} already exists", to.display()));
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
