//! Export of traces over OTLP, as the variables of OpenTelemetry configure it.

use crate::stdio::CommandError;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::registry::LookupSpan;

/// The variables that name the endpoint; traces are exported if one of them is set.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];

/// Sends the remaining spans when it is dropped.
pub(crate) struct TraceGuard(Option<SdkTracerProvider>);

impl Drop for TraceGuard {
    fn drop(&mut self) {
        if let Some(provider) = self.0.take()
            && let Err(error) = provider.shutdown()
        {
            tracing::warn!(%error, "some traces were not exported");
        }
    }
}

/// The layer that exports spans, if an endpoint is configured.
pub(super) fn layer<S>() -> Result<(Option<impl Layer<S>>, TraceGuard), CommandError>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if !ENDPOINTS.iter().any(is_set) {
        return Ok((None, TraceGuard(None)));
    }
    let exporter = SpanExporter::builder().with_http().build();
    let exporter =
        exporter.map_err(|error| CommandError::usage(format!("cannot export traces: {error}")))?;
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(Resource::builder().with_service_name("kiln").build())
        .build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("kiln"));
    Ok((Some(layer), TraceGuard(Some(provider))))
}
