//! `kiln-guest agent`: collecting, applying, deploying and telling in one process, without links or a shell between.

use crate::apply;
use crate::collect::{self, Cache, Collector, FLAGS as COLLECT, Pauses, Round, Settings};
use crate::deploy;
use crate::files;
use crate::host::Host;
use crate::json;
use crate::options::{Flag, Given};
use crate::problem::Result;
use crate::refresh;
use serde_json::Value;
use std::sync::atomic::Ordering;

/// It takes what os-collect-config takes.
pub(crate) const FLAGS: &[Flag] = COLLECT;

/// What was delivered at the first boot: how to collect, above all.
const DELIVERED: [&str; 2] =
    ["/var/lib/cloud/data/cfn-init-data", "/var/lib/heat-cfntools/cfn-init-data"];

/// Parts of the phases whose work the agent does itself.
const OWN: [&str; 2] = ["20-os-apply-config", "55-heat-config"];

/// The tool. Gives an exit status, or nothing if it is to begin anew.
pub(crate) fn main(host: &mut Host, given: &Given) -> Option<i32> {
    collect::run(host, given, serve)
}

fn serve(host: &Host, given: &Given) -> Result<Option<i32>> {
    let told = Settings::read(host, given);
    let is_once = told.is("DEFAULT", "one_time");
    let asked_to_end = collect::hung_up();
    let cache = Cache::open(collect::cache_folder(host, &told))?;
    let mut settings = told.clone();
    overlay(&mut settings, &merged(host, &[]));
    let mut collector = Collector::new(host, &settings);
    let mut pauses = Pauses::new(&settings);
    let mut is_unfinished = true;
    loop {
        let round = collector.round(host, &settings, &cache)?;
        let has_changed = !round.changed.is_empty();
        let metadata = merged(host, &round.content);
        let before = settings.clone();
        settings = told.clone();
        overlay(&mut settings, &metadata);
        if has_changed || is_unfinished {
            is_unfinished = !act(host, &metadata, &round, &cache, has_changed)?;
        }
        if settings != before {
            // There is somebody else to ask.
            collector = Collector::new(host, &settings);
            continue;
        }
        if is_once {
            return Ok(Some(i32::from(is_unfinished)));
        }
        if !asked_to_end.load(Ordering::Relaxed) {
            let pause = pauses.next(&settings, has_changed);
            collector.rest(host, &settings, pause, &asked_to_end);
        }
        if asked_to_end.load(Ordering::Relaxed) {
            return Ok(None);
        }
    }
}

fn overlay(settings: &mut Settings, metadata: &Value) {
    if let Some(block) = metadata.get("os-collect-config") {
        settings.overlay(block);
    }
}

/// Everything that is known of the machine, what is newer over what is older.
fn merged(host: &Host, content: &[(String, Value)]) -> Value {
    let delivered = DELIVERED
        .iter()
        .filter_map(|path| serde_json::from_str::<Value>(&files::text(&host.path(path))?).ok());
    let mut all = Value::Object(Default::default());
    for value in delivered.chain(content.iter().map(|(_, value)| value.clone())) {
        if value.is_object() {
            json::merge(&mut all, &value);
        }
    }
    all
}

/// Does what metadata asks for. Gives whether all of it is done.
fn act(
    host: &Host,
    metadata: &Value,
    round: &Round,
    cache: &Cache,
    has_changed: bool,
) -> Result<bool> {
    let mut is_done = true;
    if has_changed {
        let templates = apply::folder(host);
        if templates.is_dir()
            && let Err(problem) = apply::install(host, &templates, &host.path("/"), metadata, false)
        {
            host.error(problem.to_string());
            is_done = false;
        }
        if is_done && refresh::base(host).is_dir() {
            is_done = refresh::phases(host, &OWN, None) == 0;
        }
    }
    // Whoever is not asked, or does not answer, does not say that there are none.
    let tells_all = |(key, value): &(String, Value)| {
        collect::EXPLODED.contains(&key.as_str()) && value["deployments"].is_array()
    };
    let are_all = has_changed && round.content.iter().any(tells_all);
    let unsent = deploy::run(host, &metadata["deployments"], are_all)?;
    if is_done {
        round.changed.iter().try_for_each(|key| cache.commit(key))?;
    }
    Ok(is_done && unsent == 0)
}
