//! Alarms, their history, series and webhooks of version 0.

use super::Fields;
use super::fields::{members, number, text};
use crate::record::v1::{AlarmBody, AlarmEventBody, SeriesBody, WebhookBody};
use crate::record::{Record, Unreadable};
use kiln_template::Value;

impl Record for AlarmBody {
    const NAME: &'static str = "alarm";

    fn from_v0(value: Value) -> Result<AlarmBody, Unreadable> {
        Ok(AlarmBody { rule: members(value)? })
    }
}

impl Record for AlarmEventBody {
    const NAME: &'static str = "alarm event";

    fn from_v0(value: Value) -> Result<AlarmEventBody, Unreadable> {
        let mut fields = Fields::new(value)?;
        let (summary, data) = (fields.required("summary", text)?, fields.required("data", text)?);
        fields.finish()?;
        Ok(AlarmEventBody { summary, data })
    }
}

impl Record for SeriesBody {
    const NAME: &'static str = "series";

    fn from_v0(value: Value) -> Result<SeriesBody, Unreadable> {
        let mut fields = Fields::new(value)?;
        let dimensions = fields.members("dimensions")?.0;
        let dimensions = dimensions.iter().map(|(name, value)| {
            let value = text(value.clone()).map_err(|error| error.within(name))?;
            Ok((name.clone(), value))
        });
        let body = SeriesBody {
            unit: fields.optional("unit", text)?,
            alarm: fields.optional("alarm", text)?,
            dimensions: dimensions.collect::<Result<_, _>>()?,
        };
        fields.finish()?;
        Ok(body)
    }
}

impl Record for WebhookBody {
    const NAME: &'static str = "webhook";

    fn from_v0(value: Value) -> Result<WebhookBody, Unreadable> {
        let mut fields = Fields::new(value)?;
        let body = WebhookBody {
            url: fields.required("url", text)?,
            text: fields.required("text", text)?,
            written: fields.required("written", number)?,
            is_change: fields.flag("is_news")?,
            tries: fields.required("tries", number)?,
        };
        fields.finish()?;
        Ok(body)
    }
}
