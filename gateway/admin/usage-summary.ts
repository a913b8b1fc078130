// What the ledger has of one version, in the few numbers that a rule about its retirement goes by.
// Read by the guard before it holds anything, and by the usage pages that say what it would do.
import type { EpochMs } from '../policy/contract.ts';
import type { UsageSummary } from '../policy/lifecycle/retire-when.ts';
import type { LedgerStore, UsageVersion } from '../policy/usage/ledger.ts';
import { createVersionTallies } from '../policy/usage/version-tallies.ts';
import { daysBefore, tellsSince, usageWindow } from '../policy/usage/window.ts';
import { tallyAll } from './usage-reading.ts';

/** Of the last `days` days before `now`. `kept`: as tellsSince has it. Rejects with `StoreUnavailable`. */
export async function usageSummary(
  ledger: Pick<LedgerStore, 'count' | 'beganAt'>,
  version: UsageVersion,
  days: number,
  now: EpochMs,
  kept: EpochMs | undefined,
): Promise<UsageSummary> {
  const window = usageWindow(now, daysBefore(now, days));
  const tallies = createVersionTallies();
  await tallyAll(ledger, version, window, tallies);
  const [counted = { consumers: 0, calls: 0 }] = tallies.versions();
  const since = tellsSince(await ledger.beganAt(version), kept);
  return { consumers: counted.consumers, calls: counted.calls, days, since };
}
