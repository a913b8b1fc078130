// The architecture rules as functions from source files to violations, with the permitted imports.
import { posix } from 'node:path';
import { codeOf, type Import, importsOf, type SourceFile } from './source-text.ts';

/** One sentence per violation, with the file; empty if the rule holds. */
export type Rule = (files: readonly SourceFile[]) => string[];

interface Room {
  /** Allowed imports besides the room itself: folders (with a final slash) or files; `*` is one folder. */
  readonly may: readonly string[];
  readonly types?: readonly string[];
}

const CONTRACT = ['gateway/policy/contract.ts', 'gateway/policy/notation.ts', 'gateway/policy/octets.ts'];

const ROOMS: Readonly<Record<string, Room>> = {
  'gateway/policy/contract.ts': { may: [] },
  'gateway/policy/glossary.ts': { may: [] },
  'gateway/policy/notation.ts': { may: ['gateway/policy/contract.ts'] },
  'gateway/policy/octets.ts': { may: [] },
  'gateway/policy/recent-map.ts': { may: [] },
  'gateway/policy/spans.ts': { may: ['gateway/policy/contract.ts'] },
  'gateway/policy/versioning/': { may: CONTRACT },
  'gateway/policy/lifecycle/': {
    may: CONTRACT,
    types: ['gateway/policy/versioning/resolution.ts', 'gateway/policy/versioning/label.ts'],
  },
  'gateway/policy/authentication/': { may: CONTRACT },
  'gateway/policy/rate-limit/': { may: CONTRACT },
  'gateway/policy/body-notice/': { may: CONTRACT },
  'gateway/policy/cors/': { may: CONTRACT },
  'gateway/policy/headers/': { may: CONTRACT },
  'gateway/policy/maintenance/': { may: CONTRACT },
  'gateway/policy/paths/': { may: CONTRACT },
  'gateway/policy/usage/': { may: CONTRACT },
  'gateway/policy/idempotency/': { may: CONTRACT },
  'gateway/system/': { may: [] },
  // Node has the function that reads addresses, and policy/ may not import it.
  'gateway/sections/*/grammar.ts': { may: ['gateway/policy/', 'gateway/plan/grammar/addresses.ts'] },
  'gateway/sections/policy-file.ts': {
    may: ['gateway/policy/', 'gateway/sections/*/grammar.ts'],
    types: ['gateway/plan/guides/guide-page.ts', 'gateway/plan/version-notes.ts'],
  },
  'gateway/sections/': {
    may: ['gateway/policy/', 'gateway/plan/read/', 'gateway/plan/grammar/addresses.ts'],
    types: ['gateway/plan/plan.ts', 'gateway/plan/settings.ts', 'gateway/plan/upstreams/'],
  },
  'gateway/plan/': {
    may: [
      'gateway/policy/',
      'gateway/sections/',
      'gateway/system/time-slices.ts',
      'gateway/stores/redis-address.ts',
    ],
  },
  'gateway/api/': {
    may: [
      'gateway/policy/authentication/scope.ts',
      'gateway/policy/notation.ts',
      'gateway/plan/read/shape-issues.ts',
      'gateway/plan/grammar/logs-section.ts',
    ],
    types: ['gateway/policy/contract.ts'],
  },
  'gateway/identity/': {
    may: [
      'gateway/plan/',
      'gateway/policy/authentication/',
      'gateway/policy/contract.ts',
      'gateway/policy/recent-map.ts',
    ],
  },
  'gateway/exchange/': { may: ['gateway/plan/', 'gateway/policy/'] },
  // Uses values of the exchange (faults) and the code that edits headers and bodies.
  'gateway/upstream/': {
    may: ['gateway/plan/', 'gateway/exchange/', 'gateway/policy/headers/'],
    types: ['gateway/policy/', 'gateway/plane/port.ts'],
  },
  'gateway/plane/port.ts': { may: [], types: ['gateway/exchange/', 'gateway/plan/', 'gateway/policy/'] },
  'gateway/plane/': {
    may: ['gateway/exchange/', 'gateway/upstream/', 'gateway/policy/recent-map.ts'],
    types: ['gateway/plan/', 'gateway/policy/'],
  },
  'gateway/stores/': {
    may: [
      'gateway/policy/rate-limit/',
      'gateway/policy/usage/',
      'gateway/policy/idempotency/',
      'gateway/policy/contract.ts',
      'gateway/policy/versioning/label.ts',
      'gateway/system/',
    ],
    types: [
      'gateway/policy/versioning/pin.ts',
      'gateway/policy/lifecycle/override.ts',
      'gateway/policy/lifecycle/announcement-store.ts',
      'gateway/policy/authentication/',
      'gateway/plan/published/record.ts',
    ],
  },
  'gateway/telemetry/': {
    may: [
      'gateway/plan/',
      'gateway/exchange/',
      'gateway/policy/usage/',
      'gateway/policy/versioning/carriers.ts',
      'gateway/policy/contract.ts',
    ],
    types: ['gateway/policy/'],
  },
  'gateway/announce/': {
    may: [
      'gateway/plan/',
      'gateway/policy/lifecycle/',
      'gateway/policy/usage/',
      'gateway/system/time-slices.ts',
      ...CONTRACT,
    ],
    types: [
      'gateway/policy/authentication/',
      'gateway/policy/versioning/resolution.ts',
      'gateway/api/notice-answers.ts',
    ],
  },
  'gateway/server/': {
    may: [
      'gateway/plan/',
      'gateway/exchange/',
      'gateway/upstream/',
      'gateway/plane/',
      'gateway/telemetry/',
      'gateway/system/make-folder.ts',
    ],
    types: ['gateway/policy/'],
  },
  'gateway/admin/': {
    may: [
      'gateway/api/',
      'gateway/plan/',
      'gateway/exchange/',
      'gateway/telemetry/',
      'gateway/policy/',
      'gateway/system/',
    ],
  },
  'gateway/cli/': {
    may: [
      'gateway/api/admin-answers.ts',
      'gateway/api/notice-answers.ts',
      'gateway/api/usage-answers.ts',
      'gateway/api/usage-csv.ts',
      'gateway/plan/',
      'gateway/policy/',
      'gateway/sections/policy-file.ts',
      'gateway/sections/view.ts',
      'gateway/sections/schedule/redirects.ts',
      'gateway/sections/*/grammar.ts',
      'gateway/exchange/',
      'gateway/system/make-folder.ts',
      'gateway/stores/redis-address.ts',
    ],
  },
  'gateway/gateway.ts': { may: ['gateway/'] },
  'gateway/gateway-contract.ts': { may: [], types: ['gateway/'] },
  'gateway/service.ts': { may: ['gateway/'] },
  'gateway/primary.ts': { may: ['gateway/'] },
  'gateway/open-notices.ts': { may: ['gateway/'] },
  'gateway/open-policies.ts': { may: ['gateway/'] },
  'gateway/worker.ts': { may: ['gateway/'] },
  'gateway/main.ts': {
    may: [
      'gateway/cli/',
      'gateway/gateway.ts',
      'gateway/plan/',
      'gateway/server/shutdown.ts',
      'gateway/server/inherited-sockets.ts',
      'gateway/server/memory-settings.ts',
      'gateway/stores/embedded/demo-folder.ts',
      'gateway/stores/embedded/restore.ts',
      'gateway/stores/read-unopened.ts',
      'gateway/telemetry/traces/spans.ts',
    ],
    types: ['gateway/telemetry/', 'gateway/gateway-contract.ts'],
  },
  'gateway/sundial.js': { may: ['gateway/main.ts'] },
  'upstreams/': { may: [] },
};

/** Each package has one row, so that replacing it changes one row. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  zod: ['gateway/policy/', 'gateway/sections/', 'gateway/plan/', 'gateway/api/'],
  'content-type': ['gateway/policy/versioning/'],
  'structured-headers': ['gateway/policy/lifecycle/'],
  '@hapi/accept': ['gateway/policy/versioning/'],
  croner: ['gateway/policy/lifecycle/'],
  yaml: ['gateway/plan/', 'gateway/cli/extend/'],
  chokidar: ['gateway/plan/'],
  'fastest-levenshtein': ['gateway/plan/'],
  marked: ['gateway/plan/'],
  jose: ['gateway/identity/'],
  '@fastify/reply-from': ['gateway/plane/general/'],
  undici: ['gateway/plane/general/'],
  'http-proxy-3': ['gateway/plane/general/'],
  // Node's requests and responses stay in the transport. The CLI calls a gateway, one table has status texts.
  'node:http': [
    'gateway/plane/general/',
    'gateway/plane/answer-text.ts',
    'gateway/plane/proxy-listener.ts',
    'gateway/cli/admin-client.ts',
    'gateway/telemetry/requests/request-labels.ts',
  ],
  'node:https': ['gateway/plane/general/', 'gateway/cli/admin-client.ts'],
  'node:http2': ['gateway/plane/general/'],
  ioredis: ['gateway/stores/'],
  'node:sqlite': ['gateway/stores/'],
  'node:worker_threads': ['gateway/stores/', 'gateway/plan/'],
  'node:child_process': ['gateway/server/', 'gateway/cli/', 'gateway/sundial.js'],
  pino: ['gateway/telemetry/'],
  'prom-client': ['gateway/telemetry/'],
  '@opentelemetry/api': ['gateway/telemetry/'],
  '@opentelemetry/exporter-trace-otlp-http': ['gateway/telemetry/traces/otlp.ts'],
  '@opentelemetry/resources': ['gateway/telemetry/traces/otlp.ts'],
  '@opentelemetry/sdk-trace': ['gateway/telemetry/traces/otlp.ts'],
  fastify: ['gateway/plane/general/', 'gateway/plane/proxy-listener.ts', 'gateway/admin/'],
  'close-with-grace': ['gateway/server/'],
  commander: ['gateway/cli/'],
  nodemailer: ['gateway/announce/'],
};

/** Modules that give access to sockets, disks, timers or processes. */
const REACHING_OUT =
  /^node:(net|tls|https?|http2|dns|dgram|fs|child_process|worker_threads|cluster|timers|process|os)(\/|$)/;

const MAX_LINES = 220;
const MAX_FILES = 25;
/** Folders with more files, and why. */
const WIDE_FOLDERS: Readonly<Record<string, string>> = {
  'gateway/policy/lifecycle': 'the rules of one life of a version, which refer to each other',
};
const FEW_LINES = 45;
const FORBIDDEN_NAMES = ['util', 'utils', 'helper', 'helpers', 'common', 'misc', 'index'];
const MAY_READ_ENVIRONMENT = ['gateway/main.ts', 'gateway/cli/', 'upstreams/', 'test/'];
const MAY_READ_CLOCK = ['gateway/gateway.ts', 'gateway/worker.ts', 'gateway/main.ts', 'upstreams/', 'test/'];

export const importsOnlyWhatItsRoomMay: Rule = (files) =>
  inFixture(files).flatMap((file) => {
    const name = roomOf(file.path);
    const room = name === undefined ? undefined : ROOMS[name];
    if (name === undefined || room === undefined) return [`${file.path} stands in no room of the table`];
    return importsOf(file)
      .filter((found) => found.relative || found.to === '(computed)')
      .filter(({ to }) => !covers([name, ...room.may], to))
      .filter(({ to, typeOnly }) => !(typeOnly && covers(room.types ?? [], to)))
      .map(({ to, typeOnly }) => `${file.path} may not import ${typeOnly ? 'types of ' : ''}${to}`);
  });

export const keepsPackagesInOneRow: Rule = (files) =>
  within(files, ['gateway/']).flatMap((file) =>
    importsOf(file)
      .map(packageOf)
      .filter((name) => name !== undefined)
      .filter((name) => !covers(PACKAGES[name] ?? [], file.path))
      .map((name) => `${file.path} may not import the package ${name}`),
  );

/** `dependencies` of package.json, and the optional peers that an operator installs. */
export const runsOnDependencies =
  (dependencies: readonly string[]): Rule =>
  (files) =>
    inFixture(files).flatMap((file) =>
      importsOf(file)
        .filter(({ typeOnly }) => !typeOnly)
        .map(packageOf)
        .filter((name) => name !== undefined && !name.startsWith('node:') && !dependencies.includes(name))
        .map((name) => `${file.path} runs on ${name}, which is there for development alone`),
    );

export const keepsJudgementPure: Rule = (files) =>
  within(files, ['gateway/policy/', 'gateway/exchange/']).flatMap((file) =>
    importsOf(file)
      .filter(({ to }) => REACHING_OUT.test(to))
      .map(({ to }) => `${file.path} reaches out with ${to}`),
  );

export const hasNoCycles: Rule = (files) => {
  const edges = new Map(
    files.map((file) => [
      file.path,
      importsOf(file)
        .filter((found) => found.relative)
        .map(({ to }) => to),
    ]),
  );
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
    if (trail.includes(path) || done.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return cycles;
};

export const hasTellingNames: Rule = (files) =>
  files
    .filter(({ path }) =>
      path.split('/').some((segment) => {
        const stem = segment.replace(/\..*$/, '');
        return FORBIDDEN_NAMES.includes(stem) || /[-_](utils?|helpers?)$/.test(stem);
      }),
    )
    .map(({ path }) => `${path} has a name that says nothing`);

export const isShort: Rule = (files) =>
  inFixture(files)
    .filter((file) => linesOf(file) > MAX_LINES)
    .map((file) => `${file.path} has ${linesOf(file)} lines`);

export const hasNarrowFolders: Rule = (files) => {
  const width = new Map<string, number>();
  for (const { path } of inFixture(files)) {
    const folder = posix.dirname(path);
    width.set(folder, (width.get(folder) ?? 0) + 1);
  }
  return [...width]
    .filter(([folder, files]) => files > MAX_FILES && !Object.hasOwn(WIDE_FOLDERS, folder))
    .map(([folder, files]) => `${folder} has ${files} files side by side`);
};

/** A short file with a single importer in its folder belongs into that file, if both fit into one. */
export const standsForItself: Rule = (files) => {
  const importers = new Map<string, Set<SourceFile>>();
  for (const file of within(files, ['gateway/']))
    for (const { to } of importsOf(file)) importers.set(to, (importers.get(to) ?? new Set()).add(file));
  return within(files, ['gateway/']).flatMap((file) => {
    const [importer, second] = importers.get(file.path) ?? [];
    if (importer === undefined || second !== undefined) return [];
    const isBeside = posix.dirname(importer.path) === posix.dirname(file.path);
    if (!isBeside || linesOf(file) > FEW_LINES) return [];
    if (linesOf(file) + linesOf(importer) > MAX_LINES) return [];
    // Loaded on demand.
    if (importer.text.includes(`import('./${posix.basename(file.path)}')`)) return [];
    return [`${file.path} has ${linesOf(file)} lines and is imported by ${importer.path} alone`];
  });
};

export const hasNoDefaultExport: Rule = (files) =>
  matching(files, /\bexport\s+default\b|\bas\s+default\b/, 'has a default export');

export const readsEnvironmentAtTheEdge: Rule = (files) =>
  matching(without(files, MAY_READ_ENVIRONMENT), /\bprocess\s*(\??\.\s*env\b|\[)/, 'reads the environment');

export const readsClockAtTheEdge: Rule = (files) =>
  matching(
    without(files, MAY_READ_CLOCK),
    /\bDate\s*\.\s*now\b|\bTemporal\s*\.\s*Now\b|\bnew\s+Date\b(?!\s*\(\s*[^\s)])|(?<!\bnew\s+)\bDate\s*\(/,
    'reads the system clock',
  );

export const leavesConsoleAlone: Rule = (files) =>
  matching(within(files, ['gateway/']), /\bconsole\s*[.[?]/, 'writes to the console');

export const saysWhatItIs: Rule = (files) =>
  within(files, ['gateway/'])
    .filter(({ text }) => !/^(#![^\n]*\n)?\/\/ \S/.test(text))
    .map(({ path }) => `${path} has no header that says what it is for`);

function linesOf({ text }: SourceFile): number {
  return text.replace(/\n$/, '').split('\n').length;
}

function matching(files: readonly SourceFile[], pattern: RegExp, what: string): string[] {
  return files.filter((file) => pattern.test(codeOf(file))).map(({ path }) => `${path} ${what}`);
}

function inFixture(files: readonly SourceFile[]): SourceFile[] {
  return within(files, ['gateway/', 'upstreams/']);
}

function within(files: readonly SourceFile[], places: readonly string[]): SourceFile[] {
  return files.filter(({ path }) => covers(places, path));
}

function without(files: readonly SourceFile[], places: readonly string[]): SourceFile[] {
  return files.filter(({ path }) => !covers(places, path));
}

function covers(places: readonly string[], path: string): boolean {
  return places.some((place) => {
    if (place.includes('*')) return new RegExp(`^${place.replace('*', '[^/]+')}$`).test(path);
    return place.endsWith('/') ? path.startsWith(place) : path === place;
  });
}

function roomOf(path: string): string | undefined {
  return Object.keys(ROOMS).find((room) => covers([room], path));
}

/** The package of an import; undefined for project files and for Node modules without a row. */
export function packageOf({ to, relative }: Import): string | undefined {
  if (relative || to === '(computed)' || (to.startsWith('node:') && !Object.hasOwn(PACKAGES, to)))
    return undefined;
  return to.split('/', to.startsWith('@') ? 2 : 1).join('/');
}
