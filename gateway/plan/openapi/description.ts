// Reads the lifecycle of an API and its operations from an OpenAPI description, with positions.
import type { Problem } from '../problems.ts';
import { type ApiNotes, createFieldReader, type MarkedFinding } from './description-fields.ts';
import {
  type OpenApiVersion,
  type OperationNode,
  operationNodes,
  readSchemes,
  readServers,
  readVersion,
} from './description-parts.ts';
import {
  type DescriptionText,
  type Located,
  type LocatedDay,
  readDescriptionText,
  scalarText,
} from './description-text.ts';

/** The fields for the whole API. `null` means: no such date. */
export interface ApiLifecycle {
  readonly stage: Located<string> | undefined;
  readonly announced: LocatedDay;
  readonly sunset: LocatedDay;
  readonly guide: Located<string> | undefined;
  readonly notes: ApiNotes;
}

export interface DescribedOperation extends OperationNode {
  readonly flag: Located<boolean> | undefined;
  readonly status: Located<string> | undefined;
  readonly introduced: Located<string> | undefined;
  readonly deprecated: LocatedDay;
  readonly sunset: LocatedDay;
  readonly replacement: Located<string> | undefined;
  readonly breakingChanges: readonly string[];
}

export interface Description {
  readonly source: DescriptionText;
  readonly problems: readonly Problem[];
  readonly findings: readonly MarkedFinding[];
  readonly openapi: OpenApiVersion | undefined;
  readonly title: string | undefined;
  readonly version: string | undefined;
  readonly api: ApiLifecycle;
  /** URLs or paths as written, with the defaults of their variables. */
  readonly servers: readonly string[];
  /** For example `http bearer` or `oauth2`. */
  readonly securitySchemes: readonly string[];
  readonly operations: readonly DescribedOperation[];
}

/** At the start of a line, or after a brace or comma of JSON. */
const STATES_VERSION = /(?:^|[{,]\s*)["']?(?:openapi|swagger)["']?\s*:/m;

/** `file` as printed. Does not throw: errors are in `problems` and `findings`. */
export function readDescription(file: string, bytes: Uint8Array): Description {
  const source = readDescriptionText(file, bytes);
  const { root, at } = source;
  const problems: Problem[] = [...source.problems];
  const findings: MarkedFinding[] = [];
  const openapi = root && readVersion(source, root, problems);
  const readable = openapi === undefined ? undefined : root;
  const info = at(readable, 'info');
  const fields = createFieldReader(source, (found) => findings.push(found));
  const lifecycle = at(info, 'x-lifecycle') ?? at(readable, 'x-lifecycle');
  const deprecation = at(lifecycle, 'deprecation');
  const operations = operationNodes(source, readable).map((operation) => {
    const own = at(operation.node, 'x-lifecycle');
    return {
      ...operation,
      flag: fields.flag(operation.node, 'deprecated'),
      status: fields.text(own, 'status'),
      introduced: fields.day(own, 'introduced'),
      deprecated: fields.date(own, 'deprecation-date'),
      sunset: fields.date(own, 'sunset-date'),
      replacement: fields.text(own, 'replacement'),
      breakingChanges: fields.breakingChanges(own),
    };
  });
  return {
    source,
    problems: STATES_VERSION.test(source.text) ? problems : problems.map(withoutLine),
    findings,
    openapi,
    title: scalarText(at(info, 'title')),
    version: scalarText(at(info, 'version')),
    api: {
      stage: fields.text(lifecycle, 'stage'),
      announced: fields.date(deprecation, 'announced'),
      sunset: fields.date(deprecation, 'sunset'),
      guide: fields.text(lifecycle, 'migration-guide'),
      notes: fields.notes(lifecycle),
    },
    servers: readServers(source, readable),
    securitySchemes: readSchemes(source, readable),
    operations,
  };
}

/** A policy may name any file, even one with secrets, so only lines of OpenAPI descriptions are quoted. */
function withoutLine({ source: _, ...problem }: Problem): Problem {
  return problem;
}
