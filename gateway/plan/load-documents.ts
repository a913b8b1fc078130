// Reads the gateway file and the policy files, and checks each of them and all together.
import { dirname, relative, resolve } from 'node:path';
import type { EpochMs } from '../policy/contract.ts';
import { readUpstreamTls, withTlsTexts } from '../sections/connections/read-tls.ts';
import { type PolicyFile, policyGrammar, policyPartsGrammar } from '../sections/policy-file.ts';
import type { CheckContext, PolicyView } from '../sections/view.ts';
import { checkGateway } from './check/gateway.ts';
import { checkKeyPairs } from './check/key-pairs.ts';
import { type GatewayView, reporter, viewPolicy } from './check/views.ts';
import { type GatewayFile, gatewayGrammar, gatewayPartsGrammar } from './grammar/gateway-grammar.ts';
import { readGuides } from './guides/read-guides.ts';
import { MISSING_IN_GATEWAY, MISSING_IN_POLICY, placeOfKey, placeOfPathKey } from './key-places.ts';
import { nextCommand } from './next-command.ts';
import { type DescriptionCache, readDescriptions } from './openapi/read-descriptions.ts';
import type { Problem } from './problems.ts';
import type { PublishedFile } from './published/record.ts';
import { type Path, readDocument, type SourceDocument } from './read/document.ts';
import { digest, type FileRead, type ReadFile, readAtOnce, readSecret, tryRead } from './read/files.ts';
import type { Environment } from './read/interpolate.ts';
import { leavesItsFolder } from './read/links.ts';
import { checkShape } from './read/shape.ts';
import { unreadable } from './read/unreadable.ts';
import { valueAt } from './read/values.ts';
import { checkPolicy } from './rules/check.ts';
import { switchedReport } from './rules/switch.ts';
import { checkTogether, outlineOf } from './rules/together.ts';
import { withInherited } from './versions.ts';

export interface LoadOptions {
  readonly configFile: string;
  readonly environment: Environment;
  /** Lifecycle time of the checks: a version needs no upstream after its sunset. */
  readonly now: EpochMs;
  /** Real time, for the validity of certificates. Default: `now`. */
  readonly today?: EpochMs;
  /** Base of the process's folders and of printed paths. Default: the working directory. */
  readonly cwd?: string;
  readonly readFile?: ReadFile;
  readonly descriptions?: DescriptionCache;
}

export interface PolicySource {
  readonly file: PolicyFile;
  readonly document: SourceDocument;
  /** Over the file and every file that it includes or names. */
  readonly digest: string;
  /** The source text of the file and its descriptions. */
  readonly files: readonly PublishedFile[];
}

export interface Policies {
  readonly problems: readonly Problem[];
  /** Policies of a valid shape. */
  readonly sources: readonly PolicySource[];
  /** The well-formed parts of every file that is YAML. */
  readonly views: readonly PolicyView[];
  /** The source text of every readable file and its descriptions. */
  readonly files: readonly PublishedFile[];
  /** Absolute paths of the files that policies name: descriptions, guides, certificates and keys. */
  readonly descriptions: readonly string[];
}

export interface ReadGateway {
  readonly problems: readonly Problem[];
  readonly whole: GatewayFile | undefined;
  readonly view: GatewayView | undefined;
  readonly document: SourceDocument;
  readonly revision: string;
}

export function contextOf(options: LoadOptions) {
  const cwd = options.cwd ?? process.cwd();
  return {
    ...options,
    cwd,
    today: options.today ?? options.now,
    configFile: resolve(cwd, options.configFile),
    readFile: options.readFile ?? readAtOnce,
    descriptions: options.descriptions ?? new Map(),
    outside: new Map<string, string>(),
  };
}

export type Context = ReturnType<typeof contextOf>;

export async function readGateway(context: Context): Promise<ReadGateway> {
  const read = await tryRead(context.configFile, context.readFile);
  const document = documentOf(context, context.configFile, read);
  const revision = read.kind === 'read' ? digest([read.bytes]) : '';
  if (document.value === undefined)
    return { problems: document.problems, whole: undefined, view: undefined, document, revision };
  const elsewhere = { keys: Object.keys(policyGrammar.shape), file: 'a policy file' };
  const advice = { elsewhere, missing: MISSING_IN_GATEWAY, placeOfKey: placeOfPathKey };
  const shaped = checkShape(document, gatewayGrammar, gatewayPartsGrammar, advice);
  const problems = [...document.problems, ...shaped.problems];
  const view: GatewayView = { document: shaped.document, parts: shaped.parts };
  const report = reporter(shaped.document, problems);
  checkGateway(view, report);
  await checkKeyPairs(view, report, context);
  return { problems, whole: shaped.whole, view, document, revision };
}

export interface ReadPolicy {
  readonly problems: readonly Problem[];
  /** Undefined if the shape is wrong. */
  readonly source: PolicySource | undefined;
  /** Undefined if the file is not YAML. */
  readonly view: PolicyView | undefined;
  readonly files: readonly PublishedFile[];
  readonly descriptions: readonly string[];
}

export async function readPolicies(
  context: Context,
  files: readonly string[],
  checkContext: CheckContext,
): Promise<Policies> {
  const read: ReadPolicy[] = [];
  for (const file of files)
    read.push(await readPolicy(context, file, await tryRead(file, context.readFile), checkContext));
  const views = read.flatMap(({ view }) => view ?? []);
  const outlined = (view: PolicyView) => ({
    outline: outlineOf(view, checkContext.public),
    document: () => view.document,
  });
  return {
    problems: [...read.flatMap(({ problems }) => problems), ...checkTogether(views.map(outlined))],
    sources: read.flatMap(({ source }) => source ?? []),
    views,
    files: read.flatMap((policy) => policy.files),
    descriptions: read.flatMap(({ descriptions }) => descriptions),
  };
}

export async function readPolicy(
  context: Context,
  file: string,
  read: FileRead,
  checkContext: CheckContext,
): Promise<ReadPolicy> {
  const policy = withInherited(documentOf(context, file, read));
  const shown = (path: string) => shownPath(context, path);
  const described = await readDescriptions(file, policy, {
    readFile: context.readFile,
    shown,
    cache: context.descriptions,
    now: context.now,
    next: nextCommand({ config: shown(context.configFile), environment: context.environment }),
  });
  const { document } = described;
  const problems: Problem[] = [...document.problems, ...described.problems];
  const descriptions: string[] = [...described.files];
  const bytes: (Uint8Array | string)[] = [];
  const files: PublishedFile[] = [];
  if (read.kind === 'read') {
    bytes.push(read.bytes, ...document.broughtIn, ...described.texts.map(({ text }) => text));
    files.push(
      { kind: 'policy', name: document.file, text: new TextDecoder().decode(read.bytes) },
      ...described.texts,
    );
  }
  if (document.value === undefined)
    return { problems, source: undefined, view: undefined, files, descriptions };
  const unversioned = valueAt(document.value, ['versions']) === 'none';
  const advice = {
    elsewhere: { keys: Object.keys(gatewayGrammar.shape), file: shown(context.configFile) },
    missing: MISSING_IN_POLICY,
    placeOfKey: (path: Path, key: string) => placeOfKey(path, key, unversioned),
  };
  const shaped = checkShape(document, policyGrammar, policyPartsGrammar, advice);
  const { whole, parts } = shaped;
  problems.push(...shaped.problems);
  const view = viewPolicy(shaped.document, parts, described.forms);
  const report = reporter(shaped.document, problems);
  checkPolicy(view, checkContext, report);
  const { tls, files: pems } = await readUpstreamTls(view, report, { ...context, policyFile: file });
  const named = await readGuides(view, report, { ...context, policyFile: file, shown });
  descriptions.push(...pems, ...named.files);
  bytes.push(...named.texts.map(({ text }) => text));
  files.push(...named.kept);
  bytes.push(...[...tls.values()].flatMap(({ ca = '', cert = '', key = '' }) => [ca, cert, key]));
  for (const { finding, place } of described.findings)
    switchedReport(parts.rules, (_, switched) => problems.push(place(switched)))([], finding);
  const source = whole && {
    file: { ...withTlsTexts(whole, tls), notes: described.notes, guides: named.guides },
    document,
    digest: digest(bytes),
    files,
  };
  return { problems, source, view, files, descriptions };
}

export function documentOf(context: Context, file: string, read: FileRead): SourceDocument {
  const shown = shownPath(context, file);
  const sources = {
    environment: context.environment,
    outside: context.outside,
    leavesItsFolder: (path: string) => leavesItsFolder(file, path),
    readSecret: (path: string) => readSecret(resolve(dirname(file), path)),
  };
  const document = readDocument(shown, read.kind === 'read' ? read.bytes : new Uint8Array(), sources);
  if (read.kind === 'read') return document;
  return {
    ...document,
    problems: [unreadable(shown, read.why, file === context.configFile ? context.cwd : undefined)],
  };
}

/** Relative to the working directory. A control character in a file name must not forge a line of output. */
export function shownPath({ cwd }: Context, file: string): string {
  return (relative(cwd, file) || file).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
}
