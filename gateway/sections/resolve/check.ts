// Checks `resolve`: duplicate carriers, and carriers that cannot work.
import { isDate } from '../../policy/versioning/label.ts';
import { resemblesName } from '../../policy/versioning/look-alike.ts';
import { ignoredNames } from '../../policy/versioning/query.ts';
import { checkCertified, hostsOfVersions } from '../routes/check.ts';
import { type CheckContext, isWritten, type PolicyView, type Report } from '../view.ts';
import { checkDefault } from './default.ts';
import { RESOLVE_KEYS } from './grammar.ts';
import { checkPin } from './pin.ts';

type ResolveEntries = NonNullable<PolicyView['parts']['resolve']>;

/** `/api/{version}/orders` for `/api/orders`. */
const versioned = (base: string): string => base.replace(/\/(?=[^/]*$)/, '/{version}/');

export function checkResolve(view: PolicyView, context: CheckContext, report: Report): void {
  if (view.unversioned) return;
  const { resolve } = view.parts;
  if (resolve === undefined) {
    if (!isWritten(view, ['resolve']) && view.labels.length > 0) {
      report(['resolve'], {
        rule: 'resolve',
        message: 'the key "resolve" is missing: it lists where clients write the version',
        hint: `write resolve: [{ path: "${versioned(view.parts.base ?? '/<name>')}" }], or versions: none`,
        at: 'key',
      });
    }
    return;
  }
  for (const kind of RESOLVE_KEYS.filter((each) => each !== 'media_type')) {
    const places = resolve.flatMap((entry, index) => (entry[kind] === undefined ? [] : [index]));
    for (const index of places.slice(1))
      report(['resolve', index], { rule: 'resolve', message: `a second ${kind}` });
  }
  for (const [index, { header }] of resolve.entries()) {
    if (header === undefined || !context.keyHeaders.includes(header.toLowerCase())) continue;
    const message = `${header} carries the API key, so it cannot carry a version`;
    report(['resolve', index, 'header'], { rule: 'resolve', message, hint: 'name another header' });
  }
  checkDefault(view, context.now, report);
  // A malformed entry is absent from `resolve`, but may be the missing carrier.
  const isWhole = !isWritten(view, ['resolve', resolve.length]);
  if (isWhole) checkReadable(view, resolve, report);
  checkSameTypes(resolve, report);
  checkBase(view, resolve, report);
  const redirects = [...view.versions.values()].some(({ after }) => typeof after === 'object');
  checkSubdomain(view, resolve, report);
  checkMatch(view, resolve, report);
  checkIgnored(resolve, report);
  checkContentType(view, resolve, report);
  checkPin(view, report);
  if (
    isWhole &&
    redirects &&
    !resolve.some(({ path, subdomain }) => path !== undefined || subdomain !== undefined)
  ) {
    const message =
      'no path or subdomain has the version, so a redirect would return to the same URL: requests get 410';
    report(['resolve'], { rule: 'redirect', severity: 'warning', message, at: 'key' });
  }
  checkVersionHosts(view, context, report);
}

/**
 * A list with other entries is fine: with a pin the operator moves accounts. With only a default, every request gets one
 * version.
 */
function checkReadable({ labels }: PolicyView, resolve: ResolveEntries, report: Report): void {
  if (labels.length < 2 || resolve.some((entry) => entry.default === undefined)) return;
  report(['resolve'], {
    rule: 'resolve',
    severity: 'warning',
    message: 'no request can name a version, so every request gets the default',
    hint: 'add a carrier, such as { header: API-Version }',
    at: 'key',
  });
}

function checkSameTypes(resolve: ResolveEntries, report: Report): void {
  const seen = new Set<string>();
  for (const [index, { media_type: type }] of resolve.entries()) {
    if (type === undefined) continue;
    const { before, after, parameter } = type;
    const form = JSON.stringify([before, after, parameter]);
    if (seen.has(form))
      report(['resolve', index], { rule: 'resolve', message: 'this media type is listed twice' });
    seen.add(form);
  }
}

/** A literal segment wins over `{version}`: at such a base the version in the path would not be read. */
function checkBase({ parts, labels }: PolicyView, resolve: ResolveEntries, report: Report): void {
  const path = resolve.find((entry) => entry.path !== undefined)?.path;
  const label = labels.find((each) => parts.base === path?.replace('{version}', each));
  if (label === undefined || path === undefined) return;
  report(['base'], {
    rule: 'resolve',
    message: `this base is the path of ${label}: requests for it would have no version`,
    hint: 'write the base without the version',
  });
}

/** A subdomain is one label without dots, so it cannot name a semantic version. */
function checkSubdomain(view: PolicyView, resolve: ResolveEntries, report: Report): void {
  const index = resolve.findIndex(({ subdomain }) => subdomain !== undefined);
  const dotted = view.labels.find((label) => label.includes('.'));
  if (index < 0 || dotted === undefined || resolve.some(({ path }) => path !== undefined)) return;
  report(['resolve', index, 'subdomain'], {
    rule: 'resolve',
    message: `no subdomain can name the version ${dotted}: it has dots`,
    hint: 'add a path, or call versions v1, v2',
  });
}

function checkMatch(view: PolicyView, resolve: ResolveEntries, report: Report): void {
  const index = resolve.findIndex(({ match }) => match !== undefined);
  if (index < 0 || view.labels.length === 0 || view.labels.some(isDate)) return;
  const message = 'match has no effect, because no version is a date';
  report(['resolve', index, 'match'], { rule: 'resolve', severity: 'warning', message, at: 'key' });
}

/** `ignore` affects only names that resemble the parameter, and must not match the parameter itself. */
function checkIgnored(resolve: ResolveEntries, report: Report): void {
  for (const [index, { query, ignore = [] }] of resolve.entries()) {
    if (query === undefined) continue;
    for (const [at, pattern] of ignore.entries()) {
      const path = ['resolve', index, 'ignore', at];
      if (ignoredNames([pattern])(query)) {
        report(path, {
          rule: 'resolve',
          message: `the parameter ${query} carries the version: if it is ignored, every request gets the default`,
          hint: `list only similar names, such as ${query}[gte]`,
        });
      } else if (!mayResemble(pattern, query)) {
        report(path, {
          rule: 'resolve',
          severity: 'warning',
          message: `services do not read this parameter as ${query}, so ignore has no effect`,
          hint: 'remove it',
        });
      }
    }
  }
}

/** Whether some name that matches the pattern would be refused. A name after a semicolon begins with `;`. */
function mayResemble(pattern: string, query: string): boolean {
  const name = pattern.replace(/^;/, '');
  const isBehind = name !== pattern;
  return ['', 'x'].some((any) => {
    const sample = name.replaceAll('*', any);
    return (
      (isBehind && sample === query) || (sample !== query && resemblesName(encodeURIComponent(sample), query))
    );
  });
}

function checkContentType(view: PolicyView, resolve: ResolveEntries, report: Report): void {
  if (view.parts.rewrite_content_type !== true || resolve.some((entry) => entry.media_type !== undefined))
    return;
  const message = 'rewrite_content_type has no effect, because no media_type carries the version';
  report(['rewrite_content_type'], { rule: 'resolve', severity: 'warning', message, at: 'key' });
}

function checkVersionHosts(view: PolicyView, { certifiedNames }: CheckContext, report: Report): void {
  for (const [index, { subdomain }] of (view.parts.resolve ?? []).entries()) {
    if (subdomain === undefined) continue;
    const at = ['resolve', index, 'subdomain'];
    const wanted = subdomain.replace('{version}', '*');
    checkCertified({ hosts: hostsOfVersions(subdomain, view), at, wanted }, certifiedNames, view, report);
  }
}
