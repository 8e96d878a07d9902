//! The estimated cost of a template.

use super::prices::Prices;
use super::stack_request::new_stack;
use crate::aws::{AwsFault, Params};
use crate::native::show::{members, wrapped};
use crate::query::percent;
use crate::request::Request;
use kiln_template::Value;
use kiln_template::print::{self, Keys};
use std::sync::Arc;

/// The URL of the estimate where there is no list of prices.
const GRATIS: &str = "http://en.wikipedia.org/wiki/Gratis";

pub(super) async fn estimate(request: Request, params: Params) -> Result<Value, AwsFault> {
    match &request.app.options.prices {
        None => Ok(wrapped("Url", GRATIS.into())),
        Some(prices) => by_list(&request, &params, prices).await,
    }
}

/// By a list of prices. The estimate is in the address as well: tools of AWS read nothing else.
async fn by_list(request: &Request, params: &Params, prices: &Prices) -> Result<Value, AwsFault> {
    let stack_request = new_stack(request, params).await?;
    // A name that no stack has.
    let name = format!("estimate-{}", request.app.new_id());
    let previewed = request.service().preview(&request.requester(), &name, &stack_request).await?;
    let estimate = prices.estimate(&previewed.resources).shown();
    let text = percent::encode(&print::json(&estimate, Keys::Ordered));
    let mut result = members([("Url", format!("data:application/json,{text}").into())]);
    result.extend(estimate.as_map().cloned().unwrap_or_default());
    Ok(Value::Map(Arc::new(result)))
}
