// The effective configuration: every value in force with its source line, secrets redacted.
import { Document, isNode } from 'yaml';
import { SECTIONS } from '../../sections/list.ts';
import { policyGrammar } from '../../sections/policy-file.ts';
import type { EffectiveValues } from '../../sections/section.ts';
import { atOnce, createSlices, inSlices } from '../../system/time-slices.ts';
import { schemaOf } from '../grammar/editor-schemas.ts';
import { gatewayGrammar } from '../grammar/gateway-grammar.ts';
import type { LoadOptions } from '../load-documents.ts';
import { CREDENTIAL_IN_QUERY } from '../problems.ts';
import type { PublishedFile } from '../published/record.ts';
import { readRecorded } from '../published/recorded-files.ts';
import { isConcealed, isLikeASecret } from '../read/concealed.ts';
import type { Path, SourceDocument } from '../read/document.ts';
import { isMap } from '../read/values.ts';
import { withDefaults } from './defaults.ts';

export interface EffectiveConfig {
  readonly revision: string;
  readonly documents: readonly EffectiveDocument[];
}

export interface EffectiveDocument {
  readonly file: string;
  /** As parsed from YAML, secrets redacted. */
  readonly values: unknown;
  /** For every scalar and every empty list or map. */
  readonly origins: readonly ValueOrigin[];
}

export interface ValueOrigin {
  readonly path: Path;
  /** `policies/orders.yaml:12`, or `default`. */
  readonly from: string;
}

export interface EffectiveInput {
  readonly revision: string;
  readonly gateway: SourceDocument;
  readonly policies: readonly SourceDocument[];
  readonly defaults: boolean;
}

const DEFAULT = 'default';
const REDACTED = '[redacted]';
const PEM = /-----BEGIN /;

/** Builds the configuration step by step. A step adds one document. */
function* effectiveSteps(input: EffectiveInput): Generator<void, EffectiveConfig> {
  const { revision, gateway, policies, defaults } = input;
  const documents = [effectiveDocument(gateway, 'gateway', defaults)];
  for (const each of policies) {
    documents.push(effectiveDocument(each, 'policy', defaults));
    yield;
  }
  return { revision, documents };
}

export function effectiveConfig(input: EffectiveInput): EffectiveConfig {
  return atOnce(effectiveSteps(input));
}

function effectiveDocument(
  document: SourceDocument,
  kind: 'gateway' | 'policy',
  defaults: boolean,
): EffectiveDocument {
  const grammar = kind === 'gateway' ? gatewayGrammar : policyGrammar;
  const filling = defaults
    ? withDefaults(schemaOf(grammar), document.value, kind)
    : { values: document.value, added: [] };
  const added = new Set(filling.added.map(pointerTo));
  const { values, real } =
    kind === 'policy' && defaults
      ? effectiveValues(filling.values)
      : { values: filling.values, real: samePath };
  const origins: ValueOrigin[] = [];
  const show = (value: unknown, path: Path): unknown => {
    const at = real(path);
    if (added.has(pointerTo(at))) {
      origins.push({ path, from: DEFAULT });
      return value;
    }
    const entries = entriesOf(value);
    if (entries.length === 0) origins.push({ path, from: placeOf(document, at) });
    if (Array.isArray(value)) return value.map((item: unknown, index) => show(item, [...path, index]));
    if (isMap(value))
      return Object.fromEntries(entries.map(([key, each]) => [key, show(each, [...path, key])]));
    return shownValue(document, at, value);
  };
  return { file: document.file, values: show(values, []), origins };
}

/** Adds the keys that versions inherit from their API one by one. */
function effectiveValues(written: unknown): EffectiveValues {
  const shown: EffectiveValues = { values: written, real: samePath };
  return SECTIONS.reduce(({ values, real }, section) => {
    const next = section.effective?.(values);
    return next === undefined
      ? { values, real }
      : { values: next.values, real: (path) => real(next.real(path)) };
  }, shown);
}

function samePath(path: Path): Path {
  return path;
}

/** RFC 6901. */
function pointerTo(path: Path): string {
  return path.map((step) => `/${String(step).replace(/~/g, '~0').replace(/\//g, '~1')}`).join('');
}

/** A shorthand (`timeout: 3s`) has the position of its section. */
function placeOf(document: SourceDocument, path: Path): string {
  for (let length = path.length; length >= 0; length -= 1) {
    const origin = document.origin(path.slice(0, length));
    if (origin !== undefined) return `${origin.file}:${origin.line}`;
  }
  return document.file;
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

/** Redacts values from variables and files, and values in secret places. `value` is a scalar at `path`. */
function shownValue(document: SourceDocument, path: Path, value: unknown): unknown {
  // A shorthand such as `health: /healthz` has its position at the parent.
  const written = document.has(path) ? path : path.slice(0, -1);
  if (document.isOutside(written)) return document.show(written, value);
  const key = String(path.at(-1));
  if (path.at(-2) === 'set' ? isLikeASecret(key) : isConcealed(path)) return REDACTED;
  if (typeof value !== 'string') return value;
  // The content of a file that the policy names.
  if (PEM.test(value)) return document.written(path) ?? REDACTED;
  return withoutUserInfo(value).replace(CREDENTIAL_IN_QUERY, `$1${REDACTED}`);
}

/** `redis://user:password@host` becomes `redis://[redacted]@host`, in each word. */
function withoutUserInfo(text: string): string {
  return text.replace(/\S+/g, (word) => {
    const from = word.indexOf('://') + 3;
    const to = word.lastIndexOf('@');
    return from < 3 || to < from ? word : `${word.slice(0, from)}${REDACTED}${word.slice(to)}`;
  });
}

export function effectiveYaml(config: EffectiveConfig, { origin }: { readonly origin: boolean }): string {
  const documents = config.documents.map((each) => `---\n# ${each.file}\n${yamlOf(each, origin)}`);
  return `# revision ${config.revision}\n${documents.join('')}`;
}

function yamlOf({ values, origins }: EffectiveDocument, origin: boolean): string {
  const document = new Document(values);
  if (origin) {
    for (const { path, from } of origins) {
      const node = document.getIn(path, true);
      if (isNode(node)) node.comment = ` ${from}`;
    }
  }
  return document.toString({ lineWidth: 0 });
}

export function effectiveJson({ revision, documents }: EffectiveConfig): Readonly<Record<string, unknown>> {
  return {
    revision,
    documents: documents.map(({ file, values, origins }) => ({
      file,
      values,
      origins: Object.fromEntries(origins.map(({ path, from }) => [pointerTo(path), from])),
    })),
  };
}

interface InForce {
  readonly revision: string;
  /** As read at start. */
  readonly gateway: SourceDocument;
  readonly files: readonly PublishedFile[];
}

/** From the files of the plan in force, not from the disk. Works in short slices, so that requests do not wait. */
export async function effectiveInForce(
  { revision, gateway, files }: InForce,
  options: LoadOptions,
): Promise<EffectiveConfig> {
  const { sources } = await readRecorded(files, options, createSlices());
  const policies = sources.map(({ document }) => document);
  return inSlices(effectiveSteps({ revision, gateway, policies, defaults: true }));
}
