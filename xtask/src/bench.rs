//! `xtask bench`: benchmarks with a fixed amount of work, all figures of one run side by side.
//!
//! Each figure is the best of several rounds, because the machine may be busy.

use kiln_resources::constraints::offline;
use kiln_resources::registry::Registry;
use kiln_template::validate::{Checks, Context, Input, validate};
use kiln_template::{Limits, Offline, Sources, lower, read};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs every benchmark whose name contains `filter`.
pub(crate) fn run(filter: &str, out: &mut dyn Write) -> io::Result<()> {
    let rows: [(&str, Bench); 15] = [
        ("template", template),
        ("linear", linear),
        ("nested", nested),
        ("yaql", yaql),
        ("documents", documents),
        ("engine", crate::bench_engine::run),
        ("cloud", crate::bench_cloud::run),
        ("servers", crate::bench_servers::run),
        ("scale", crate::bench_scale::run),
        ("store", crate::bench_store::run),
        ("start", crate::bench_api::start),
        ("load", crate::bench_api::load),
        ("guests", crate::bench_guests::run),
        ("hostile", crate::bench_hostile::run),
        ("signals", crate::bench_signals::run),
    ];
    for (name, bench) in rows {
        if name.contains(filter) {
            bench(out)?;
        }
    }
    Ok(())
}

type Bench = fn(&mut dyn Write) -> io::Result<()>;

/// Returns the shortest time of several rounds, and the result of the last. Results are dropped between rounds,
/// outside of the measured time.
fn best<T>(rounds: usize, mut work: impl FnMut() -> T) -> (Duration, T) {
    let mut round = || {
        let start = Instant::now();
        let result = work();
        (start.elapsed(), result)
    };
    let (mut shortest, mut result) = round();
    for _ in 1..rounds {
        drop(result);
        let (time, next) = round();
        shortest = shortest.min(time);
        result = next;
    }
    (shortest, result)
}

/// Repeats the work and returns the last result.
fn repeated<T>(times: u32, mut work: impl FnMut() -> T) -> T {
    for _ in 1..times {
        work();
    }
    work()
}

pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

// --- templates ---

/// Builds a flat template: every resource refers to the previous one and to a parameter.
fn flat_template(resources: usize) -> String {
    let mut text = String::from(
        "heat_template_version: 2021-04-16\n\
         parameters:\n  prefix: {type: string, default: node}\n\
         resources:\n",
    );
    for n in 0..resources {
        let before = n.saturating_sub(1);
        _ = writeln!(text, "  r{n}:\n    type: OS::Heat::TestResource\n    properties:");
        _ = writeln!(text, "      value: {{list_join: ['-', [{{get_param: prefix}}, '{n}']]}}");
        _ = writeln!(text, "      wait_secs: {}", n % 7);
        if n % 10 != 0 {
            _ = writeln!(text, "      action_wait_secs:\n        create: {}", n % 3);
            _ = writeln!(text, "    metadata: {{from: {{get_attr: [r{before}, output]}}}}");
            _ = writeln!(text, "    depends_on: r{before}");
        }
    }
    text.push_str("outputs:\n  first: {value: {get_attr: [r0, output]}}\n");
    text
}

pub(crate) fn context<'a>(custom: &'a Offline) -> Context<'a> {
    let mut context = Context::new(Registry::builtin(), custom, Checks::CREATE);
    context.limits = Limits { max_bytes: usize::MAX, ..Limits::default() };
    context.max_resources = None;
    context
}

fn template(out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\ntemplate: a flat HOT template with references, from text to validation result"
    )?;
    writeln!(
        out,
        "{:>10} {:>8} {:>9} {:>9} {:>9} {:>13} {:>9}",
        "resources", "MB", "read ms", "lower ms", "all ms", "resources/s", "us each"
    )?;
    let custom = offline(0);
    for (resources, rounds) in [(1_000, 30), (10_000, 10), (100_000, 6)] {
        let text: Arc<str> = flat_template(resources).into();
        let limits = context(&custom).limits;
        let (reading, node) = best(rounds, || {
            let file = Sources::new().add("bench.yaml", text.clone());
            read::read(file, &text, &limits).0
        });
        // Lowering consumes its document, so each round needs its own.
        let mut copies = vec![node; 3].into_iter().flatten();
        let (lowering, _) = best(3, || copies.next().map(lower::template));
        let (all, report) = best(rounds, || {
            let mut sources = Sources::new();
            let file = sources.add("bench.yaml", text.clone());
            validate(&context(&custom), &mut sources, Input::new(file))
        });
        let graph = report.definition.as_ref().map_or(0, |definition| definition.graph().len());
        let found = (report.diagnostics.len(), graph);
        if found != (0, resources) {
            return Err(io::Error::other(format!(
                "the template of the benchmark is invalid: {found:?}"
            )));
        }
        writeln!(
            out,
            "{:>10} {:>8.2} {:>9.2} {:>9.2} {:>9.2} {:>13.0} {:>9.2}",
            resources,
            text.len() as f64 / 1e6,
            milliseconds(reading),
            milliseconds(lowering),
            milliseconds(all),
            resources as f64 / all.as_secs_f64(),
            all.as_secs_f64() * 1e6 / resources as f64,
        )?;
    }
    Ok(())
}

/// Compares ten small templates with one large template of the same total size. The rounds alternate, so that other
/// load on the machine affects both alike.
fn linear(out: &mut dyn Write) -> io::Result<()> {
    const RESOURCES: usize = 100_000;
    const ROUNDS: usize = 12;
    let custom = offline(0);
    let verdict = |text: &Arc<str>| {
        let mut sources = Sources::new();
        let file = sources.add("bench.yaml", text.clone());
        let start = Instant::now();
        let report = validate(&context(&custom), &mut sources, Input::new(file));
        (start.elapsed(), report).0
    };
    let (tenth, whole) = (flat_template(RESOURCES / 10).into(), flat_template(RESOURCES).into());
    let (mut ten, mut one) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        ten = ten.min((0..10).map(|_| verdict(&tenth)).sum());
        one = one.min(verdict(&whole));
    }
    let (ten, one) = (milliseconds(ten), milliseconds(one));
    let growth = (one / ten - 1.0) * 100.0;
    writeln!(out, "\nlinear: {RESOURCES} resources in ten templates and in one, alternating")?;
    writeln!(out, "  ten {ten:.0} ms, one {one:.0} ms: {growth:+.1} % per resource")
}

fn nested(out: &mut dyn Write) -> io::Result<()> {
    let child = "heat_template_version: 2021-04-16\nparameters:\n  size: {type: number}\nresources:\n  \
                 v: {type: OS::Heat::Value, properties: {value: {get_param: size}}}\noutputs:\n  \
                 size: {value: {get_attr: [v, value]}}\n";
    let mut root = String::from("heat_template_version: 2021-04-16\nresources:\n");
    let stacks = 1_000;
    for n in 0..stacks {
        _ = writeln!(root, "  n{n}: {{type: child.yaml, properties: {{size: {n}}}}}");
    }
    let custom = offline(0);
    let (time, found) = best(10, || {
        let mut sources = Sources::new();
        let file = sources.add("root.yaml", root.as_str());
        let mut input = Input::new(file);
        input.files = [("child.yaml".into(), child.into())]
            .into_iter()
            .collect::<std::collections::BTreeMap<_, _>>()
            .into();
        validate(&context(&custom), &mut sources, input).diagnostics.len()
    });
    writeln!(out, "\nnested: {stacks} stacks of one template, {found} findings")?;
    let each = time.as_secs_f64() * 1e6 / f64::from(stacks);
    writeln!(out, "  {:.2} ms, {each:.1} us each", milliseconds(time))
}

// --- yaql ---

fn yaql(out: &mut dyn Write) -> io::Result<()> {
    let servers = ["w1", "w2", "w3"].iter().enumerate().map(|(n, name)| {
        kiln_yaql::Value::map([
            ("name", kiln_yaql::Value::text(*name)),
            ("cpu", kiln_yaql::Value::Int((2 + (n as i64 % 2) * 2).into())),
        ])
    });
    let data = kiln_yaql::Value::map([("servers", kiln_yaql::Value::list(servers))]);
    let root = kiln_yaql::Value::map([("data", data)]);
    let options = kiln_yaql::Options::default();
    writeln!(out, "\nyaql: three servers, the expression parsed once")?;
    writeln!(out, "{:>10} {:>10}  expression", "parse us", "eval us")?;
    for text in [
        "$.data.servers.select($.name)",
        "$.data.servers.where($.cpu > 2).select($.name)",
        "$.data.servers.toDict($.name, $.cpu)",
        "$.data.servers.groupBy($.cpu, $.name)",
        "$.data.servers.select($.name + '@' + str($.cpu)).join(', ')",
        "let(m => 3) -> $.data.servers.where($.cpu > $m).name",
    ] {
        let times = 1_000;
        let (parsing, parsed) = best(5, || repeated(times, || kiln_yaql::Expression::parse(text)));
        let Ok(expression) = parsed else {
            return Err(io::Error::other(format!("{text} is not understood")));
        };
        let (evaluating, result) =
            best(5, || repeated(times, || expression.evaluate(root.clone(), &options)));
        if let Err(error) = result {
            return Err(io::Error::other(format!("{text}: {error}")));
        }
        let each = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(times);
        writeln!(out, "{:>10.2} {:>10.2}  {text}", each(parsing), each(evaluating))?;
    }
    Ok(())
}

// --- hostile input ---

fn documents(out: &mut dyn Write) -> io::Result<()> {
    const SIZE: usize = 512 << 10;
    let bomb = {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for n in 1..30 {
            let before = n - 1;
            let aliases = vec![format!("*a{before}"); 10].join(", ");
            _ = writeln!(text, "a{n}: &a{n} [{aliases}]");
        }
        text
    };
    let repeated = |piece: &str| piece.repeat(SIZE / piece.len());
    let documents = [
        ("alias bomb", bomb),
        ("open brackets", repeated("[")),
        ("open braces", repeated("{")),
        ("dashes", repeated("- ")),
        ("question marks", repeated("? ")),
        ("anchors", repeated("&a ")),
        ("tags", repeated("!a ")),
        ("one long line", repeated("a")),
        ("one long key", repeated("a ") + ": 1"),
        ("many keys", repeated("a:\n")),
        ("flow keys", format!("[{}", repeated("a, "))),
        ("quotes", repeated("'")),
        ("deep JSON", repeated("{\"a\":")),
        ("spaces", repeated(" ")),
        ("line breaks", repeated("\n")),
        ("block scalars", repeated("a: |\n x\n")),
    ];
    writeln!(out, "\ndocuments: 512 KiB of adversarial input, parsed or rejected")?;
    for (name, text) in documents {
        let limits = Limits::default();
        let (time, (read, findings)) = best(3, || {
            let file = Sources::new().add("hostile.yaml", text.as_str());
            let (node, found) = read::read(file, &text, &limits);
            (node.is_some(), found.len())
        });
        let verdict = if read { "read" } else { "refused" };
        writeln!(
            out,
            "{:>10.2} ms  {verdict:<8} {findings:>6} findings  {name}",
            milliseconds(time)
        )?;
    }
    Ok(())
}
