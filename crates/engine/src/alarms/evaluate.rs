//! The evaluation of a rule: a pure function of the rule, its samples and the time.

use super::metric::{BUCKET, Bucket, Statistic, Totals};
use super::rule::{AlarmState, EvaluationMode, Missing, Rule};
use crate::time::Time;
use kiln_template::{Value, print};

/// The result of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The new state.
    pub state: AlarmState,
    /// The reason, as text.
    pub reason: String,
}

/// How many more periods are read, so that a late sample does not change the result.
const EXTRA_PERIODS: u32 = 2;

/// The time from which samples count for an evaluation now.
pub(crate) fn samples_needed_from(rule: &Rule, now: Time) -> Time {
    let periods = match rule.mode {
        EvaluationMode::LastPeriod => 1,
        EvaluationMode::Periods { periods, .. } => periods + EXTRA_PERIODS,
    };
    now - rule.period * periods - BUCKET
}

/// Evaluates a rule. The former state counts if the samples do not decide.
///
/// A period ends now or at the beginning of the next one. A bucket counts for the period in which it ends, the last
/// bucket, which has not ended, for the latest period: so each bucket counts for exactly one period.
pub(crate) fn evaluate(rule: &Rule, before: AlarmState, buckets: &[Bucket], now: Time) -> Verdict {
    match rule.mode {
        EvaluationMode::LastPeriod => evaluate_last_period(rule, buckets, now),
        EvaluationMode::Periods { periods, needed, missing } => {
            evaluate_periods(rule, before, (periods, needed, missing), buckets, now)
        }
    }
}

/// The samples of a period; 0 is the latest.
fn window(rule: &Rule, buckets: &[Bucket], now: Time, number: u32) -> Option<Totals> {
    let last = now - rule.period * number;
    let first = last - rule.period;
    let counts =
        |it: &&Bucket| it.end() > first && (number == 0 || it.end() <= last) && it.start <= last;
    Totals::merge_all(buckets.iter().filter(counts).map(|it| it.totals))
}

fn evaluate_last_period(rule: &Rule, buckets: &[Bucket], now: Time) -> Verdict {
    let value = window(rule, buckets, now, 0).map(|totals| totals.statistic(rule.statistic));
    let value = match rule.statistic {
        Statistic::Sum | Statistic::SampleCount => Some(value.unwrap_or(0.0)),
        _ => value,
    };
    let Some(value) = value else { return no_data(rule) };
    let state = match rule.comparison.holds(value, rule.threshold) {
        true => AlarmState::Alarm,
        false => AlarmState::Normal,
    };
    Verdict { state, reason: explain(rule, state, &[value]) }
}

fn evaluate_periods(
    rule: &Rule,
    before: AlarmState,
    (periods, needed, missing): (u32, u32, Missing),
    buckets: &[Bucket],
    now: Time,
) -> Verdict {
    let seen: Vec<f64> = (0..periods.saturating_add(EXTRA_PERIODS))
        .filter_map(|number| window(rule, buckets, now, number))
        .map(|totals| totals.statistic(rule.statistic))
        .take(periods as usize)
        .collect();
    let (seen_count, needed) = (seen.len(), needed as usize);
    let absent = (periods as usize).saturating_sub(seen_count);
    let crossed = seen.iter().filter(|value| rule.comparison.holds(**value, rule.threshold));
    let crossed = crossed.count();
    // Whether the missing periods could make up for the rest.
    let is_open = crossed + absent >= needed;
    let state = match missing {
        _ if crossed >= needed => AlarmState::Alarm,
        Missing::Breaching if is_open => AlarmState::Alarm,
        Missing::Ignore if is_open => return unchanged(before),
        Missing::Missing if seen_count == 0 => return no_data(rule),
        Missing::Missing if is_open && crossed == seen_count => AlarmState::Alarm,
        _ => AlarmState::Normal,
    };
    Verdict { state, reason: explain(rule, state, &seen) }
}

fn no_data(rule: &Rule) -> Verdict {
    let seconds = rule.period.saturating_mul(rule.periods()).as_secs();
    let reason = format!("there were no samples of {} in {seconds} seconds", rule.metric);
    Verdict { state: AlarmState::NoData, reason }
}

fn unchanged(before: AlarmState) -> Verdict {
    let state = if before == AlarmState::Suspended { AlarmState::NoData } else { before };
    Verdict { state, reason: "there were too few samples to change anything".into() }
}

/// The reason for a state, with the first few values.
fn explain(rule: &Rule, state: AlarmState, values: &[f64]) -> String {
    const SHOWN: usize = 5;
    let number = |value: f64| print::plain(&Value::Float(value));
    let shown: Vec<String> = values.iter().take(SHOWN).map(|value| number(*value)).collect();
    let more = if values.len() > SHOWN { " …" } else { "" };
    let shown = match values.is_empty() {
        true => "of nothing".to_owned(),
        false => format!("{}{more}", shown.join(", ")),
    };
    let is = if state == AlarmState::Alarm { "crosses" } else { "does not cross" };
    format!(
        "{} of {}, {shown}, {is} the threshold: {} {}",
        rule.statistic.name(),
        rule.metric,
        rule.comparison.name(),
        number(rule.threshold)
    )
}

#[cfg(test)]
mod tests {
    use super::super::rule::Comparison;
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;
    use uuid::Uuid;

    const NOW: i64 = 1_000_000;

    fn rule(statistic: Statistic, mode: EvaluationMode) -> Rule {
        Rule {
            namespace: None,
            metric: "m".into(),
            dimensions: Default::default(),
            unit: None,
            statistic,
            comparison: Comparison::Above,
            threshold: 10.0,
            period: Duration::from_secs(60),
            mode,
        }
    }

    fn sample(age: i64, value: f64) -> Bucket {
        let time = Time::from_micros((NOW - age) * 1_000_000);
        Bucket::at(Uuid::nil(), time, Totals::single(value))
    }

    fn now() -> Time {
        Time::from_micros(NOW * 1_000_000)
    }

    fn state(rule: &Rule, buckets: &[Bucket]) -> AlarmState {
        evaluate(rule, AlarmState::Normal, buckets, now()).state
    }

    #[test]
    fn one_period_decides_for_rules_of_stacks() {
        use AlarmState::{Alarm, NoData, Normal};
        let samples = [sample(5, 4.0), sample(30, 14.0)];
        for (statistic, with, without) in [
            (Statistic::Average, Normal, NoData),
            (Statistic::Maximum, Alarm, NoData),
            (Statistic::Minimum, Normal, NoData),
            (Statistic::Sum, Alarm, Normal),
            (Statistic::SampleCount, Normal, Normal),
        ] {
            let rule = rule(statistic, EvaluationMode::LastPeriod);
            assert_eq!(state(&rule, &samples), with, "{statistic:?}");
            assert_eq!(state(&rule, &[]), without, "{statistic:?} of nothing");
            assert_eq!(state(&rule, &[sample(75, 99.0)]), without, "{statistic:?} of the past");
        }
        let below = Rule {
            comparison: Comparison::Below,
            threshold: 1.0,
            ..rule(Statistic::SampleCount, EvaluationMode::LastPeriod)
        };
        assert_eq!(state(&below, &[]), Alarm, "a heartbeat that stopped");
        assert_eq!(state(&below, &[sample(0, 1.0)]), Normal);
    }

    /// X crosses, 0 does not, - is missing; the latest period is last. As the documentation of CloudWatch
    /// has it, for three of three.
    #[test]
    fn missing_periods_count_as_the_rule_says() {
        use AlarmState::{Alarm, NoData, Normal};
        // The state before is NODATA, so that `ignore` can be told from the others.
        let cases = [
            ("0-X-X", [Normal, Normal, Normal, Normal]),
            ("----0", [Normal, Normal, Normal, Normal]),
            ("-----", [NoData, NoData, Alarm, Normal]),
            ("0XX-X", [Alarm, Alarm, Alarm, Alarm]),
            ("--X--", [Alarm, NoData, Alarm, Normal]),
        ];
        for (line, expected) in cases {
            let buckets: Vec<Bucket> = line
                .chars()
                .rev()
                .enumerate()
                .filter(|(_, it)| *it != '-')
                .map(|(at, it)| sample(30 + 60 * at as i64, if it == 'X' { 20.0 } else { 1.0 }))
                .collect();
            let found =
                [Missing::Missing, Missing::Ignore, Missing::Breaching, Missing::NotBreaching].map(
                    |missing| {
                        let mode = EvaluationMode::Periods { periods: 3, needed: 3, missing };
                        let rule = rule(Statistic::Average, mode);
                        evaluate(&rule, NoData, &buckets, now()).state
                    },
                );
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn some_of_several_periods_are_enough() {
        let mode =
            EvaluationMode::Periods { periods: 5, needed: 2, missing: Missing::NotBreaching };
        let rule = rule(Statistic::Maximum, mode);
        let two = [sample(30, 20.0), sample(210, 20.0)];
        assert_eq!(state(&rule, &two), AlarmState::Alarm);
        assert_eq!(state(&rule, &two[..1]), AlarmState::Normal);
    }

    proptest! {
        #[test]
        fn every_sample_counts_for_one_period(ages in prop::collection::vec(0i64..590, 0..60)) {
            let rule = rule(Statistic::Sum, EvaluationMode::LastPeriod);
            let buckets: Vec<Bucket> = ages.iter().map(|age| sample(*age, 1.0)).collect();
            let counted = (0..10).filter_map(|number| window(&rule, &buckets, now(), number));
            let counted: f64 = counted.map(|totals| totals.count).sum();
            prop_assert_eq!(counted, ages.len() as f64);
        }

        #[test]
        fn what_is_read_is_enough_for_a_verdict(
            samples in prop::collection::vec((0i64..1000, -50f64..50.0), 0..60),
            periods in 1u32..6,
            missing in 0usize..4,
        ) {
            let missing =
                [Missing::Missing, Missing::Ignore, Missing::Breaching, Missing::NotBreaching]
                    [missing];
            for mode in [EvaluationMode::LastPeriod, EvaluationMode::Periods { periods, needed: periods, missing }] {
                let rule = rule(Statistic::Average, mode);
                let all: Vec<Bucket> = samples.iter().map(|(age, it)| sample(*age, *it)).collect();
                let from = samples_needed_from(&rule, now());
                let needed: Vec<Bucket> =
                    all.iter().copied().filter(|it| it.start >= from).collect();
                let before = AlarmState::Normal;
                prop_assert_eq!(
                    evaluate(&rule, before, &all, now()),
                    evaluate(&rule, before, &needed, now())
                );
            }
        }
    }
}
