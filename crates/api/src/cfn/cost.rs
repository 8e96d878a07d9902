//! What a template would cost.

use super::prices::Prices;
use super::request::request;
use crate::ask::Ask;
use crate::aws::{AwsFault, Params};
use crate::native::show::{members, wrapped};
use crate::query::percent;
use kiln_template::Value;
use kiln_template::print::{self, Keys};
use std::sync::Arc;

/// Where whoever asks without a list of prices is sent.
const GRATIS: &str = "http://en.wikipedia.org/wiki/Gratis";

pub(super) async fn estimate(ask: Ask, params: Params) -> Result<Value, AwsFault> {
    match &ask.app.options.prices {
        None => Ok(wrapped("Url", GRATIS.into())),
        Some(prices) => by_list(&ask, &params, prices).await,
    }
}

/// By a list of prices. The estimate is in the address as well: tools of AWS read nothing else.
async fn by_list(ask: &Ask, params: &Params, prices: &Prices) -> Result<Value, AwsFault> {
    let request = request(ask, params).await?;
    // A name that no stack has.
    let name = format!("estimate-{}", ask.app.new_id());
    let previewed = ask.service().preview(&ask.asker(), &name, &request).await?;
    let estimate = prices.estimate(&previewed.resources).shown();
    let text = percent::encode(&print::json(&estimate, Keys::Ordered));
    let mut answer = members([("Url", format!("data:application/json,{text}").into())]);
    answer.extend(estimate.as_map().cloned().unwrap_or_default());
    Ok(Value::Map(Arc::new(answer)))
}
