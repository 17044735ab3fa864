//! JSON without parts that other readers see differently: a name twice, or a character that storage cannot keep.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt;

use flowsdk_core::text::Text;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Why a text is not taken.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The text is not JSON. The reader's own words may show parts of it.
    Syntax(serde_json::Error),
    /// Well-formed JSON that is refused all the same: the place, and the reason.
    Field(String, Text),
}

/// Reads one JSON value, with nothing after it.
///
/// # Errors
/// Any [`Refused`].
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, Refused> {
    parse_known(bytes, None)
}

/// The same of an object of which only these members are known. The others are looked through but not kept: each is
/// null in the result.
///
/// # Errors
/// Any [`Refused`].
pub(crate) fn parse_known(bytes: &[u8], known: Option<&HashSet<String>>) -> Result<Value, Refused> {
    let flaws = Flaws::default();
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let read = Strict { flaws: &flaws, path: &Path::Root, known, keep: true }.deserialize(&mut json);
    let read = read.and_then(|value| json.end().map(|()| value));
    read.map_err(|error| match flaws.0.into_inner() {
        Some((field, text)) => Refused::Field(field, text),
        None => Refused::Syntax(error),
    })
}

/// Most values of one text: a short text of many takes many times its length in memory.
const MOST_VALUES: usize = 200_000;

/// The first thing that was refused, and where; and how many values there were so far.
#[derive(Default)]
struct Flaws(RefCell<Option<(String, Text)>>, Cell<usize>);

impl Flaws {
    fn refuse<E: serde::de::Error>(&self, path: &Path<'_>, text: Text) -> E {
        *self.0.borrow_mut() = Some((path.to_string(), text));
        E::custom("refused")
    }
}

/// Where a value stands, as a client writes it: `permissions[0].resource`.
enum Path<'a> {
    Root,
    Name(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Name(Self::Root, name) => f.write_str(name),
            Self::Name(parent, name) => write!(f, "{parent}.{name}"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Reads a value at `path`.
#[derive(Clone, Copy)]
struct Strict<'a> {
    flaws: &'a Flaws,
    path: &'a Path<'a>,
    /// The members of this object that are kept; `None` means all.
    known: Option<&'a HashSet<String>>,
    /// Whether the value is kept.
    keep: bool,
}

impl Strict<'_> {
    fn text<E: serde::de::Error>(&self, text: &str) -> Result<String, E> {
        if text.contains('\0') {
            let why = Text::new("Não pode conter o caractere NUL", "May not contain the character NUL");
            return Err(self.flaws.refuse(self.path, why));
        }
        Ok(text.to_owned())
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let count = &self.flaws.1;
        count.set(count.get() + 1);
        if count.get() > MOST_VALUES {
            let why = Text::of(
                format!("Pode ter no máximo {MOST_VALUES} valores"),
                format!("May have at most {MOST_VALUES} values"),
            );
            return Err(self.flaws.refuse(&Path::Root, why));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        // Whole numbers beyond 64 bits come as fractions that are not quite them.
        serde_json::Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a number"))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        let text = self.text(value)?;
        Ok(if self.keep { Value::String(text) } else { Value::Null })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        for index in 0.. {
            let path = Path::Index(self.path, index);
            match items.next_element_seed(Strict { path: &path, known: None, ..self })? {
                Some(item) if self.keep => list.push(item),
                Some(_) => {}
                None => break,
            }
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            let path = Path::Name(self.path, &name);
            let is_known = self.known.is_none_or(|known| known.contains(&name));
            let inner = Strict { path: &path, known: None, keep: self.keep && is_known, ..self };
            inner.text::<A::Error>(&name)?;
            if object.contains_key(&name) {
                let why = Text::new("Campo repetido", "Repeated field");
                return Err(self.flaws.refuse(&path, why));
            }
            let value = entries.next_value_seed(inner)?;
            if self.keep {
                object.insert(name, value);
            }
        }
        Ok(Value::Object(object))
    }
}
