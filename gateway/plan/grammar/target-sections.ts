// What an upstream's section says of its targets: how one is chosen, when one is out, how one comes back.
// Its shape only; taken up by upstream-section.ts.
import { z } from 'zod';
import { duration, notation, parseDuration } from '../../policy/notation.ts';

const CHECK_PATH = /^\/[A-Za-z0-9\-._~!$&'()*+,;=:@/]*(\?[A-Za-z0-9\-._~!$&'()*+,;=:@/?]*)?$/;

/** A path, perhaps with a query, sent as it is written: no escapes, no dot segments. */
function parseCheckPath(text: string): string | undefined {
  const [path = ''] = text.split('?');
  return text.length <= 200 && CHECK_PATH.test(text) && !/\/\.{1,2}(\/|$)/.test(path) ? text : undefined;
}

const checkPath = notation(
  parseCheckPath,
  'not a path such as /healthz: from the root of the target, without escapes or dot segments',
  { description: 'Asked for with GET; 2xx and 3xx mean well.', examples: ['/healthz'] },
);

const LONGEST_CHECK_MS = 3_600_000;

const upToAnHour = (description: string) =>
  notation(
    (text) => {
      const ms = parseDuration(text);
      return ms === undefined || ms > LONGEST_CHECK_MS ? undefined : ms;
    },
    'not a duration of up to 1h, such as 500ms, 5s or 1m',
    { description, examples: ['5s', '1m'] },
  );

const count = (description: string) => z.int().min(1).max(1_000).meta({ description });

const health = z.strictObject({
  path: checkPath,
  every: upToAnHour('From one check to the next; default 5s.').optional(),
  timeout: upToAnHour('For a whole check; default 1s.').optional(),
  healthy: count('Good checks in a row that bring a target back; default 2.').optional(),
  unhealthy: count('Failed checks in a row that take a target out; default 3.').optional(),
});

const breaker = z.strictObject({
  failures: count('Failed requests in a row that take a target out; default 5.').optional(),
  open: duration('Until one request tries it again; default 10s.').optional(),
});

export const targetFields = {
  balance: z
    .enum(['round-robin', 'least-requests', 'consumer'])
    .meta({
      description:
        'How one of several targets is chosen; consumer: the same caller gets the same target. Default round-robin.',
    })
    .optional(),
  slow_start: duration(
    'Time in which the share of a target that comes back grows to its whole; default: at once.',
  ).optional(),
  health: z
    .union([checkPath, health])
    .meta({
      description: 'Asks each target whether it is well: a path, or the whole of it. Default: no checks.',
    })
    .optional(),
  breaker: z
    .union([z.literal('off'), breaker])
    .meta({
      description:
        'Takes a target out after failures in a row, or off. Default: where there are several targets: 5 failures, 10s, and never the last target; else off.',
    })
    .optional(),
};
