//! Streams of server-sent events, as far as model APIs use them.

/// Splits a stream into the data of its events.
#[derive(Debug, Default)]
pub(super) struct EventStream {
    /// Bytes of a line that is not over yet.
    rest: Vec<u8>,
    /// The lines of data of an event that is not over yet.
    data: Vec<u8>,
}

impl EventStream {
    /// Takes bytes as they came. Returns the data of the events that are whole now.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut events = Vec::new();
        let mut lines = bytes.split(|byte| *byte == b'\n');
        // Behind the last break stands what is no line yet.
        let last = lines.next_back().unwrap_or_default();
        for line in lines {
            self.rest.extend_from_slice(line);
            let line = std::mem::take(&mut self.rest);
            events.extend(self.end_line(line.strip_suffix(b"\r").unwrap_or(&line)));
        }
        self.rest.extend_from_slice(last);
        events
    }

    /// Takes a line. Returns the data of the event that it ends.
    fn end_line(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            return (!data.is_empty()).then_some(data);
        }
        let data = line.strip_prefix(b"data:")?;
        if !self.data.is_empty() {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
        None
    }

    /// Ends the stream. Returns the data of an event that its server did not end with an empty line, as some do.
    pub(super) fn finish(mut self) -> Option<Vec<u8>> {
        self.push(b"\n\n").pop()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &[u8] =
        b"event: a\ndata: {\"x\":1}\n\n: ping\n\ndata:two\r\ndata: lines\r\n\r\nid: 7\n\ndata: \xc3\xa9\n\ndata: cut";

    fn whole() -> Vec<Vec<u8>> {
        [&b"{\"x\":1}"[..], b"two\nlines", "é".as_bytes()].map(<[u8]>::to_vec).to_vec()
    }

    #[test]
    fn an_event_is_the_lines_of_its_data() {
        let mut stream = EventStream::default();
        assert_eq!(stream.push(STREAM), whole());
        assert_eq!(stream.finish().as_deref(), Some(&b"cut"[..]));
        assert_eq!(EventStream::default().finish(), None);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_a_stream_is_cut(mut cuts in prop::collection::vec(0..STREAM.len(), 0..6)) {
            cuts.sort_unstable();
            let (mut stream, mut events, mut at) = (EventStream::default(), Vec::new(), 0);
            for cut in cuts.into_iter().chain([STREAM.len()]) {
                events.extend(stream.push(&STREAM[at..cut]));
                at = cut;
            }
            prop_assert_eq!(events, whole());
        }
    }
}
