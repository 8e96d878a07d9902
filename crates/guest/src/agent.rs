//! `kiln-guest agent`: collects, applies, deploys and reports in one process, without symlinks or a shell in between.

use crate::apply;
use crate::collect::{self, Backoff, Cache, Collector, Config, FLAGS as COLLECT, Round};
use crate::deploy;
use crate::error::Result;
use crate::files;
use crate::host::Host;
use crate::json;
use crate::options::{Args, Flag};
use crate::refresh;
use serde_json::Value;
use std::sync::atomic::Ordering;

/// The agent accepts the options of os-collect-config.
pub(crate) const FLAGS: &[Flag] = COLLECT;

/// The files from the first boot, mainly the configuration of the collectors.
const DELIVERED: [&str; 2] =
    ["/var/lib/cloud/data/cfn-init-data", "/var/lib/heat-cfntools/cfn-init-data"];

/// The scripts in the phases whose work the agent does itself.
const OWN: [&str; 2] = ["20-os-apply-config", "55-heat-config"];

/// The number of rounds without a pause after which the sources of metadata are expected not to change any more.
const MAX_SWITCHES: u32 = 8;

/// Runs the tool. Returns the exit status, or `None` to restart.
pub(crate) fn main(host: &mut Host, args: &Args) -> Option<i32> {
    collect::run(host, args, serve)
}

fn serve(host: &Host, args: &Args) -> Result<Option<i32>> {
    let configured = Config::read(host, args);
    let is_once = configured.is("DEFAULT", "one_time");
    let asked_to_end = collect::sighup_flag();
    let cache = Cache::open(collect::cache_folder(host, &configured))?;
    let mut config = configured.clone();
    overlay(&mut config, &merged(host, &[]));
    let mut collector = Collector::new(host, &config);
    let mut pauses = Backoff::new(&config);
    let mut is_unfinished = true;
    let mut switches = 0;
    loop {
        let round = collector.round(host, &config, &cache)?;
        let has_changed = !round.changed.is_empty();
        let metadata = merged(host, &round.content);
        let before = config.clone();
        config = configured.clone();
        overlay(&mut config, &metadata);
        if has_changed || is_unfinished {
            is_unfinished = !act(host, &metadata, &round, &cache, has_changed)?;
        }
        if config == before {
            switches = 0;
        } else {
            // The metadata names other sources, which are queried at once.
            collector = Collector::new(host, &config);
            switches += 1;
            if switches < MAX_SWITCHES {
                continue;
            }
            host.warn("the metadata keeps naming other sources");
        }
        if is_once {
            return Ok(Some(i32::from(is_unfinished)));
        }
        if !asked_to_end.load(Ordering::Relaxed) {
            let pause = pauses.next(&config, has_changed);
            collector.wait_for_change(host, &config, pause, &asked_to_end);
        }
        if asked_to_end.load(Ordering::Relaxed) {
            return Ok(None);
        }
    }
}

fn overlay(config: &mut Config, metadata: &Value) {
    if let Some(block) = metadata.get("os-collect-config") {
        config.overlay(block);
    }
}

/// Merges the metadata of all sources; newer values take precedence.
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

/// Applies the metadata. Returns whether everything succeeded.
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
            && let Err(error) = apply::install(host, &templates, &host.path("/"), metadata, false)
        {
            host.error(error.to_string());
            is_done = false;
        }
        if is_done && refresh::base(host).is_dir() {
            is_done = refresh::phases(host, &OWN, None) == 0;
        }
    }
    // A source that is not queried, or does not answer, says nothing about other deployments.
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
