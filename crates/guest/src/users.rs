//! Users and groups from the files of the machine, because a statically linked program cannot query the name services
//! of the system.

use crate::files;
use crate::host::Host;

/// The numeric ids of a user and its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) id: u32,
    pub(crate) group: u32,
}

/// Finds a user by name or number.
pub(crate) fn user(host: &Host, name: &str) -> Option<User> {
    let passwd = files::text(&host.path("/etc/passwd")).unwrap_or_default();
    let found = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>()).find_map(|fields| {
        let [known, _, id, group, ..] = fields.as_slice() else { return None };
        let user = User { id: id.parse().ok()?, group: group.parse().ok()? };
        (*known == name || *id == name).then_some(user)
    });
    found.or_else(|| name.parse().ok().map(|id| User { id, group: id }))
}

/// Returns the home directory of a listed user.
pub(crate) fn home(host: &Host, name: &str) -> Option<String> {
    let passwd = files::text(&host.path("/etc/passwd")).unwrap_or_default();
    let mut rows = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    rows.find_map(|fields| match fields.as_slice() {
        [known, _, _, _, _, home, ..] if *known == name => Some((*home).to_owned()),
        _ => None,
    })
}

/// Finds a group by name or number.
pub(crate) fn group(host: &Host, name: &str) -> Option<u32> {
    let all = files::text(&host.path("/etc/group")).unwrap_or_default();
    let mut rows = all.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let found = rows.find_map(|fields| match fields.as_slice() {
        [known, _, id, ..] if *known == name => id.parse().ok(),
        _ => None,
    });
    found.or_else(|| name.parse().ok())
}
