// Operations with an earlier sunset than the one published: their own, or that of their version.
import type { EpochMs } from '../../policy/contract.ts';
import type { VersionParts } from '../../sections/policy-file.ts';
import { effectiveSunset } from '../../sections/schedule/redirects.ts';
import type { CheckedVersion, Report } from '../../sections/view.ts';
import { sunsetRewritten } from './dates-rewritten.ts';

export interface EndingOperation {
  /** As written. */
  readonly name: string;
  readonly sunset: EpochMs;
}

/** Those with a sunset of their own, by the requests they answer: how a parameter is called makes no difference. */
export function endingOperations({
  operations = {},
}: Pick<VersionParts, 'operations'>): ReadonlyMap<string, EndingOperation> {
  return new Map(
    Object.entries(operations).flatMap(([name, { sunset }]) =>
      sunset === undefined ? [] : [[name.replaceAll(/\{[^}]*\}/g, '{}'), { name, sunset }]],
    ),
  );
}

export function operationsRewritten(older: VersionParts, subject: CheckedVersion, report: Report): void {
  const { label, version, at, view } = subject;
  const published = endingOperations(older);
  const own = endingOperations(version);
  const whole = effectiveSunset(older);
  for (const [requests, { name, sunset }] of own) {
    const of = { label: `${label} ${name}`, version: { sunset }, at: [...at, 'operations', name], view };
    sunsetRewritten({ sunset: published.get(requests)?.sunset ?? whole }, of, report);
  }
  // A version that had a sunset is judged by it, and its operations had none later.
  if (whole !== undefined) return;
  for (const [requests, { name, sunset }] of published)
    if (!own.has(requests)) sunsetRewritten({ sunset }, { ...subject, label: `${label} ${name}` }, report);
}
