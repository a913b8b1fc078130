// The versions of a policy file by label, an API without versions as its only one: where each is written, how it is
// called. For checks, the compiler and whoever names a line of the file.
import { type Label, UNVERSIONED } from '../policy/versioning/resolution.ts';
import { INHERITED } from '../sections/list.ts';
import type { PolicyFile, PolicyParts, VersionFile, VersionParts } from '../sections/policy-file.ts';
import type { Path } from './read/document.ts';

/** What an API without versions says of its life stands at the top of its file, where other APIs say it of all. */
export function versionPath(label: Label): Path {
  return label === UNVERSIONED ? [] : ['versions', label];
}

/** As problems name it: a version by its label, an API without versions by its name. */
export function versionName(label: Label, { api = 'the API' }: Pick<PolicyParts, 'api'>): string {
  return label === UNVERSIONED ? api : label;
}

export function versionsOf(file: PolicyFile): ReadonlyMap<Label, VersionFile> {
  if (file.versions !== 'none') return new Map(Object.entries(file.versions));
  return new Map([[UNVERSIONED, { ...lifeOf(file), released: ALWAYS }]]);
}

/** What a file says of the life of its API as a whole, which is all there is of one without versions. */
export function wholeApiParts(parts: PolicyParts): VersionParts {
  return { ...lifeOf(parts), released: ALWAYS };
}

const ALWAYS = Number.NEGATIVE_INFINITY;

function lifeOf(file: PolicyParts): Omit<VersionParts, 'released'> {
  const { announced, deprecated, sunset, extended, retired, forgotten } = file;
  const { alternate, guide, status, service_doc, service_desc, reason } = file;
  const { exceptions, brownouts, freeze, retire_when } = file;
  const dates = { announced, deprecated, sunset, extended, retired, forgotten };
  const pages = { alternate, guide, status, service_doc, service_desc };
  const taken = Object.keys(INHERITED).map((key) => ({ [key]: file[key as keyof PolicyParts] }));
  const ofSections: VersionParts = Object.assign({}, ...taken);
  return { ...dates, ...pages, reason, exceptions, brownouts, freeze, retire_when, ...ofSections };
}
