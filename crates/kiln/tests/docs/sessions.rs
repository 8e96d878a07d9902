//! Sessions: what the `console` blocks of the pages say is typed, is typed, and is answered as written.
//!
//! The runner is that of the clients (`tests/clients/replay.py`), on one `kiln dev` for all pages. A command that cannot run
//! in a test, such as one that installs a package, stands in an `sh` block.

use super::pages::all;
use super::root;
use crate::clients::{Dev, clients, python};

#[test]
fn sessions_in_the_pages_are_as_written() {
    let Some(clients) = clients() else { return };
    let tutorial = root().join("examples/tutorial");
    let folder = |name: &str| tutorial.join(name).display().to_string();
    let (environments, templates) = (folder("environment.d"), folder("templates"));
    let options = ["--environment-dir", &environments, "--template-dir", &templates];
    let server = Dev::start_with(&options);
    for page in all() {
        if page.blocks().iter().any(|block| block.kind == "console") {
            let arguments = vec![page.path.clone(), server.clouds(), "--in-order".into()];
            python(&clients, "replay.py", arguments);
        }
    }
}
