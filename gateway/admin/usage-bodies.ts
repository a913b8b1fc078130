// Rows and records of the ledger as bodies of the admin API.
import type { UsageRecordBody, UsageRowBody } from '../api/usage-answers.ts';
import type { UsageRecord } from '../policy/usage/ledger.ts';
import type { UsageRow } from '../policy/usage/rows.ts';
import { instantText } from './answers.ts';

export function rowBody(row: UsageRow): UsageRowBody {
  const { api, version, consumer, via, calls, trend, firstAt, lastAt, operations } = row;
  return {
    api,
    version,
    consumer,
    via,
    calls,
    trend,
    firstCall: instantText(firstAt),
    lastCall: instantText(lastAt),
    operations: operations.map((use) => ({
      operation: use.operation ?? null,
      calls: use.calls,
      trend: use.trend,
      firstCall: instantText(use.firstAt),
      lastCall: instantText(use.lastAt),
      agents: [...use.agents],
    })),
  };
}

export function recordBody(record: UsageRecord): UsageRecordBody {
  const { api, version, operation, consumer, via, firstAt, lastAt, callsByDay, agents, sample } = record;
  return {
    api,
    version,
    operation: operation ?? null,
    consumer,
    via,
    firstCall: instantText(firstAt),
    lastCall: instantText(lastAt),
    callsByDay,
    agents: [...agents],
    sample: sample ?? null,
  };
}
