// `npm run test:wire`: runs the suite. Exit code 1: a FAIL, 2: wrong usage or a target that does not forward.
import { writeFile } from 'node:fs/promises';
import { ALL_CASES, chosen } from './all-cases.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { startOurGateway } from './our-gateway.ts';
import { PEERS, startPeer } from './peers/peer.ts';
import { type Recorder, startRecorder } from './recorder.ts';
import { comparison, otherStatuses, shortcomings, totalsOf } from './report.ts';
import { type Listener, type Result, runCases } from './run-cases.ts';

type Run = readonly [name: string, results: readonly Result[]];

const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function tryAll(options: Options): Promise<Run[]> {
  await using recorder = await startRecorder(options.upstream.port, options.upstream.host);
  const cases = chosen(ALL_CASES, options.only);
  const runs: Run[] = [];
  const tryOne = async (name: string, listener: Listener): Promise<void> => {
    const run = String.fromCharCode('a'.charCodeAt(0) + runs.length);
    const results = await runCases({ listener, recorder, cases, run, atOnce: options.atOnce });
    tell(name, results);
    runs.push([name, results]);
  };
  if (options.target !== undefined) {
    await tryOne('target', options.target);
    return runs;
  }
  await tryOurs(recorder, tryOne);
  for (const peer of options.peers ? PEERS : []) {
    await using started = await startPeer(peer, recorder.port);
    await tryOne(`${started.version}`, started.plain);
    await tryOne(`${started.version}, TLS`, started.tls);
  }
  return runs;
}

async function tryOurs(
  recorder: Recorder,
  tryOne: (name: string, listener: Listener) => Promise<void>,
): Promise<void> {
  await using gateway = await startOurGateway(recorder.port);
  await tryOne('Sundial', gateway.plain);
  await tryOne('Sundial, TLS', gateway.tls);
}

function tell(name: string, results: readonly Result[]): void {
  for (const line of shortcomings(results)) say(line);
  const { cases, pass, lax, fail } = totalsOf(results);
  const other = otherStatuses(results);
  say(`${name}: ${cases} cases, ${pass} PASS, ${lax} LAX, ${fail} FAIL; another status in ${other.length}`);
}

let options: Options;
try {
  options = readOptions(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}\n`);
  process.exit(2);
}
try {
  const runs = await tryAll(options);
  if (runs.length > 1) say(`\n${comparison(runs)}`);
  if (options.json !== undefined)
    await writeFile(options.json, JSON.stringify(Object.fromEntries(runs), null, 2));
  // Peers are only compared. Their failures do not count.
  const judged = runs.filter(([name]) => name === 'target' || name.startsWith('Sundial'));
  process.exitCode = judged.some(([, results]) => totalsOf(results).fail > 0) ? 1 : 0;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
