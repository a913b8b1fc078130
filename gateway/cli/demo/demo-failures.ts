// Messages of the demo for a part that is missing or does not start, with advice.
import type { Environment } from '../../plan/read/interpolate.ts';
import type { SampleService, SampleStart } from './sample-services.ts';

/** Exit codes of a sample service that has printed the reason on the shared stderr. */
const REPORTED_EXIT_CODE: readonly (number | null)[] = [2, 3];

const PORT_VARIABLES: ReadonlyMap<unknown, string> = new Map([
  ['https', 'SUNDIAL_HTTPS_PORT'],
  ['http', 'SUNDIAL_HTTP_PORT'],
  ['admin', 'SUNDIAL_ADMIN_PORT'],
]);

export interface FailedSample {
  readonly service: SampleService;
  readonly start: Exclude<SampleStart, { readonly kind: 'listening' }>;
}

/** For the npm package and the image, which have no samples. */
export const WITHOUT_SAMPLES =
  'sundial: cannot start: there are no sample services here; run `npm ci && npm start` in a clone of the project, or ' +
  '`sundial init --service <url>` and `sundial run` for a service of yours\n';

/** One line for each invalid port of the gateway. The samples build URLs from these ports. */
export function explainPorts(environment: Environment): string {
  const lines = Array.from(PORT_VARIABLES.values(), (variable) => {
    const value = environment[variable] || '0'; // the gateway file treats an empty variable as unset
    const isPort = /^\d{1,5}$/.test(value) && Number(value) <= 65_535;
    return isPort ? '' : `sundial: cannot start: ${variable} must be a port number, not "${value}"\n`;
  });
  return lines.join('');
}

/** Messages for samples that did not start and have not reported the reason. Each ends with a line feed. */
export function explainSamples(failed: readonly FailedSample[]): string {
  const lines = failed.flatMap(({ service: { name }, start }) => {
    if (start.kind === 'silent')
      return [`sundial: the sample service ${name} does not start, and reports no reason`];
    if (REPORTED_EXIT_CODE.includes(start.code)) return [];
    return [`sundial: the sample service ${name} cannot start (${start.signal ?? `exit ${start.code}`})`];
  });
  // Any program may use one of the ports. If several are in use, another demo probably runs.
  if (failed.length - lines.length > 1) lines.push('sundial: cannot start: is another demo running?');
  return lines.map((line) => `${line}\n`).join('');
}

/** Advice to append to the reason. Empty if the reason is enough. */
export function adviseOnGateway(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if (Reflect.get(error, 'code') === 'data_folder_locked') return ' (SUNDIAL_DATA=<folder> sets another)';
  const variable = PORT_VARIABLES.get(Reflect.get(error, 'listener'));
  return variable === undefined ? '' : `; ${variable}=<free port> sets another`;
}
