// Whether a forwarded path is ambiguous (VER-7). The query has the tag too, in case the path changes.
import type { Spot } from '../spot.ts';

const pathOf = (target: string): string => target.replace(/\?.*$/s, '');

/** Dot segments are resolved or slashes joined, so that the path no longer begins with that of the case. */
export function wasNormalised(target: string, spot: Spot): boolean {
  const path = pathOf(target);
  return !path.includes(spot.tag) || path === `/c/${spot.tag}` || path.endsWith(`/c/${spot.tag}/x`);
}

/** How another parser could read the same path. */
export function forwardedPathFaults(target: string, { tag }: Spot): string[] {
  const path = pathOf(target);
  const faults: string[] = [];
  const decoded = path.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  for (const read of [path, decoded])
    if (/[/\\]\.{1,2}(?:[/\\;?#]|$)/.test(read)) faults.push(`dot segments forwarded: ${path}`);
  if (/[\0\\]/.test(decoded)) faults.push(`a NUL or a backslash forwarded: ${path}`);
  if (/%(?![0-9a-f]{2})/i.test(path)) faults.push(`a broken escape forwarded: ${path}`);
  if (!target.endsWith(`t=${tag}`)) faults.push(`the query was changed or moved: ${target}`);
  return [...new Set(faults)];
}
