// Writes a first policy for a service, with or without a description, for `sundial init`.
import { dayOf } from '../../policy/notation.ts';
import { isDate } from '../../policy/versioning/label.ts';
import type { CheckContext } from '../../sections/view.ts';
import type { NextCommand } from '../next-command.ts';
import { readDocument } from '../read/document.ts';
import type { AddedValue } from './added-values.ts';
import type { Description } from './description.ts';
import { type FirstLayout, layOut } from './first-layout.ts';
import { mergeDescription } from './merge.ts';

export interface FirstPolicyInput {
  readonly description: Description | undefined;
  /** Origin of the service. Undefined: from `servers` of the description. */
  readonly service: string | undefined;
  readonly checkContext: CheckContext;
  /** Relative to the folder of the policy, with forward slashes. Unused without a description. */
  readonly descriptionPath: string;
  /** The JSON Schema, relative to the folder of the policy. Undefined if there is no schema for editors. */
  readonly schemaPath: string | undefined;
  readonly next: NextCommand;
}

export interface FirstPolicy {
  readonly name: string;
  readonly label: string;
  readonly text: string;
}

/** Schemes with a token that an identity of the gateway can verify. */
const TOKENS = /^(http bearer|oauth2|openIdConnect)$/;

export function firstPolicy(input: FirstPolicyInput): FirstPolicy {
  const { description } = input;
  const layout = layOut(description, input.service, input.checkContext);
  const { name, label } = layout;
  const empty = formatPolicy(layout, input, []);
  if (description === undefined) return { name, label: label.value, text: empty };
  const document = readDocument(name, new TextEncoder().encode(empty), {
    environment: {},
    outside: new Map(),
    leavesItsFolder: () => false,
    readSecret: () => ({ kind: 'unreadable', why: 'nothing is read from elsewhere here' }),
  });
  const { added } = mergeDescription(document, label.value, description, {
    ...input,
    now: input.checkContext.now,
  });
  return { name, label: label.value, text: formatPolicy(layout, input, added) };
}

function formatPolicy(layout: FirstLayout, input: FirstPolicyInput, added: readonly AddedValue[]): string {
  const { name, label, base, versionedPath, target, upstreamPath } = layout;
  const { description, schemaPath, next } = input;
  const release = releaseOf(layout, input, added);
  const subject =
    description === undefined
      ? 'the service'
      : `${printable(description.title ?? name)}, made from its OpenAPI description`;
  const lines = [
    ...(schemaPath === undefined ? [] : [`# yaml-language-server: $schema=${schemaPath}`]),
    `# A first policy for ${subject}. Read it, then run \`${next('check')}\`.`,
    `api: ${scalar(name)} # in metrics and answers`,
    `base: ${base.value} # ${base.why}`,
    '',
    '# The version is read from each place; requests with two different versions are refused.',
    'resolve:',
    ...(versionedPath === undefined ? [] : [`  - path: ${versionedPath.value} # ${versionedPath.why}`]),
    '  - header: API-Version',
    `  - default: ${scalar(label.value)} # for requests without a version, which work as before`,
    '',
    ...accessLines(input),
    '# No limit until you set one: limits: { rate: 600/1m, by: address }',
    '',
    `# ${upstreamPath.value}: ${upstreamPath.why}. ${target.value}: ${target.why}.`,
    'upstreams:',
    `  ${scalar(label.value)}: { targets: [${JSON.stringify(target.value)}], path: ${upstreamPath.value} }`,
    '',
    'versions:',
    `  ${scalar(label.value)}: # ${printable(label.why)}`,
    ...versionLines(input, release, added),
    ...expectLines(layout, input, release, added),
  ];
  return `${lines.join('\n')}\n`;
}

function accessLines({ description, checkContext }: FirstPolicyInput): readonly string[] {
  if (description === undefined)
    return [
      '# The gateway checks no tokens. Your service gets the tokens that callers send.',
      'access: public',
    ];
  const asksForToken = description.securitySchemes.some((scheme) => TOKENS.test(scheme));
  const [identity] = checkContext.identities ?? [];
  if (asksForToken && identity !== undefined) {
    return [
      '# The description requires tokens. Every token of this identity is accepted until you list scopes: { read: […], write: […] }.',
      `access: { identity: ${scalar(identity)}, scopes: any }`,
    ];
  }
  const why = asksForToken
    ? 'The description requires tokens, but the gateway file has no identity to verify them. Your service still gets them.'
    : description.securitySchemes.length > 0
      ? 'The description requires credentials that the gateway does not verify. Your service still gets them.'
      : 'The description requires no token.';
  return [`# ${why}`, 'access: public'];
}

interface Release {
  readonly day: string;
  readonly why: string;
}

function releaseOf(
  { label }: FirstLayout,
  { description, checkContext }: FirstPolicyInput,
  added: readonly AddedValue[],
): Release {
  const today = dayOf(checkContext.now);
  if (description === undefined) return { day: today, why: 'today' };
  const dates = added.flatMap(({ value }) => (typeof value === 'string' && isDate(value) ? [value] : []));
  const introduced = description.operations.flatMap((each) => each.introduced?.value ?? []);
  const known = [...introduced, ...dates, ...(isDate(label.value) ? [label.value] : [])].sort();
  return introduced.length > 0
    ? { day: known[0] ?? today, why: 'the earliest `introduced` of the description' }
    : {
        day: known[0] !== undefined && known[0] < today ? known[0] : today,
        why: 'not in the description; chosen earlier than its dates',
      };
}

function versionLines(
  { description, descriptionPath }: FirstPolicyInput,
  release: Release,
  added: readonly AddedValue[],
): readonly string[] {
  const own = (key: string) => added.find(({ at }) => at.length === 3 && at[2] === key)?.value;
  const deprecated = own('deprecated');
  const sunset = own('sunset');
  const guide = own('guide');
  return [
    `    released: ${release.day} # ${release.why}`,
    ...(deprecated === undefined
      ? []
      : [`    deprecated: ${String(deprecated)} # from this day on, responses have a Deprecation header`]),
    ...(sunset === undefined
      ? []
      : [`    sunset: ${String(sunset)} # from this day on, the version answers 410`]),
    ...(guide === undefined ? [] : [`    guide: ${scalar(String(guide))}`]),
    ...(deprecated === undefined && sunset === undefined
      ? ['    # This version has no end yet. Later, add deprecated, sunset, successor and guide here.']
      : []),
    ...(description === undefined
      ? []
      : [
          '    # The gateway also reads this description. It adds values that this file lacks, and must not contradict it.',
          `    openapi: ${scalar(descriptionPath)}`,
          ...operationLines(added),
        ]),
  ];
}

/** The day is fixed, so the expectation also holds later. */
function expectLines(
  { base, label }: FirstLayout,
  { checkContext }: FirstPolicyInput,
  release: Release,
  added: readonly AddedValue[],
): readonly string[] {
  const today = dayOf(checkContext.now);
  const day = [release.day, today].sort().at(-1);
  const stage = added.length === 0 ? ', stage: active' : '';
  return [
    '',
    '# `check` applies the policy to each request on its day and reports differences.',
    'expect:',
    `  - { request: GET ${base.value}, at: ${day}, version: ${scalar(label.value)}${stage} }`,
  ];
}

function operationLines(added: readonly AddedValue[]): readonly string[] {
  const names = added.flatMap(({ at }) => (at.length === 4 && at[2] === 'operations' ? [String(at[3])] : []));
  if (names.length === 0) return [];
  const fieldsOf = Map.groupBy(
    added.filter(({ at }) => at.length === 5),
    ({ at }) => at[3],
  );
  return [
    '    operations: # from the description; all others follow the version',
    ...names.map((name) => {
      const fields = fieldsOf.get(name) ?? [];
      const written = fields.map(({ at, value }) => `${String(at[4])}: ${scalar(String(value))}`);
      return written.length === 0
        ? `      ${key(name)}: {} # without the rules of the wider operation that also matches`
        : `      ${key(name)}: { ${written.join(', ')} }`;
    }),
  ];
}

/** Quoted, unless YAML reads it as text, or it is a date. */
function scalar(text: string): string {
  const isPlain =
    /^[A-Za-z0-9./][A-Za-z0-9./_-]*$/.test(text) &&
    !/^(true|false|null|yes|no|on|off|y|n|[-+.0-9]+)$/i.test(text);
  const isUrl = /^https:\/\/[A-Za-z0-9./_~%?=&-]+$/.test(text);
  return isPlain || isUrl || isDate(text) ? text : JSON.stringify(text);
}

function key(name: string): string {
  return /^[A-Z]+ \/[A-Za-z0-9._~/{}-]*$/.test(name) ? name : JSON.stringify(name);
}

function printable(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
    .slice(0, 80)
    .trim();
}
