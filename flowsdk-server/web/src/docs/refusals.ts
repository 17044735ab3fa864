import { Validator, type OutputUnit, type Schema } from '@cfworker/json-schema';

/** Errors that only say that there is one inside. */
const OUTER = new Set(['$ref', 'properties', 'oneOf', 'false']);
const TYPES: Readonly<Record<string, string>> = {
  object: 'an object',
  string: 'a text',
  integer: 'a whole number',
};

/** Returns a function that names what a channel does not take of some looks, in words, by the description of the API. */
export function refusalsBy(components: Schema): (looks: unknown) => string[] {
  const schema: Schema = { $ref: '#/components/schemas/Appearance', components };
  const validator = new Validator(schema, '2020-12', false);
  return (looks) => {
    const { errors } = validator.validate(looks);
    const choices = new Set(errors.filter(({ keyword }) => keyword === 'enum').map((unit) => unit.instanceLocation));
    const inner = errors.filter(({ keyword, error, instanceLocation }) => {
      // Of an alternative, the error inside is told, and not that null would do; of a choice, what there is to choose.
      if (keyword === 'type') return !error.endsWith('Expected "null".') && !choices.has(instanceLocation);
      return !OUTER.has(keyword);
    });
    return inner.map((unit) => inWords(unit, placeOf(schema, unit.keywordLocation), (key) => homeOf(schema, schema, key)));
  };
}

/** Returns where in the looks a key belongs: `''` for the looks themselves, undefined for one that belongs nowhere. */
function homeOf(schema: Schema, part: Schema, key: string, at = ''): string | undefined {
  const whole = resolved(schema, part);
  const properties = whole.properties ?? {};
  if (Object.hasOwn(properties, key)) return at;
  for (const [name, inner] of Object.entries(properties)) {
    const home = homeOf(schema, inner as Schema, key, at ? `${at}.${name}` : name);
    if (home !== undefined) return home;
  }
  return undefined;
}

/** Returns the part that is meant: behind a reference, or the alternative to null. */
function resolved(schema: Schema, part: Schema): Schema {
  const one = part.oneOf?.[0] ?? part;
  return one.$ref ? schema.components.schemas[one.$ref.slice('#/components/schemas/'.length)] : one;
}

/** Returns the part of the schema that holds the keyword at a location such as `#/$ref/properties/radius/maximum`. */
function placeOf(schema: Schema, location: string): Schema {
  const names = location.split('/').slice(1, -1);
  return names.reduce((part: Schema, name) => {
    if (name !== '$ref') return part[name];
    return resolved(schema, part);
  }, schema);
}

function inWords(
  { keyword, instanceLocation, error }: OutputUnit,
  place: Schema,
  home: (key: string) => string | undefined,
): string {
  const name = instanceLocation.split('/').slice(1).join('.');
  const takes = (words: string) => `${name || 'appearance'}: expected ${words}`;
  switch (keyword) {
    case 'additionalProperties': {
      const key = /^Property "(.*)" does/.exec(error)?.[1] ?? '';
      const path = name ? `${name}.${key}` : key || '""';
      const better = home(key);
      if (better !== undefined) return `${path}: ${key} belongs into ${better || 'appearance'}`;
      const known = Object.keys(place.properties ?? {}).join(', ');
      return name ? `${path} is not known; known are ${known}` : `${path} is not known; known are ${known}, which takes own keys`;
    }
    case 'enum':
      return takes(place.enum!.join(' or '));
    case 'pattern':
      return takes(`a value such as ${place.example}`);
    case 'type':
      return takes([place.type].flat().flatMap((type) => TYPES[type as string] ?? []).join(' or '));
    case 'maximum':
      return takes(`at most ${place.maximum}`);
    case 'minimum':
      return takes(`at least ${place.minimum}`);
    case 'maxLength':
      return takes(`at most ${place.maxLength} characters`);
    default:
      return takes(error);
  }
}
