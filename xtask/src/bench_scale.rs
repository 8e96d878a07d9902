//! `xtask bench scale`: the time from a signal to a scaling policy until the cloud is called, and reports of metrics
//! by guests.

use crate::bench::milliseconds;
use crate::bench_engine::Bench;
use kiln_cloud::{Call, CallError, Credential, Method, Reply, Transport, UserToken};
use kiln_engine::alarms::{Series, Totals};
use kiln_engine::{Command, MetricDatum, Requester};
use kiln_template::Value;
use serde_json::json;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;

const ROUNDS: usize = 30;

/// A cloud that creates volumes immediately and records the time of the call.
struct RecordingCloud {
    made: AtomicU64,
    asked: watch::Sender<Option<Instant>>,
}

#[async_trait::async_trait]
impl Transport for RecordingCloud {
    async fn send(&self, _by: &Credential, call: Call) -> Result<Reply, CallError> {
        self.asked.send_if_modified(|asked| {
            let is_first = asked.is_none();
            *asked = asked.or_else(|| Some(Instant::now()));
            is_first
        });
        let id = match call.request.method {
            Method::Post => format!("volume-{}", self.made.fetch_add(1, Ordering::Relaxed)),
            _ => call.request.path.checked()?.rsplit('/').next().unwrap_or_default().to_owned(),
        };
        Ok(Reply::new(200, json!({ "volume": { "id": id, "status": "available" } })))
    }
}

fn template(size: usize) -> String {
    format!(
        "heat_template_version: 2021-04-16
resources:
  group:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 1
      max_size: 5000
      desired_capacity: {size}
      resource: {{type: OS::Cinder::Volume, properties: {{size: 1}}}}
  up:
    type: OS::Heat::ScalingPolicy
    properties:
      adjustment_type: change_in_capacity
      scaling_adjustment: 1
      auto_scaling_group_id: {{get_resource: group}}
"
    )
}

pub(crate) fn run(out: &mut dyn Write) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    writeln!(out, "\nscale: from a signal until the cloud is called, on SQLite, durable")?;
    writeln!(out, "{:<32} {:>10} {:>10} {:>10}", "", "members", "median ms", "worst ms")?;
    for size in [1, 100, 1000] {
        runtime.block_on(signals(out, size))?;
    }
    runtime.block_on(reports(out))
}

/// Measures ten thousand guests that report at the same time.
async fn reports(out: &mut dyn Write) -> io::Result<()> {
    const GUESTS: usize = 10_000;
    let bench = Bench::with(Arc::new(kiln_cloud::NoCloud)).await?;
    let service = bench.service();
    let asker = Requester {
        project: "project".into(),
        user_name: "user".into(),
        is_admin: false,
        stack_user_project: None,
        user_token: UserToken::default(),
        created_by: Arc::default(),
        may_use: Arc::new(|_| true),
        has_service: Arc::new(|_| true),
    };
    for what in ["first reports", "reports"] {
        let (before, start) = (bench.commits(), Instant::now());
        let mut reports = tokio::task::JoinSet::new();
        for number in 0..GUESTS {
            let (service, asker) = (service.clone(), asker.clone());
            reports.spawn(async move { service.put_metrics(&asker, vec![datum(number)]).await });
        }
        while let Some(report) = reports.join_next().await {
            report.map_err(io::Error::other)?.map_err(|it| io::Error::other(it.to_string()))?;
        }
        writeln!(
            out,
            "{:<32} {GUESTS:>10} {:>10.1} {:>10} commits",
            format!("{what} of guests, at once"),
            milliseconds(start.elapsed()),
            bench.commits() - before
        )?;
    }
    bench.shut_down().await
}

fn datum(number: usize) -> MetricDatum {
    let series = Series {
        project: "".into(),
        namespace: "system/linux".into(),
        metric: "CPUUtilization".into(),
        unit: Some("Percent".into()),
        alarm: None,
        dimensions: [("InstanceId".into(), format!("i-{number}").into())].into(),
    };
    MetricDatum { series, totals: Totals::single(number as f64 / 100.0), time: None }
}

async fn signals(out: &mut dyn Write, size: usize) -> io::Result<()> {
    let cloud =
        Arc::new(RecordingCloud { made: AtomicU64::new(0), asked: watch::Sender::new(None) });
    let mut bench = Bench::with(cloud.clone()).await?;
    bench.timed_create(&template(size), &[]).await?;
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..ROUNDS {
        let mut asked = cloud.asked.subscribe();
        cloud.asked.send_replace(None);
        let start = Instant::now();
        let (stack, resource, details) = (bench.root, "up".into(), Value::Null);
        let signal = Command::Signal { stack, resource, details };
        bench.engine.begin(stack, signal).await.map_err(io::Error::other)?;
        let asked = *asked.wait_for(Option::is_some).await.map_err(io::Error::other)?;
        times.extend(asked.map(|asked| asked - start));
        bench.count();
        bench.wait_until_idle().await?;
    }
    times.sort();
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    writeln!(
        out,
        "{:<32} {size:>10} {:>10.1} {:>10.1}",
        "signal to first call",
        milliseconds(median),
        milliseconds(worst)
    )?;
    bench.shut_down().await
}
