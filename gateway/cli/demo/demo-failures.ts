// What the demo says when a part of it is missing or does not start: one line for each cause, with what would move it.
import type { Environment } from '../../plan/read/interpolate.ts';
import type { SampleService, SampleStart } from './sample-services.ts';

/** Exit codes of a sample service that has said itself, on the stderr it shares with the demo, why it cannot start. */
const REPORTED_EXIT_CODE: readonly (number | null)[] = [2, 3];

/** Of each listener of the sample gateway file. */
const PORT_VARIABLES: ReadonlyMap<unknown, string> = new Map([
  ['https', 'SUNDIAL_HTTPS_PORT'],
  ['http', 'SUNDIAL_HTTP_PORT'],
  ['admin', 'SUNDIAL_ADMIN_PORT'],
]);

export interface FailedSample {
  readonly service: SampleService;
  readonly start: Exclude<SampleStart, { readonly kind: 'listening' }>;
}

/** Where there is the gateway alone, as in its npm package and its image. */
export const WITHOUT_SAMPLES =
  'sundial: cannot start: there are no sample services here; run `npm ci && npm start` in a clone of the project, or ' +
  '`sundial init --service <url>` and `sundial run` for a service of yours\n';

/** A line for each port of the gateway that is no port number, since the samples build URLs from it. */
export function explainPorts(environment: Environment): string {
  const lines = Array.from(PORT_VARIABLES.values(), (variable) => {
    const value = environment[variable] || '0'; // as the gateway file reads it, empty is not given
    const isPort = /^\d{1,5}$/.test(value) && Number(value) <= 65_535;
    return isPort ? '' : `sundial: cannot start: ${variable} must be a port number, not "${value}"\n`;
  });
  return lines.join('');
}

/** What is left to say of sample services that did not start; lines with their ends. */
export function explainSamples(failed: readonly FailedSample[]): string {
  const lines = failed.flatMap(({ service: { name }, start }) => {
    if (start.kind === 'silent')
      return [`sundial: the sample service ${name} does not start: it says nothing`];
    if (REPORTED_EXIT_CODE.includes(start.code)) return [];
    return [`sundial: the sample service ${name} cannot start (${start.signal ?? `exit ${start.code}`})`];
  });
  // One taken port may belong to any program; several most likely belong to a demo.
  if (failed.length - lines.length > 1) lines.push('sundial: cannot start: is another demo running?');
  return lines.map((line) => `${line}\n`).join('');
}

/** What to try when the gateway of the demo does not start, to follow the reason; empty when the reason says it all. */
export function adviseOnGateway(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if (Reflect.get(error, 'code') === 'data_folder_locked') return ' (SUNDIAL_DATA=<folder> moves this one)';
  const variable = PORT_VARIABLES.get(Reflect.get(error, 'listener'));
  return variable === undefined ? '' : `; ${variable}=<free port> moves it`;
}
