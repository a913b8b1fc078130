// One upstream of a policy file with its defaults filled in, and the fields that pass to and from it.

import { clientField } from '../../policy/headers/client-fields.ts';
import { type Label, UNVERSIONED } from '../../policy/versioning/resolution.ts';
import type { PolicyFile } from '../../sections/policy-file.ts';
import { DEFAULT_VERSION_HEADER } from '../../sections/resolve/grammar.ts';
import {
  compileConnectionRules,
  compileTargetRules,
  compileTimeouts,
} from '../../sections/upstreams/compile.ts';
import type { ApiPlan, UpstreamPlan } from '../plan.ts';
import { answerFieldsOf } from '../upstreams/answer-fields.ts';
import { upstreamPath } from '../upstreams/upstream-places.ts';

/** What is the same for every upstream of an API. */
type SharedRules = Pick<UpstreamPlan, 'answerFields'> & { readonly withheld: readonly string[] };

/** One service may stand behind several versions, so that no version lets a client send what another one tells (XFF-1). */
export function sharedRules(
  file: PolicyFile,
  { headers, keyHeaders, versionHeaders }: Pick<ApiPlan, 'headers' | 'keyHeaders' | 'versionHeaders'>,
): SharedRules {
  const told = Object.values(file.upstreams ?? {}).flatMap(({ identity_headers: each }) => [
    each?.consumer ?? [],
    each?.scopes ?? [],
  ]);
  const { set = {}, remove = [] } = headers?.request ?? {};
  return {
    withheld: [...[...versionHeaders, ...told.flat(), ...keyHeaders], ...[...Object.keys(set), ...remove]],
    answerFields: answerFieldsOf(headers),
  };
}

/** The upstream of an API without versions may have any name, and is told no version. */
export function compileUpstream(
  { api, base, upstreams = {} }: PolicyFile,
  version: Label,
  { withheld, answerFields }: SharedRules,
): UpstreamPlan | undefined {
  const label = version === UNVERSIONED ? undefined : version;
  const file = label === undefined ? Object.values(upstreams)[0] : upstreams[label];
  if (file === undefined) return undefined;
  const { identity_headers: told, version_as: by = { header: DEFAULT_VERSION_HEADER } } = file;
  const versionAs = label === undefined || typeof by === 'string' ? undefined : by;
  const versionHeader = versionAs && 'header' in versionAs ? versionAs.header : undefined;
  return {
    name: label === undefined ? api : `${api}-${label}`,
    targets: file.targets.map((origin) => ({ origin })),
    path: upstreamPath(file, base, label),
    versionHeader,
    versionQuery: versionAs && 'query' in versionAs ? versionAs.query : undefined,
    withheld: new Set(
      [
        ...withheld,
        ...(versionHeader === undefined ? [] : [versionHeader]),
        ...(file.authorization === 'strip' ? ['authorization'] : []),
      ].map((name) => clientField(name.toLowerCase()).plain),
    ),
    answerFields,
    identityHeaders: told && { consumer: told.consumer, scopes: told.scopes },
    timeouts: compileTimeouts(file.timeout),
    ...compileTargetRules(file),
    ...compileConnectionRules(file),
  };
}
