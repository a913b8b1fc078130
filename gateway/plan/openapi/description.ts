// Reads the lifecycle of an API and its operations from an OpenAPI description, with the place of each field.
import { isScalar, type YAMLMap } from 'yaml';
import { isDate } from '../../policy/versioning/label.ts';
import type { Problem } from '../problems.ts';
import type { Finding } from '../read/document.ts';
import {
  type ApiNotes,
  createNotesReader,
  type OpenApiVersion,
  operationNodes,
  readSchemes,
  readServers,
  readVersion,
} from './description-parts.ts';
import {
  type DescriptionText,
  type Mark,
  mapOf,
  markOf,
  readDescriptionText,
  type Said,
  scalarText,
  textOf,
} from './description-text.ts';

/** The fields for the API as a whole. `null` means: no such date. */
export interface ApiLifecycle {
  readonly stage: Said<string> | undefined;
  readonly announced: Said<string | null> | undefined;
  readonly sunset: Said<string | null> | undefined;
  readonly guide: Said<string> | undefined;
  readonly notes: ApiNotes;
}

export interface DescribedOperation {
  /** As under `paths`. */
  readonly path: string;
  /** In capitals. */
  readonly method: string;
  readonly mark: Mark;
  readonly node: YAMLMap;
  readonly flag: Said<boolean> | undefined;
  readonly status: Said<string> | undefined;
  readonly introduced: Said<string> | undefined;
  readonly deprecated: Said<string | null> | undefined;
  readonly sunset: Said<string | null> | undefined;
  readonly replacement: Said<string> | undefined;
  readonly breakingChanges: readonly string[];
}

export interface Description {
  readonly source: DescriptionText;
  readonly problems: readonly Problem[];
  /** Findings of rules that a policy file can switch. */
  readonly findings: readonly { readonly mark: Mark; readonly finding: Finding }[];
  readonly openapi: OpenApiVersion | undefined;
  readonly title: string | undefined;
  readonly version: string | undefined;
  readonly api: ApiLifecycle;
  /** URLs or paths as written, variables replaced by their defaults. */
  readonly servers: readonly string[];
  /** Such as `http bearer` or `oauth2`. */
  readonly securitySchemes: readonly string[];
  /** In the order written. */
  readonly operations: readonly DescribedOperation[];
}

/** On a line of its own, or in JSON behind whatever. */
const STATES_VERSION = /(?:^|[{,]\s*)["']?(?:openapi|swagger)["']?\s*:/m;

/** Reads the bytes of one description; `file` as printed. Never throws: what is wrong is in `problems` and `findings`. */
export function readDescription(file: string, bytes: Uint8Array): Description {
  const source = readDescriptionText(file, bytes);
  const { root, childOf } = source;
  const problems: Problem[] = [...source.problems];
  const findings: { mark: Mark; finding: Finding }[] = [];
  const openapi = root && readVersion(source, root, problems);
  const readable = openapi === undefined ? undefined : root;
  const info = mapOf(childOf(readable, 'info'));

  const text = (map: YAMLMap | undefined, key: string): Said<string> | undefined => {
    const node = childOf(map, key);
    const value = textOf(node);
    return node === undefined || value === undefined ? undefined : { value, mark: markOf(node) };
  };
  /** OAS-2: `YYYY-MM-DD`. What is no date is reported and counts as absent. */
  const date = (map: YAMLMap | undefined, key: string): Said<string | null> | undefined => {
    const node = childOf(map, key);
    if (!isScalar(node)) return undefined;
    const mark = markOf(node);
    if (node.value === null) return { value: null, mark };
    if (typeof node.value === 'string' && isDate(node.value)) return { value: node.value, mark };
    const message = `${key} is not a calendar date (YYYY-MM-DD)`;
    findings.push({ mark, finding: { rule: 'description-dates', message } });
    return undefined;
  };
  const day = (map: YAMLMap | undefined, key: string): Said<string> | undefined => {
    const said = date(map, key);
    return said === undefined || said.value === null ? undefined : { value: said.value, mark: said.mark };
  };
  const notes = createNotesReader({
    ...source,
    day,
    unusable: (mark, message) => findings.push({ mark, finding: { rule: 'description-usable', message } }),
  });

  const lifecycle = mapOf(childOf(info, 'x-lifecycle') ?? childOf(readable, 'x-lifecycle'));
  const deprecation = mapOf(childOf(lifecycle, 'deprecation'));
  const operations = [...operationNodes(source, readable)].map(({ path, method, mark, node }) => {
    const own = mapOf(childOf(node, 'x-lifecycle'));
    const written = childOf(node, 'deprecated');
    const flag = isScalar(written) && typeof written.value === 'boolean' ? written.value : undefined;
    return {
      path,
      method,
      mark,
      node,
      flag: flag === undefined || written === undefined ? undefined : { value: flag, mark: markOf(written) },
      status: text(own, 'status'),
      introduced: day(own, 'introduced'),
      deprecated: date(own, 'deprecation-date'),
      sunset: date(own, 'sunset-date'),
      replacement: text(own, 'replacement'),
      breakingChanges: notes.breakingChanges(own),
    };
  });
  return {
    source,
    problems: STATES_VERSION.test(source.text) ? problems : problems.map(withoutLine),
    findings,
    openapi,
    title: scalarText(childOf(info, 'title')),
    version: scalarText(childOf(info, 'version')),
    api: {
      stage: text(lifecycle, 'stage'),
      announced: date(deprecation, 'announced'),
      sunset: date(deprecation, 'sunset'),
      guide: text(lifecycle, 'migration-guide'),
      notes: notes.ofApi(lifecycle),
    },
    servers: readServers(source, readable),
    securitySchemes: readSchemes(source, readable),
    operations,
  };
}

/** A policy may name any file, also one that holds a secret: only lines of a description are repeated. */
function withoutLine({ source: _, ...problem }: Problem): Problem {
  return problem;
}
