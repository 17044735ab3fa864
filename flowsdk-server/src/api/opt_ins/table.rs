//! Tables of text: CSV as a spreadsheet saves it.
//!
//! Cells are texts and nothing else: one that begins with `=`, `+`, `-` or `@` is not a formula here.

use std::borrow::Cow;

use flowsdk_core::admin::contact::SentRow;
use flowsdk_core::text::Text;

/// The characters of the bytes 0x80 to 0x9f in Windows-1252; `\u{fffd}` where there is none.
const WINDOWS: [char; 32] = [
    '€', '\u{fffd}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{fffd}', 'Ž', '\u{fffd}',
    '\u{fffd}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{fffd}', 'ž', 'Ÿ',
];

/// Reads a table with a head.
///
/// # Errors
/// The problem of the table as a whole.
pub(super) fn read(bytes: &[u8], charset: Option<&str>, max_rows: usize) -> Result<Vec<SentRow>, Text> {
    let text = text(bytes, charset)?;
    let separator = separator(&text);
    check_quotes(&text, separator)?;
    let mut table = csv::ReaderBuilder::new()
        .delimiter(separator)
        .flexible(true)
        .trim(csv::Trim::Headers)
        .from_reader(text.as_bytes());
    let head = table.headers().map_err(|_| unreadable())?;
    let columns: Vec<Option<Column>> = head.iter().map(Column::named).collect();
    if !columns.iter().flatten().any(|column| matches!(column, Column::ContactId | Column::PhoneNumber)) {
        return Err(Text::new(
            "O cabeçalho deve ter a coluna phoneNumber ou contactId",
            "The head must have a column phoneNumber or contactId",
        ));
    }
    if !columns.contains(&Some(Column::Status)) {
        return Err(Text::new(
            "O cabeçalho deve ter a coluna status, com accepted ou revoked",
            "The head must have a column status, with accepted or revoked",
        ));
    }
    for (at, column) in columns.iter().enumerate() {
        if column.is_some() && columns[..at].contains(column) {
            let name = head.get(at).unwrap_or_default();
            return Err(Text::of(
                format!("A coluna {name} está repetida no cabeçalho"),
                format!("The column {name} stands in the head more than once"),
            ));
        }
    }
    let mut rows = Vec::new();
    let mut lines = Lines::of(&text);
    let mut record = csv::StringRecord::new();
    while table.read_record(&mut record).map_err(|_| unreadable())? {
        if rows.len() == max_rows {
            return Err(Text::of(
                format!("Pode ter no máximo {max_rows} linhas"),
                format!("May have at most {max_rows} rows"),
            ));
        }
        let mut row = SentRow {
            line: record.position().and_then(|position| lines.at(position.byte())),
            has_more_cells: record.len() > columns.len(),
            ..SentRow::default()
        };
        for (column, cell) in columns.iter().zip(&record) {
            if let Some(column) = column {
                column.of(&mut row).push_str(cell);
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

fn unreadable() -> Text {
    Text::new("A tabela não pode ser lida", "The table cannot be read")
}

/// Refuses a table in which a quote is not closed, or where something follows one that is: the reader of tables would
/// take all that comes after for one cell, or glue the parts together, without a word.
fn check_quotes(text: &str, separator: u8) -> Result<(), Text> {
    let wrong = |line: usize| {
        Err(Text::of(
            format!("As aspas abertas na linha {line} do arquivo não estão fechadas corretamente"),
            format!("The quote that opens in line {line} of the file is not closed as it should be"),
        ))
    };
    let (mut line, mut opened) = (1, None);
    let mut at_start = true;
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        let is_pair = byte == b'\r' && bytes.peek() == Some(&b'\n');
        line += usize::from(matches!(byte, b'\n' | b'\r') && !is_pair);
        match (opened, byte) {
            (Some(_), b'"') if bytes.next_if_eq(&b'"').is_some() => {}
            (Some(since), b'"') => {
                let ends = |next: &u8| *next == separator || matches!(next, b'\n' | b'\r');
                if bytes.peek().is_some_and(|next| !ends(next)) {
                    return wrong(since);
                }
                opened = None;
            }
            (Some(_), _) => {}
            (None, b'"') if at_start => opened = Some(line),
            (None, _) => at_start = byte == separator || matches!(byte, b'\n' | b'\r'),
        }
    }
    opened.map_or(Ok(()), wrong)
}

/// Counts the lines of a text, from its beginning to its end.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), at: 0, line: 1 }
    }

    /// The line of the first row from `byte` on: the reader's position is before the end of the row above, and before
    /// lines that are blank.
    fn at(&mut self, byte: u64) -> Option<usize> {
        let byte = usize::try_from(byte).ok()?;
        while let Some(next) = self.bytes.get(self.at) {
            let is_end = matches!(next, b'\n' | b'\r');
            if self.at >= byte && !is_end {
                break;
            }
            let is_pair = *next == b'\r' && self.bytes.get(self.at + 1) == Some(&b'\n');
            self.line += usize::from(is_end && !is_pair);
            self.at += 1;
        }
        Some(self.line)
    }
}

/// The columns that count; others are left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    ContactId,
    PhoneNumber,
    Name,
    Status,
    RecordedAt,
}

impl Column {
    /// Whatever the case, and with or without a line between words.
    fn named(head: &str) -> Option<Self> {
        let name = head.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
        Some(match name.collect::<String>().as_str() {
            "contactid" => Self::ContactId,
            "phonenumber" | "phone" => Self::PhoneNumber,
            "name" => Self::Name,
            "status" => Self::Status,
            "recordedat" => Self::RecordedAt,
            _ => return None,
        })
    }

    fn of(self, row: &mut SentRow) -> &mut String {
        match self {
            Self::ContactId => &mut row.contact_id,
            Self::PhoneNumber => &mut row.phone_number,
            Self::Name => &mut row.name,
            Self::Status => &mut row.status,
            Self::RecordedAt => &mut row.recorded_at,
        }
    }
}

/// The text of a table. A byte order mark counts before the charset of the sender; without either it must be UTF-8, because a
/// wrong guess would spoil names without a word.
fn text<'a>(bytes: &'a [u8], charset: Option<&str>) -> Result<Cow<'a, str>, Text> {
    let text = match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => utf8(rest)?,
        [0xff, 0xfe, rest @ ..] => Cow::Owned(utf16(rest, u16::from_le_bytes)?),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(utf16(rest, u16::from_be_bytes)?),
        _ => match charset {
            None | Some("utf-8" | "utf8" | "us-ascii") => utf8(bytes)?,
            Some("iso-8859-1" | "latin1" | "windows-1252" | "cp1252") => {
                Cow::Owned(bytes.iter().map(|&byte| windows(byte)).collect())
            }
            Some("utf-16" | "utf-16le") => Cow::Owned(utf16(bytes, u16::from_le_bytes)?),
            Some("utf-16be") => Cow::Owned(utf16(bytes, u16::from_be_bytes)?),
            Some(_) => return Err(Text::new("Codificação desconhecida em charset", "Unknown charset")),
        },
    };
    if text.contains('\0') {
        return Err(Text::new("Não pode conter o caractere NUL", "May not contain the character NUL"));
    }
    Ok(text)
}

fn utf8(bytes: &[u8]) -> Result<Cow<'_, str>, Text> {
    std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| {
        Text::new(
            "Não é UTF-8; salve a tabela em UTF-8 ou informe charset=windows-1252",
            "Not UTF-8; save the table as UTF-8 or send charset=windows-1252",
        )
    })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, Text> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let text = String::from_utf16(&pairs.iter().map(|&pair| unit(pair)).collect::<Vec<_>>());
    match text {
        Ok(text) if rest.is_empty() => Ok(text),
        _ => Err(Text::new("Não é UTF-16", "Not UTF-16")),
    }
}

fn windows(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS[usize::from(byte - 0x80)],
        other => char::from(other),
    }
}

/// Returns the most frequent separator of the head.
fn separator(text: &str) -> u8 {
    let mut quoted = false;
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    for byte in text.bytes() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            other if !quoted => {
                counts.iter_mut().filter(|(mark, _)| *mark == other).for_each(|(_, n)| *n += 1)
            }
            _ => {}
        }
    }
    // The first of those that stand equally often.
    counts.iter().rev().max_by_key(|(_, count)| count).map_or(b',', |(mark, _)| *mark)
}

#[cfg(test)]
mod tests {
    use flowsdk_core::text::Language;

    use super::*;

    fn rows(bytes: &[u8], charset: Option<&str>) -> Vec<[String; 3]> {
        let rows = read(bytes, charset, 10).expect("a table");
        rows.into_iter().map(|row| [row.phone_number, row.name, row.status]).collect()
    }

    fn expected(rows: &[[&str; 3]]) -> Vec<[String; 3]> {
        rows.iter().map(|row| row.map(str::to_owned)).collect()
    }

    #[test]
    fn separators_quotes_and_line_ends() {
        let ana = expected(&[["5511", "Souza, Ana \"Nina\"\nda Silva", "accepted"], ["5522", "", "revoked"]]);
        for mark in [",", ";", "\t"] {
            for end in ["\n", "\r\n"] {
                let lines = [
                    ["phoneNumber", "name", "status"],
                    ["5511", "\"Souza, Ana \"\"Nina\"\"\nda Silva\"", "accepted"],
                    ["5522", "", "revoked"],
                ];
                let table = lines.map(|line| line.join(mark)).join(end);
                assert_eq!(rows(table.as_bytes(), None), ana, "{table:?}");
            }
        }
        // Cells that are not there, other names, other columns, an end without a line, rows of any length.
        assert_eq!(rows(b"phone,status\n5511", None), expected(&[["5511", "", ""]]));
        let table = b"Phone_Number;x;STATUS;name\n5511;=1+1;revoked\n5522;a;b;c\n";
        assert_eq!(rows(table, None), expected(&[["5511", "", "revoked"], ["5522", "c", "b"]]));
        assert_eq!(rows(b"\"a,b,c\";phone;status\nx;5511\n", None), expected(&[["5511", "", ""]]));
    }

    #[test]
    fn rows_know_the_line_of_the_file() {
        for end in ["\n", "\r\n", "\r"] {
            let table = ["phone,name,status", "", "1,\"a", "b\",x", "2,c,x", "", "", "3,d,x", ""].join(end);
            for mark in ["", "\u{feff}"] {
                let rows = read(format!("{mark}{table}").as_bytes(), None, 10).expect("a table");
                let lines: Vec<_> = rows.into_iter().map(|row| row.line).collect();
                assert_eq!(lines, [Some(3), Some(5), Some(8)], "{table:?}");
            }
        }
    }

    #[test]
    fn encodings() {
        let joao = expected(&[["5511", "João €", ""]]);
        let text = "phone;name;status\n5511;João €;\n";
        let utf16 = |unit: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(unit).collect::<Vec<u8>>();
        let windows = b"phone;name;status\n5511;Jo\xe3o \x80;\n";
        let mark = |mark: &[u8], text: &[u8]| [mark, text].concat();
        for (bytes, charset) in [
            (text.as_bytes().to_vec(), None),
            (text.as_bytes().to_vec(), Some("utf-8")),
            (mark(b"\xef\xbb\xbf", text.as_bytes()), None),
            (mark(b"\xef\xbb\xbf", text.as_bytes()), Some("iso-8859-1")),
            (mark(b"\xff\xfe", &utf16(u16::to_le_bytes)), None),
            (mark(b"\xfe\xff", &utf16(u16::to_be_bytes)), None),
            (utf16(u16::to_be_bytes), Some("utf-16be")),
            (windows.to_vec(), Some("windows-1252")),
        ] {
            assert_eq!(rows(&bytes, charset), joao, "{charset:?}");
        }
    }

    #[test]
    fn what_is_no_table_is_refused() {
        for (bytes, charset) in [
            (&b""[..], None),
            (b"\n\n", None),
            (b"name\nAna\n", None),
            (b"phone;status\n55\x0011\n", None),
            (b"phone;name;status\n5511;Jo\xe3o\n", None),
            (b"phone;status\n5511", Some("klingon")),
            (b"\xff\xfep\0h", None),
            (b"\xff\xfe\x00\xd8", None),
            (b"\xff\xfep\0h\0o", None),
            (b"PK\x03\x04\x14\x00", None),
        ] {
            assert!(read(bytes, charset, 10).is_err(), "{bytes:?} {charset:?}");
        }
        let many = format!("phone,status\n{}", "5511\n".repeat(11));
        assert!(read(many.as_bytes(), None, 10).is_err());
    }

    #[test]
    fn a_table_that_does_not_say_the_consent_is_refused() {
        for table in ["phoneNumber\n5511\n", "phoneNumber;name;Status do aceite\n5511;Ana;revoked\n"] {
            let refused = read(table.as_bytes(), None, 10).expect_err(table);
            assert!(refused.into_language(Language::English).contains("a column status"), "{table}");
        }
    }

    #[test]
    fn rows_that_would_be_lost_are_not() {
        for (table, line) in [
            ("phone,obs,status\n5511,\"aberto\n5522,x\n5533,y\n", 2),
            ("phone,name,status\n5511,\"a\"b\n", 2),
            ("phone,name,status\n5511,\"a\nb\"\n5522,\"", 4),
            ("phone,status\n5511\n\"5522\"\"\n", 3),
            ("phone,status\r5511\r\"5522\"\"\r", 3),
        ] {
            let refused = read(table.as_bytes(), None, 10).expect_err(table);
            assert!(refused.into_language(Language::English).contains(&format!("line {line} ")), "{table}");
        }
        for repeated in ["status,phone,phoneNumber\na,1,2\n", "phone,status,name,name\n1,a,b,c\n"] {
            assert!(read(repeated.as_bytes(), None, 10).is_err(), "{repeated}");
        }
        let read = read(b"phone,name,status,x,x\n5511,Souza, Ana,accepted,b,c\n5522,Bia\n", None, 10)
            .expect("a table");
        assert_eq!(read.iter().map(|row| row.has_more_cells).collect::<Vec<_>>(), [true, false]);
        let quotes = rows(b"phone,name,status\n5511,6\" a \"b\"\n5522,\"\"\n", None);
        assert_eq!(quotes, expected(&[["5511", "6\" a \"b\"", ""], ["5522", "", ""]]));
    }
}
