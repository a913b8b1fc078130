// The origins of `cors` as a set.
import type { ApiPlan } from '../../plan/plan.ts';
import type { PolicyFile } from '../policy-file.ts';

export function compileCors({ cors }: PolicyFile): Pick<ApiPlan, 'cors'> {
  return { cors: cors && { origins: new Set(cors.origins) } };
}
