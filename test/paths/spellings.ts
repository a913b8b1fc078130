// Other spellings of a path, which parsers may read differently: all usual ones, and others drawn by a seed.

export interface Spelling {
  /** The name of the route that is spelled. */
  readonly of: string;
  readonly how: string;
  readonly path: string;
}

export interface Spelled {
  readonly name: string;
  readonly path: string;
}

interface Change {
  readonly how: string;
  readonly path: string;
  readonly isUsual: boolean;
}

/** Share of drawn cases with one change. The others have two. */
const SHARE_OF_SINGLES = 0.4;

const encoded = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

/** Letters that some libraries fold or normalise to ASCII. */
const LOOKALIKES: Readonly<Record<string, string>> = { i: 'ı', s: 'ſ', a: 'ａ', e: 'é', k: '\u212a', p: 'р' };

const USUAL = {
  behindSegment: [';x=1', ';', '.json', '%3B', '%20'],
  between: ['%2F', '//', '/%2F', '%252F'],
  behind: ['/', '%2F', '/;', '/.json', '%3Fx', '%253Fx', '%252Ejson', '%20', '%A0', '/x/..%20'],
};
const RARE = {
  behindSegment: [
    ...[
      ';x=1;y=2',
      ';x=%2F',
      '%3Bx=1',
      '.JSON',
      '.',
      '..',
      '%2Ejson',
      '.x.y',
      '%09',
      '%0A',
      '%00',
      '%00.json',
    ],
    ...['+', '%3F', '%3Fx', '%23', '~', '%C2%A0', '%CC%81', '%5C'],
  ],
  beforeSegment: ['%20', '%00', '%EF%BB%BF', '%5C'],
  between: [
    ...['%2f', '%255C', '%5C', '\\', '%c0%af', '%E2%88%95', '%EF%BC%8F', '%u002F', '%2F/', '%2F%2F'],
    ...[
      '/;/',
      '/;x=1/',
      '/%3B/',
      '/./',
      '/%2e/',
      '/x/../',
      '/x/%2E%2E/',
      '/x/..;/',
      '/x%2F../',
      '/x/..%2F',
      '/%20/',
    ],
  ],
  behind: [
    '/.json/',
    '/.json;x',
    '/%20.x',
    '%23x',
    '//',
    '%2f',
    '%252F',
    '/%2F',
    '/;x',
    ';/',
    '/.',
    '/%2e',
    '/%20',
    '?',
    '?/..',
    '%2F%2F',
  ],
};

/** `path` with one change: in a segment, between segments, or at its end. */
function changesOf(path: string): readonly Change[] {
  const segments = path.slice(1).split('/');
  const changes = [
    ...segments.flatMap((segment, at) =>
      changedSegments(segment).map(({ how, path: text, isUsual }) => ({
        how: `${how} in segment ${at + 1}`,
        path: `/${segments.with(at, text).join('/')}`,
        isUsual,
      })),
    ),
    ...segments.flatMap((_, at) => {
      const before = at === 0 ? '' : `/${segments.slice(0, at).join('/')}`;
      const after = segments.slice(at).join('/');
      return listed(USUAL.between, RARE.between, (between) => {
        // A path must begin with a slash.
        const text = at === 0 && !between.startsWith('/') ? `/${between}` : between;
        return { how: `${text} before segment ${at + 1}`, path: before + text + after };
      });
    }),
    ...listed(USUAL.behind, RARE.behind, (end) => ({ how: `${end} at the end`, path: path + end })),
    { how: 'upper case', path: path.toUpperCase(), isUsual: true },
    { how: 'every slash encoded', path: `/${segments.join('%2F')}`, isUsual: true },
    { how: 'the last segment empty', path: `/${segments.with(-1, '').join('/')}`, isUsual: true },
  ];
  return changes.filter((change) => change.path !== path);
}

function changedSegments(segment: string): readonly Change[] {
  const first = segment[0] ?? '';
  const rest = segment.slice(1);
  const replaced = (at: number, by: string) => segment.slice(0, at) + by + segment.slice(at + 1);
  const characters = [...segment];
  return [
    { how: 'upper case', path: segment.toUpperCase(), isUsual: true },
    { how: 'a capital', path: first.toUpperCase() + rest, isUsual: false },
    { how: 'the first character encoded', path: encoded(first) + rest, isUsual: true },
    { how: 'an encoded capital', path: encoded(first.toUpperCase()) + rest, isUsual: false },
    {
      how: 'the first character encoded twice',
      path: `%25${encoded(first).slice(1)}${rest}`,
      isUsual: false,
    },
    ...characters.flatMap((character, at) =>
      /\w/.test(character)
        ? []
        : [{ how: `an encoded ${character}`, path: replaced(at, encoded(character)), isUsual: true }],
    ),
    ...characters.flatMap((character, at) => {
      const lookalike = LOOKALIKES[character];
      return lookalike === undefined
        ? []
        : [{ how: `a lookalike of ${character}`, path: replaced(at, encoded(lookalike)), isUsual: false }];
    }),
    ...listed(USUAL.behindSegment, RARE.behindSegment, (end) => ({ how: `${end}`, path: segment + end })),
    ...listed([], RARE.beforeSegment, (start) => ({ how: `leading ${start}`, path: start + segment })),
  ];
}

function listed(
  usual: readonly string[],
  rare: readonly string[],
  change: (text: string) => Pick<Change, 'how' | 'path'>,
): readonly Change[] {
  return [
    ...usual.map((text) => ({ ...change(text), isUsual: true })),
    ...rare.map((text) => ({ ...change(text), isUsual: false })),
  ];
}

/** Plain paths, their usual spellings, and drawn ones up to at least `count`. */
export function spellingsOf(routes: readonly Spelled[], count: number, seed: number): readonly Spelling[] {
  const random = numbers(seed);
  const oneOf = <Item>(from: readonly Item[]): Item => from[Math.floor(random() * from.length)] as Item;
  const spellings = new Map<string, Spelling>();
  const add = (of: string, how: string, path: string) => void spellings.set(path, { of, how, path });
  for (const { name, path } of routes) {
    add(name, 'plain', path);
    for (const change of changesOf(path)) if (change.isUsual) add(name, change.how, change.path);
  }
  while (spellings.size < count) {
    const { name, path } = oneOf(routes);
    const once = oneOf(changesOf(path));
    // Text after a question mark is not part of the path.
    const twice = oneOf(changesOf(once.path.split('?', 1)[0] ?? ''));
    if (random() < SHARE_OF_SINGLES) add(name, once.how, once.path);
    else add(name, `${once.how}, ${twice.how}`, twice.path);
  }
  return [...spellings.values()];
}

/** Numbers from 0 to 1, the same for the same seed on every machine (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
