//! How scaling policies resize groups: by how much, and how often.
//!
//! A group has a cooldown in its metadata, `cooldown_end: {<time>: <reason>}`, and a flag,
//! `scaling_in_progress`. Every resize respects both.

use crate::behaviour::{Resize, Signal, SignalOutcome, View};
use crate::declare::{Members, PropertyError, Value};
use crate::property_access::{count, given, number, seconds, text};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::time::Duration;

const COOLDOWN_END: &str = "cooldown_end";
const IN_PROGRESS: &str = "scaling_in_progress";

/// The adjustment that a policy makes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Adjustment {
    /// Adds this many members; a negative number removes members.
    Change(f64),
    /// Sets the number of members.
    Exact(f64),
    /// Adds this percentage of the members, but at least so many.
    Percent(f64, Option<usize>),
}

impl Adjustment {
    /// The new size, between two bounds.
    pub fn of(self, current: usize, min: usize, max: usize) -> usize {
        let size = current as f64;
        let wanted = match self {
            Adjustment::Change(change) => size + change.trunc(),
            Adjustment::Exact(exact) => exact.trunc(),
            Adjustment::Percent(percent, step) => size + percent_of(size, percent, step),
        };
        // The upper bound takes precedence if the bounds contradict each other.
        (wanted.max(min as f64).min(max as f64)) as usize
    }
}

/// Less than one member counts as one member; larger numbers are truncated.
fn percent_of(size: f64, percent: f64, step: Option<usize>) -> f64 {
    let exact = size * percent / 100.0;
    let rounded =
        if exact.abs() < 1.0 { exact.signum() * exact.abs().ceil() } else { exact.trunc() };
    match step {
        Some(step) if step as f64 > rounded.abs() => percent.signum() * step as f64,
        _ => rounded,
    }
}

/// The cooldown of a group after a resize, and the adjustment that caused it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cooldown {
    /// Its length, from the end of the resize.
    pub length: Duration,
    /// The adjustment, such as `change_in_capacity : 1`.
    pub reason: String,
}

impl Cooldown {
    /// The group's metadata after a resize that ended at this time, in microseconds since 1970.
    pub fn after_resize(&self, metadata: &Value, now: i64) -> Value {
        let micros = i64::try_from(self.length.as_micros()).unwrap_or(i64::MAX);
        let until = now.saturating_add(micros).max(end(metadata).unwrap_or(i64::MIN));
        let end = Value::map([(moment(until), Value::from(self.reason.as_str()))]);
        with(metadata, [(COOLDOWN_END, end), (IN_PROGRESS, false.into())])
    }

    /// The type of the adjustment, and its number.
    pub fn adjustment(&self) -> (&str, f64) {
        let (kind, by) = self.reason.split_once(" : ").unwrap_or((&self.reason, ""));
        (kind, by.trim().parse().unwrap_or_default())
    }

    /// The group's metadata after a failed resize.
    pub fn after_failure(metadata: &Value) -> Value {
        with(metadata, [(IN_PROGRESS, false.into())])
    }
}

/// Whether a group is being resized, or is in its cooldown.
pub fn is_cooling_down(metadata: &Value, cooldown: Duration, now: i64) -> bool {
    if is_in_progress(metadata) {
        return true;
    }
    // Older stacks recorded the beginning of the cooldown, not its end.
    let micros = i64::try_from(cooldown.as_micros()).unwrap_or(i64::MAX);
    end(metadata)
        .or_else(|| Some(begin(metadata)?.saturating_add(micros)))
        .is_some_and(|end| now < end)
}

fn is_in_progress(metadata: &Value) -> bool {
    let in_progress = metadata.as_map().and_then(|members| members.get(IN_PROGRESS));
    in_progress.is_some_and(Value::is_truthy)
}

/// The names of a policy's properties.
pub(crate) struct Words {
    pub(crate) group: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) adjustment: &'static str,
    pub(crate) step: &'static str,
    pub(crate) cooldown: &'static str,
}

/// Handles a signal to a policy; the body of the signal does not matter.
pub(crate) fn on_signal(
    words: &Words,
    view: &View<'_>,
    signal: &Signal<'_>,
) -> Result<SignalOutcome, String> {
    let wanted = text(view.properties, words.group).unwrap_or_default();
    let missing = || format!("Alarm {} could not find scaling group named \"{wanted}\"", view.name);
    let group = view.siblings.by_reference(wanted).ok_or_else(missing)?;
    let properties = view.siblings.properties(&group).ok_or_else(missing)?;
    if !view.siblings.is_complete(&group) {
        return Ok(nothing(view, "the group is being changed, or failed"));
    }
    let current = view.siblings.size(&group).ok_or_else(missing)?;
    let Some(adjustment) = adjustment(words, view.properties) else {
        return Ok(nothing(view, "the policy does not say by how much"));
    };
    let (min, max) = bounds(&properties);
    let size = adjustment.of(current, min, max);
    let metadata = view.siblings.metadata(&group).unwrap_or_default();
    let length = given(view.properties, words.cooldown).map(seconds);
    let length = length.unwrap_or_else(|| group_cooldown(&properties));
    if size == current {
        let bound = if size <= min { "least" } else { "most" };
        let why = if size == min || size == max {
            format!("the group has {size} members, the {bound} that it may have")
        } else {
            format!("the group has {size} members, as many as are wanted")
        };
        return Ok(nothing(view, &why));
    }
    if is_in_progress(&metadata) {
        return Ok(nothing(view, "the group is being scaled"));
    }
    if is_cooling_down(&metadata, length, signal.now) {
        return Ok(nothing(view, "the group was changed lately and is left alone for a while"));
    }
    let kind = text(view.properties, words.kind).unwrap_or_default();
    let by = view.properties.get(words.adjustment).unwrap_or(&Value::Null);
    let reason = format!("{kind} : {}", kiln_template::print::plain(by));
    let during = with(&metadata, [(IN_PROGRESS, true.into())]);
    let cooldown = Cooldown { length, reason };
    let data = Members::from_iter([(REFUSAL.into(), Value::Null)]);
    Ok(SignalOutcome {
        data,
        resize: Some(Resize { group, size, metadata: during, cooldown }),
        ..SignalOutcome::default()
    })
}

/// The data entry with the reason why the last signal had no effect.
const REFUSAL: &str = "refusal";

/// A signal without effect. The reason is reported once: an alarm repeats its signals as long as it lasts.
fn nothing(view: &View<'_>, why: &str) -> SignalOutcome {
    let is_known = text(view.data, REFUSAL) == Some(why);
    let told = (!is_known).then(|| format!("nothing was scaled, because {why}"));
    let data = told.iter().map(|_| (REFUSAL.into(), why.into()));
    SignalOutcome {
        is_ignored: true,
        data: data.collect(),
        reason: told,
        ..SignalOutcome::default()
    }
}

/// The cooldown of a scaling group after a create or an update.
pub(crate) fn rests(view: &View<'_>) -> Cooldown {
    let size = view.nested.map_or(0, |child| child.members().len());
    Cooldown { length: group_cooldown(view.properties), reason: format!("ExactCapacity : {size}") }
}

/// The bounds of a group's size.
pub(crate) fn bounds(group: &Members) -> (usize, usize) {
    let either = |a, b| count(group, a).or_else(|| count(group, b));
    (
        either("min_size", "MinSize").unwrap_or(0),
        either("max_size", "MaxSize").unwrap_or(usize::MAX),
    )
}

/// Refuses bounds that contradict each other, and a size outside of them.
pub(crate) fn check_bounds(group: &Members) -> Result<(), PropertyError> {
    let either = |a, b| given(group, a).or_else(|| given(group, b)).and_then(number);
    let (min, max) = (either("min_size", "MinSize"), either("max_size", "MaxSize"));
    let is_above = |a: Option<f64>, b: Option<f64>| matches!((a, b), (Some(a), Some(b)) if a > b);
    let desired = either("desired_capacity", "DesiredCapacity");
    let message = if is_above(min, max) {
        "MinSize can not be greater than MaxSize"
    } else if is_above(Some(0.0), min) {
        "The size of AutoScalingGroup can not be less than zero"
    } else if is_above(min, desired) || is_above(desired, max) {
        "DesiredCapacity must be between MinSize and MaxSize"
    } else {
        return Ok(());
    };
    Err(PropertyError::new(message))
}

fn group_cooldown(group: &Members) -> Duration {
    given(group, "cooldown").or_else(|| given(group, "Cooldown")).map(seconds).unwrap_or_default()
}

fn adjustment(words: &Words, policy: &Members) -> Option<Adjustment> {
    let by = number(policy.get(words.adjustment)?)?;
    match text(policy, words.kind)? {
        "change_in_capacity" | "ChangeInCapacity" => Some(Adjustment::Change(by)),
        "exact_capacity" | "ExactCapacity" => Some(Adjustment::Exact(by)),
        _ => Some(Adjustment::Percent(by, count(policy, words.step))),
    }
}

fn with<const N: usize>(metadata: &Value, changes: [(&'static str, Value); N]) -> Value {
    let mut members = metadata.as_map().cloned().unwrap_or_default();
    if !members.contains_key(COOLDOWN_END) && !members.contains_key(IN_PROGRESS) {
        members.clear();
    }
    for (name, value) in changes {
        members.insert(name.into(), value);
    }
    Value::map(members)
}

/// When a group may be resized again.
fn end(metadata: &Value) -> Option<i64> {
    latest(metadata.as_map()?.get(COOLDOWN_END)?)
}

/// When a group was resized, in the metadata of older stacks.
fn begin(metadata: &Value) -> Option<i64> {
    let members = metadata.as_map()?;
    if members.contains_key(COOLDOWN_END) {
        return None;
    }
    latest(members.get("cooldown").unwrap_or(metadata))
}

fn latest(moments: &Value) -> Option<i64> {
    moments.as_map()?.keys().filter_map(|key| micros(key)).max()
}

/// A time in the form of the metadata: `2026-11-16T00:57:38.597993`.
fn moment(micros: i64) -> String {
    let timestamp = Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX);
    timestamp.to_zoned(TimeZone::UTC).datetime().to_string()
}

fn micros(moment: &str) -> Option<i64> {
    let moment: DateTime = moment.trim_end_matches('Z').parse().ok()?;
    Some(moment.to_zoned(TimeZone::UTC).ok()?.timestamp().as_microsecond())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::map;

    const NOW: i64 = 1_794_790_658_597_993;

    #[test]
    fn sizes_are_computed_as_policies_say() {
        use Adjustment::{Change, Exact, Percent};
        for (adjustment, current, expected) in [
            (Change(1.0), 2, 3),
            (Change(-5.0), 2, 1),
            (Change(9.0), 2, 6),
            (Exact(4.0), 2, 4),
            (Percent(50.0, None), 4, 6),
            (Percent(10.0, None), 4, 5),
            (Percent(-10.0, None), 4, 3),
            (Percent(-10.0, Some(2)), 3, 1),
            (Percent(55.0, None), 3, 4),
            (Percent(0.0, None), 3, 3),
            (Percent(100.0, Some(1)), 2, 4),
        ] {
            assert_eq!(adjustment.of(current, 1, 6), expected, "{adjustment:?} of {current}");
        }
    }

    #[test]
    fn a_rest_is_written_as_clients_know_it_and_read_again() {
        let cooldown =
            Cooldown { length: Duration::from_secs(5), reason: "exact_capacity : 2".into() };
        let after = cooldown.after_resize(&Value::Null, NOW);
        let shown = kiln_template::print::repr(&after);
        assert_eq!(
            shown,
            "{'cooldown_end': {'2026-11-16T00:57:43.597993': 'exact_capacity : 2'}, \
             'scaling_in_progress': False}"
        );
        assert!(is_cooling_down(&after, Duration::ZERO, NOW + 4_999_999));
        assert!(!is_cooling_down(&after, Duration::ZERO, NOW + 5_000_000));
        // A shorter rest does not end a longer one.
        let again = Cooldown::default().after_resize(&after, NOW);
        assert!(is_cooling_down(&again, Duration::ZERO, NOW + 4_999_999));
    }

    #[test]
    fn the_flag_alone_keeps_others_away() {
        let metadata = map([(IN_PROGRESS, true)]);
        assert!(is_cooling_down(&metadata, Duration::ZERO, NOW));
        assert!(!is_cooling_down(&Cooldown::after_failure(&metadata), Duration::ZERO, NOW));
        assert!(!is_cooling_down(&Value::Null, Duration::from_secs(60), NOW));
    }

    #[test]
    fn older_metadata_has_the_beginning_of_the_rest() {
        let hour = Duration::from_secs(3600);
        let bare = map([("2026-11-16T00:30:00", "x : 1")]);
        let named = map([("cooldown", bare.clone())]);
        for metadata in [bare, named] {
            assert!(is_cooling_down(&metadata, hour, NOW));
            assert!(!is_cooling_down(&metadata, hour / 4, NOW));
        }
    }
}
