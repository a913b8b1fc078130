// The grammar of `maintenance`.
import { z } from 'zod';
import type { Maintenance } from '../../policy/maintenance/maintenance.ts';
import { instant, lineOfText } from '../../policy/notation.ts';

const until = instant('Until then requests are answered 503; it ends by itself.');

export const maintenanceSection = z
  .union([
    until,
    z.strictObject({
      until,
      why: lineOfText(
        'Why: a note for the readers of this file, never sent.',
        'the index is rebuilt',
      ).optional(),
    }),
  ])
  .transform((written): Maintenance => (typeof written === 'number' ? { until: written } : written))
  .meta({
    description:
      'Answers 503 with Retry-After until an instant; a version or an operation with its own goes by that.',
  });
