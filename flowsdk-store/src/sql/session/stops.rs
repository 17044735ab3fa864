//! The stops of a session as they are stored: `[["<flow>", "<block>", "<block>"], ...]`, one list for each stay in a
//! flow.
//!
//! The row is rewritten at every turn. SQLite gives a row that is longer than a quarter of a page pages of its own, and
//! twenty times the name of the flow would be such a row.

use std::fmt;

use flowsdk_core::id::{BlockId, FlowId};
use flowsdk_core::session::Stop;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes stops in their stored form.
pub(in crate::sql) fn write<S: Serializer>(stops: &&[Stop], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(stops.chunk_by(|one, next| one.flow_id == next.flow_id).map(Stay))
}

/// Stops in one flow.
struct Stay<'a>(&'a [Stop]);

impl Serialize for Stay<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let flow = self.0.iter().take(1).map(|stop| stop.flow_id.as_str());
        serializer.collect_seq(flow.chain(self.0.iter().map(|stop| stop.block_id.as_str())))
    }
}

/// Reads stops, also those that were written one by one, as objects.
pub(in crate::sql) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Stop>, D::Error> {
    deserializer.deserialize_seq(All)
}

struct All;

impl<'de> Visitor<'de> for All {
    type Value = Vec<Stop>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of stays")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<Stop>, A::Error> {
        let mut all = Vec::new();
        while seq.next_element_seed(Into(&mut all))?.is_some() {}
        Ok(all)
    }
}

/// Reads a stay, or one stop, to the end of a list.
struct Into<'a>(&'a mut Vec<Stop>);

impl<'de> serde::de::DeserializeSeed<'de> for Into<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Into<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a flow and its blocks, or a stop")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let flow_id: FlowId =
            seq.next_element()?.ok_or_else(|| A::Error::custom("a stay without its flow"))?;
        while let Some(block_id) = seq.next_element::<BlockId>()? {
            self.0.push(Stop { flow_id: flow_id.clone(), block_id });
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.push(Stop::deserialize(MapAccessDeserializer::new(map))?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stop(flow: &str, block: &str) -> Stop {
        Stop { flow_id: flow.parse().expect("an id"), block_id: block.parse().expect("an id") }
    }

    #[test]
    fn stays_are_written_and_read_and_single_stops_are_read_too() {
        let stops = [stop("f", "a"), stop("f", "b"), stop("g", "a"), stop("f", "a")];
        let written = write(&&stops[..], serde_json::value::Serializer).expect("JSON");
        assert_eq!(written, json!([["f", "a", "b"], ["g", "a"], ["f", "a"]]));
        assert_eq!(read(written).expect("stops"), stops);
        let one_by_one = serde_json::to_value(&stops[..2]).expect("JSON");
        assert_eq!(one_by_one[0], json!({ "f": "f", "b": "a" }));
        assert_eq!(read(one_by_one).expect("stops"), stops[..2]);
        assert_eq!(read(json!([])).expect("stops"), []);
        for wrong in [json!([[]]), json!([7]), json!({}), json!([["f", 1]])] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
