//! An operator's list of prices, and what resources come to by it.

use kiln_engine::preview::Forecast;
use kiln_template::{Diagnostic, Limits, Members, Sources, Value, print, read};
use std::collections::BTreeMap;

/// Types whose objects cost what their flavor costs, and the property that names it.
const SERVERS: [(&str, &str); 3] = [
    ("AWS::EC2::Instance", "InstanceType"),
    ("OS::Nova::Server", "flavor"),
    ("OS::Trove::Instance", "flavor"),
];

/// Types whose objects cost by their size, and the properties that say how big and of which type they are.
const VOLUMES: [(&str, &str, &str); 2] =
    [("AWS::EC2::Volume", "Size", ""), ("OS::Cinder::Volume", "size", "volume_type")];

/// Types whose objects are addresses.
const ADDRESSES: [&str; 3] = ["AWS::EC2::EIP", "OS::Neutron::FloatingIP", "OS::Nova::FloatingIP"];

/// The type of volumes without one, and of those without a line of their own.
const ANY_VOLUME: &str = "default";

/// Hours of an average month.
const MONTH: i128 = 730;

/// An amount of money: thousand-millionths of a unit.
pub(super) type Money = i128;
const UNIT: Money = 1_000_000_000;

/// An operator's list of prices, each for an hour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    currency: String,
    flavors: BTreeMap<String, Money>,
    /// For a gigabyte, by the type of volume.
    volumes: BTreeMap<String, Money>,
    floating_ip: Option<Money>,
    /// By the type of resource.
    resources: BTreeMap<String, Money>,
}

impl Prices {
    /// Reads a list: a map with `currency`, `flavors`, `volumes`, `floating_ip` and `resources`.
    pub fn read(name: &str, text: &str) -> Result<Prices, String> {
        let file = Sources::new().add(name, text);
        let (node, found) = read::read(file, text, &Limits::default());
        if let Some(found) = found.iter().find(|found| Diagnostic::is_error(found)) {
            return Err(found.text());
        }
        let Some(Value::Map(list)) = node.map(|node| Value::from(&node)) else {
            return Err("a list of prices is a map".into());
        };
        let mut prices = Prices::default();
        for (name, value) in list.iter() {
            match &**name {
                "currency" => match value {
                    Value::Text(currency) => prices.currency = currency.to_string(),
                    _ => return Err("currency must be a word such as EUR".into()),
                },
                "flavors" => prices.flavors = table(name, value)?,
                "volumes" => prices.volumes = table(name, value)?,
                "resources" => prices.resources = table(name, value)?,
                "floating_ip" => prices.floating_ip = Some(money(name, value)?),
                other => {
                    return Err(format!(
                        "{other} is not known; there are currency, flavors, volumes, floating_ip and resources"
                    ));
                }
            }
        }
        if prices.currency.is_empty() { Err("there is no currency".into()) } else { Ok(prices) }
    }

    /// Estimates the cost of resources.
    pub(super) fn estimate(&self, forecasts: &[Forecast]) -> Estimate {
        let mut estimate = Estimate { currency: self.currency.clone(), ..Estimate::default() };
        self.add(forecasts, &mut estimate);
        estimate
    }

    fn add(&self, forecasts: &[Forecast], estimate: &mut Estimate) {
        for forecast in forecasts {
            let kind = &*forecast.resource.type_name;
            if let Some((item, amount, price)) = self.price(kind, &forecast.resource.properties) {
                let line = estimate.lines.entry((kind.to_owned(), item)).or_default();
                line.count += 1;
                line.amount += amount;
                line.price = price;
            }
            self.add(&forecast.inside, estimate);
        }
    }

    /// The line for a resource, how much of it there is, and its price; none if no price depends on its type.
    fn price(&self, kind: &str, properties: &Members) -> Option<(String, i128, Option<Money>)> {
        let text = |name: &str| properties.get(name).filter(|it| !it.is_null()).map(print::plain);
        if let Some((_, property)) = SERVERS.iter().find(|(server, _)| *server == kind) {
            let flavor = text(property).unwrap_or_default();
            let price = self.flavors.get(&flavor).copied();
            return Some((flavor, 1, price));
        }
        if let Some((_, size, of)) = VOLUMES.iter().find(|(volume, ..)| *volume == kind) {
            let of = text(of).unwrap_or_else(|| ANY_VOLUME.to_owned());
            let price = self.volumes.get(&of).or_else(|| self.volumes.get(ANY_VOLUME)).copied();
            let size: Option<i128> = text(size).and_then(|size| size.parse().ok());
            return Some((of, size.unwrap_or(0), price.filter(|_| size.is_some())));
        }
        let price = self.resources.get(kind).copied();
        let price = price.or(self.floating_ip.filter(|_| ADDRESSES.contains(&kind)));
        (price.is_some() || ADDRESSES.contains(&kind)).then(|| (String::new(), 1, price))
    }
}

/// The estimated cost of resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Estimate {
    currency: String,
    /// The lines by the type of resource and its variant.
    lines: BTreeMap<(String, String), Line>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Line {
    count: i128,
    /// The unit: resources, or their gigabytes.
    amount: i128,
    /// The price of a unit; none if it is not known.
    price: Option<Money>,
}

impl Estimate {
    /// The estimate as clients see it.
    pub(super) fn shown(&self) -> Value {
        let hourly: Money =
            self.lines.values().filter_map(|line| Some(line.price? * line.amount)).sum();
        let priced = self.lines.iter().filter(|(_, line)| line.price.is_some());
        let unpriced = self.lines.iter().filter(|(_, line)| line.price.is_none());
        Value::map([
            ("Currency", Value::from(self.currency.as_str())),
            ("Hourly", printed(hourly).into()),
            ("Monthly", printed(hourly * MONTH).into()),
            ("Lines", Value::list(priced.map(|(of, line)| shown(of, line)))),
            ("Unpriced", Value::list(unpriced.map(|(of, line)| shown(of, line)))),
        ])
    }
}

fn shown((kind, item): &(String, String), line: &Line) -> Value {
    let number = |number: i128| Value::from(i64::try_from(number).unwrap_or(i64::MAX));
    let mut shown =
        vec![("ResourceType", Value::from(kind.as_str())), ("Item", item.as_str().into())];
    shown.extend([("Count", number(line.count)), ("Amount", number(line.amount))]);
    if let Some(price) = line.price {
        shown.push(("Price", printed(price).into()));
        shown.push(("Hourly", printed(price * line.amount).into()));
    }
    Value::map(shown)
}

/// An amount in digits, without noughts at the end.
fn printed(money: Money) -> String {
    let (whole, part) = (money / UNIT, money % UNIT);
    let text = format!("{whole}.{part:09}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn table(name: &str, value: &Value) -> Result<BTreeMap<String, Money>, String> {
    let rows = value.as_map().ok_or_else(|| format!("{name} must be a map of prices"))?;
    let rows = rows
        .iter()
        .map(|(row, price)| Ok((row.to_string(), money(&format!("{name}.{row}"), price)?)));
    rows.collect()
}

fn money(place: &str, value: &Value) -> Result<Money, String> {
    let number = match value {
        Value::Float(number) => Some(*number),
        Value::Int(_) => print::plain(value).parse().ok(),
        _ => None,
    };
    /// The highest price for an hour.
    const MAX_PRICE: f64 = 1e9;
    match number.filter(|number| (0.0..=MAX_PRICE).contains(number)) {
        Some(number) => Ok((number * UNIT as f64).round() as Money),
        None => Err(format!("{place} must be a price: a number that is not negative")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_exact() {
        assert_eq!(printed(0), "0");
        assert_eq!(printed(UNIT / 10 * 3), "0.3");
        assert_eq!(printed(money("p", &Value::Float(0.1)).unwrap() * 3), "0.3");
        assert_eq!(printed(UNIT * 1200), "1200");
    }

    #[test]
    fn a_list_that_is_none_is_refused_with_its_place() {
        for (text, why) in [
            ("[1]", "a list of prices is a map"),
            ("flavors: {}", "there is no currency"),
            ("currency: 5", "currency must be a word such as EUR"),
            (
                "currency: EUR\nflavors: {small: -1}",
                "flavors.small must be a price: a number that is not negative",
            ),
            (
                "currency: EUR\nfloating_ip: .nan",
                "floating_ip must be a price: a number that is not negative",
            ),
            ("currency: EUR\nvolumes: 3", "volumes must be a map of prices"),
            (
                "currency: EUR\nflavours: {}",
                "flavours is not known; there are currency, flavors, volumes, floating_ip and resources",
            ),
        ] {
            assert_eq!(Prices::read("prices.yaml", text), Err(why.to_owned()), "{text}");
        }
    }
}
