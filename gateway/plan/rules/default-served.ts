// default-served: who names no version is served for as long as another version is.
// VER-3: the default is what such a request gets, and once it has ended that is a 410 and no other version.
import { dayOf } from '../../policy/notation.ts';
import { compareLabels } from '../../policy/versioning/label.ts';
import { whoGetsDefault } from '../check/pin.ts';
import type { PolicyView } from '../check/views.ts';
import { effectiveSunset, redirectChain, redirectOf } from '../redirects.ts';
import type { Rule } from './subject.ts';

export const defaultServed: Rule = ({ label, version, view }, report) => {
  const { resolve = [] } = view.parts;
  const index = resolve.findIndex((entry) => entry.default === label);
  const ends = effectiveSunset(version);
  const who = whoGetsDefault(view.parts);
  // What has ended is served on where the API is only observed.
  if (index < 0 || ends === undefined || who === undefined || view.parts.mode === 'observe') return;
  const next = outliving(label, view);
  const isPlaced = resolve.some(({ path, subdomain }) => path !== undefined || subdomain !== undefined);
  if (next === undefined || (isPlaced && isLedOn(label, view))) return;
  report(['resolve', index, 'default'], {
    rule: 'default-served',
    message: `${label} ends on ${dayOf(ends)}: from then on ${who} gets 410`,
    hint: `default: ${next} by that day`,
  });
};

/** Where callers of a version may go once it ends: by its successors, else to the newest version served then. */
function outliving(label: string, { versions }: PolicyView): string | undefined {
  const ends = endOf(label, versions);
  const isServed = (other: string) => {
    const { released } = versions.get(other) ?? {};
    return released !== undefined && released <= ends && endOf(other, versions) > ends;
  };
  const passed = new Set([label]);
  for (let at = next(label, versions); at !== undefined && !passed.has(at); at = next(at, versions)) {
    if (isServed(at)) return at;
    passed.add(at);
  }
  return [...versions.keys()].filter(isServed).sort(compareLabels).at(-1);
}

function next(label: string, versions: PolicyView['versions']): string | undefined {
  const version = versions.get(label);
  return version?.successor ?? redirectOf(version);
}

/** Whether a redirect takes over when it ends. */
function isLedOn(label: string, { versions }: PolicyView): boolean {
  const chain = redirectChain(label, versions);
  return chain.kind === 'hops' && chain.hops.some(({ until }) => until > endOf(label, versions));
}

function endOf(label: string, versions: PolicyView['versions']): number {
  return effectiveSunset(versions.get(label) ?? {}) ?? Number.POSITIVE_INFINITY;
}
