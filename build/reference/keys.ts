// The pages of keys in policy files and in the gateway file, from the grammars that check them.
import { schemaOf } from '../../gateway/plan/grammar/editor-schemas.ts';
import { gatewayGrammar } from '../../gateway/plan/grammar/gateway-grammar.ts';
import { policyGrammar } from '../../gateway/sections/policy-file.ts';
import { code, type Page, pageOf, tableOf } from './markdown.ts';

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  /** The first version with the key, if it is later than that of the page. */
  readonly since?: string;
}

interface Key {
  /** Such as `limits.rate`. `<name>` stands for a name that the operator chooses. */
  readonly path: string;
  readonly schemas: readonly Schema[];
  /** Where it is allowed. */
  readonly places: readonly string[];
}

/** Placeholders for names that the operator chooses, by the key above. */
const NAMES: Readonly<Record<string, string>> = {
  upstreams: '<upstream>',
  versions: '<version>',
  operations: '<operation>',
  identity: '<identity>',
  contacts: '<consumer>',
  scopes: '<method>',
};

const PLACES = [
  { place: 'version', prefix: 'versions.<version>.' },
  { place: 'operation', prefix: 'versions.<version>.operations.<operation>.' },
];

/** Keys of a policy file that have keys below them, by their page. */
const POLICY_PAGES = [
  {
    file: 'policy-life-keys.md',
    title: 'Policy keys: life',
    about: 'the dates of a version and what follows them',
    keys: ['after', 'extended', 'exceptions', 'brownouts', 'retire_when', 'maintenance'],
  },
  {
    file: 'policy-request-keys.md',
    title: 'Policy keys: requests',
    about: 'versions in requests, callers and limits',
    keys: ['paths', 'resolve', 'access', 'cors', 'limits', 'idempotency'],
  },
  {
    file: 'policy-service-keys.md',
    title: 'Policy keys: services',
    about: 'upstreams and header fields',
    keys: ['upstreams', 'headers'],
  },
  {
    file: 'policy-check-keys.md',
    title: 'Policy keys: checks',
    about: 'rules and expected results',
    keys: ['rules', 'expect'],
  },
];

const PLACES_NOTE = [
  'The column "in" says where a key is allowed: in the file itself, in a version, or in an operation.',
  'An operation inherits from its version, a version from its file.',
];

export function keyPages(): readonly Page[] {
  const { alone, sections } = byTopKey(withPlaces(keysOf(schemaOf(policyGrammar) as Schema)), true);
  const index = Array.from(sections.keys(), (key) => {
    const page = POLICY_PAGES.find(({ keys }) => keys.includes(key));
    if (page === undefined) throw new Error(`no page has the policy key ${key}`);
    return [code(key), `[${page.title}](${page.file}#${key})`];
  });
  const gatewayKeys = byTopKey(keysOf(schemaOf(gatewayGrammar) as Schema), false);
  return [
    pageOf(
      'policy-keys.md',
      'Policy keys',
      [
        'Find each key of a policy file: its type, its default, an example.',
        '',
        'A policy file describes one API. The gateway reads it again when it changes.',
        'Keys that begin with `x-` are yours. The gateway ignores them.',
        '',
        ...PLACES_NOTE,
      ],
      [`## Keys with keys below them\n\n${tableOf(['key', 'page'], index)}`, alone],
    ),
    ...POLICY_PAGES.map(({ file, title, about, keys }) =>
      pageOf(
        file,
        title,
        [
          `Find each key of a policy file for ${about}. [Policy keys](policy-keys.md) lists all keys.`,
          '',
          ...PLACES_NOTE,
        ],
        keys.map((key) => sections.get(key) ?? ''),
      ),
    ),
    pageOf(
      'gateway-keys.md',
      'Gateway keys',
      [
        'Find each key of the gateway file: its type, its default, an example.',
        '',
        'The gateway file says how the process runs. The gateway reads it at the start.',
        'A change needs a restart. Keys that begin with `x-` are yours. The gateway ignores them.',
      ],
      [gatewayKeys.alone, ...gatewayKeys.sections.values()],
    ),
  ];
}

function keysOf(root: Schema): readonly Key[] {
  const keys = new Map<string, Schema[]>();
  const walk = (schema: Schema, path: string, above: string) => {
    for (const form of formsOf(schema)) {
      for (const [key, below] of Object.entries(form.properties ?? {})) {
        const at = path === '' ? key : `${path}.${key}`;
        keys.set(at, [...(keys.get(at) ?? []), below]);
        walk(below, at, key);
      }
      if (typeof form.additionalProperties === 'object') {
        const at = `${path}.${NAMES[above] ?? '<name>'}`;
        walk(form.additionalProperties, at, '');
      }
      if (form.items !== undefined) walk(form.items, path, above);
    }
  };
  walk(root, '', '');
  return [...keys].map(([path, schemas]) => ({ path, schemas, places: [] }));
}

/** Merges keys that are allowed in a file, a version and an operation. */
function withPlaces(keys: readonly Key[]): readonly Key[] {
  const merged = new Map<string, Key>();
  for (const { path, schemas } of keys) {
    const { place, prefix } = PLACES.findLast((each) => path.startsWith(each.prefix)) ?? {
      place: 'file',
      prefix: '',
    };
    const own = path.slice(prefix.length);
    const before = merged.get(own);
    merged.set(own, {
      path: own,
      schemas: [...(before?.schemas ?? []), ...schemas],
      places: [...new Set([...(before?.places ?? []), place])],
    });
  }
  return [...merged.values()];
}

/** `alone`: the keys without keys below them. `sections`: all other keys, by their first part. */
function byTopKey(
  keys: readonly Key[],
  showPlaces: boolean,
): { readonly alone: string; readonly sections: ReadonlyMap<string, string> } {
  const columns = ['key', 'meaning', 'type', 'default', 'example', ...(showPlaces ? ['in'] : [])];
  const groups = Object.groupBy(keys, ({ path }) => path.split('.')[0] ?? '');
  const table = (group: readonly Key[]) =>
    tableOf(
      columns,
      group.map((key) => rowOf(key, showPlaces)),
    );
  const alone = keys.filter(({ path }) => groups[path.split('.')[0] ?? '']?.length === 1);
  const sections = Object.entries(groups).flatMap(([top, group = []]) =>
    group.length === 1 ? [] : [[top, `## ${top}\n\n${table(group)}`] as const],
  );
  return { alone: `## Single keys\n\n${table(alone)}`, sections: new Map(sections) };
}

function rowOf({ path, schemas, places }: Key, showPlaces: boolean): string[] {
  const forms = schemas.flatMap(formsOf);
  const described =
    [...schemas, ...forms].find(({ description }) => description !== undefined)?.description ?? '';
  const example = forms.flatMap(({ examples = [], items }) => [...examples, ...(items?.examples ?? [])])[0];
  const { meaning, usual } = splitDefault(described);
  const since = schemas.find((schema) => schema.since !== undefined)?.since;
  return [
    code(path),
    since === undefined ? meaning : `${meaning} Since ${since}.`,
    typeOf(schemas),
    usual,
    code(example === undefined ? '' : written(example)),
    ...(showPlaces ? [places.join(', ')] : []),
  ];
}

/** As in a YAML file. */
function written(example: unknown): string {
  if (typeof example !== 'object' || example === null) return String(example);
  return `{ ${Object.entries(example)
    .map(([key, value]) => `${key}: ${value}`)
    .join(', ')} }`;
}

/** A description ends with `default <value>` if there is a default. */
function splitDefault(description: string): { readonly meaning: string; readonly usual: string } {
  const found = /[;.,] ?[Dd]efault:? (?<usual>[^;.]*(?:\.[a-z\d/-][^;.]*)*)(?=[;.]|$)/.exec(description);
  if (found?.groups?.usual === undefined) return { meaning: description, usual: '' };
  const rest = description.slice(found.index + found[0].length).replace(/^[;.]/, '');
  const meaning = `${description.slice(0, found.index)}.${rest}`;
  return { meaning: meaning.replace(/:\.$/, '.'), usual: found.groups.usual };
}

function formsOf(schema: Schema): readonly Schema[] {
  const others = schema.anyOf ?? schema.oneOf;
  return others === undefined ? [schema] : [{ ...schema, anyOf: [], oneOf: [] }, ...others.flatMap(formsOf)];
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true, false',
  integer: 'number',
  number: 'number',
};

function typeOf(schemas: readonly Schema[]): string {
  return [...new Set(schemas.flatMap((schema) => formsOf(schema).flatMap(typesOf)))].join(' or ');
}

function typesOf({
  type,
  enum: choices,
  const: constant,
  items,
  properties,
  additionalProperties,
}: Schema): string[] {
  if (choices !== undefined) return [choices.map((each) => code(String(each))).join(', ')];
  if (constant !== undefined) return [code(String(constant))];
  if (type === 'array') return [`list of ${typeOf(items === undefined ? [] : [items])}`];
  if (properties !== undefined) return ['keys below'];
  if (typeof additionalProperties === 'object') return [`${typeOf([additionalProperties])}, by name`];
  return type === undefined ? [] : [TYPES[type] ?? type];
}
