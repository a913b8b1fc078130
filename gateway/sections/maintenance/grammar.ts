// The grammar of `maintenance`.
import { z } from 'zod';
import type { Maintenance } from '../../policy/maintenance/maintenance.ts';
import { instant, lineOfText } from '../../policy/notation.ts';

const until = instant('Requests get 503 until then; the maintenance ends automatically.');

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
    description: 'Responds 503 with Retry-After until an instant. A version or operation may have its own.',
  });
